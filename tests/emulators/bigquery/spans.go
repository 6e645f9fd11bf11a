package bigquery

// INTERVAL and RANGE, in their canonical texts.

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	intervalForm = regexp.MustCompile(`^([+-]?)(\d{1,6})-(\d{1,7}) ([+-]?)(\d{1,7}) ([+-]?)(\d{1,8}):(\d{1,9}):(\d{1,11})(?:\.(\d{1,9}))?$`)
	isoForm      = regexp.MustCompile(`^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,6}))?S)?)?$`)
)

const (
	intervalMonths = 120000
	intervalDays   = 3660000
	intervalMicros = int64(87840000) * 3600 * 1000000
)

func signed(sign string, n int64) int64 {
	if sign == "-" {
		return -n
	}
	return n
}

func whole(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

func micros(digits string) int64 { return whole((digits + "000000")[:6]) }

func intervalFromText(_ *field, text string) (string, error) {
	if p := intervalForm.FindStringSubmatch(text); p != nil && len(strings.TrimRight(p[10], "0")) <= 6 {
		clock := (whole(p[7])*3600+whole(p[8])*60+whole(p[9]))*1000000 + micros(p[10])
		return intervalText(signed(p[1], whole(p[2])*12+whole(p[3])), signed(p[4], whole(p[5])), signed(p[6], clock))
	}
	if p := isoForm.FindStringSubmatch(text); p != nil && len(text) > 1 && !strings.HasSuffix(text, "T") {
		clock := (whole(p[4])*3600+whole(p[5])*60)*1000000 + signed(p[6], whole(p[7])*1000000+micros(p[8]))
		return intervalText(whole(p[1])*12+whole(p[2]), whole(p[3]), clock)
	}
	return "", fmt.Errorf("Invalid INTERVAL value '%s'", text)
}

func intervalText(months, days, clock int64) (string, error) {
	if abs(months) > intervalMonths || abs(days) > intervalDays || abs(clock) > intervalMicros {
		return "", fmt.Errorf("Interval field is out of range: %d months, %d days, %d microseconds", months, days, clock)
	}
	sign := func(n int64) string {
		if n < 0 {
			return "-"
		}
		return ""
	}
	s := abs(clock) / 1000000
	return fmt.Sprintf("%s%d-%d %d %s%d:%d:%d%s", sign(months), abs(months)/12, abs(months)%12, days,
		sign(clock), s/3600, s/60%60, s%60, fraction(abs(clock)%1000000)), nil
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// rangeOf joins canonical ends; nil is without bound.
func rangeOf(start, end cell) (string, error) {
	from, to := "UNBOUNDED", "UNBOUNDED"
	if text, ok := start.(string); ok {
		from = text
	}
	if text, ok := end.(string); ok {
		to = text
	}
	if start != nil && end != nil && from >= to {
		return "", fmt.Errorf("Range start element must be less than range end element: [%s, %s)", from, to)
	}
	return "[" + from + ", " + to + ")", nil
}

func rangeFromText(f *field, text string) (string, error) {
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, ")") {
		return "", fmt.Errorf("Invalid RANGE value: %s", text)
	}
	start, end, ok := strings.Cut(text[1:len(text)-1], ", ")
	if !ok {
		return "", fmt.Errorf("Invalid RANGE value: %s", text)
	}
	ends := [2]cell{}
	for i, side := range []string{start, end} {
		if side == "UNBOUNDED" || side == "NULL" {
			continue
		}
		made, err := f.element.kind.fromText(f.element, side)
		if err != nil {
			return "", err
		}
		ends[i] = made
	}
	return rangeOf(ends[0], ends[1])
}
