package bigquery

// Dates and times: text, days, microseconds and packed civil forms, all into one canonical text.

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	dayMin       = -719162
	dayMax       = 2932896
	timestampMin = -62135596800000000
	timestampMax = 253402300799999999
)

var (
	dateForm      = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})$`)
	timeForm      = regexp.MustCompile(`^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,12}))?$`)
	timestampForm = regexp.MustCompile(`^(\d{4}-\d{1,2}-\d{1,2})(?:[ Tt](\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d{0,12})?)?))? ?([Zz]|UTC|[+-]\d{1,2}(?::?\d{2})?|[A-Z][A-Za-z_]+/[A-Za-z_/]+)?$`)
)

func fraction(micros int64) string {
	if micros == 0 {
		return ""
	}
	return fmt.Sprintf(".%06d", micros)
}

func dateText(days int64) (string, error) {
	if days < dayMin || days > dayMax {
		return "", fmt.Errorf("Invalid date: %d days are outside 0001-01-01 to 9999-12-31", days)
	}
	return time.Unix(days*86400, 0).UTC().Format("2006-01-02"), nil
}

func parseDate(text string) (time.Time, error) {
	parts := dateForm.FindStringSubmatch(text)
	bad := fmt.Errorf("Invalid date: '%s'", text)
	if parts == nil {
		return time.Time{}, bad
	}
	year, month, day := number(parts[1]), number(parts[2]), number(parts[3])
	made := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year < 1 || made.Year() != year || int(made.Month()) != month || made.Day() != day {
		return time.Time{}, bad
	}
	return made, nil
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

func dateFromText(_ *field, text string) (string, error) {
	made, err := parseDate(text)
	if err != nil {
		return "", err
	}
	return made.Format("2006-01-02"), nil
}

func dateFromInt(_ *field, days int64) (string, error) { return dateText(days) }

// parseClock gives the microseconds of a day; a leap second is the next minute.
func parseClock(text string) (int64, error) {
	parts := timeForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("Invalid time string \"%s\"", text)
	}
	hour, minute, second := number(parts[1]), number(parts[2]), number(parts[3])
	if hour > 23 || minute > 59 || second > 60 || len(strings.TrimRight(parts[4], "0")) > 6 {
		return 0, fmt.Errorf("Invalid time string \"%s\"", text)
	}
	micros := number((parts[4] + "000000")[:6])
	return int64(hour*3600+minute*60+second)*1000000 + int64(micros), nil
}

func clockText(micros int64) string {
	s := micros / 1000000
	return fmt.Sprintf("%02d:%02d:%02d%s", s/3600, s/60%60, s%60, fraction(micros%1000000))
}

func timeFromText(_ *field, text string) (string, error) {
	micros, err := parseClock(text)
	if err != nil {
		return "", err
	}
	return clockText(micros % 86400000000), nil
}

// unpackClock reads hour << 32 | minute << 26 | second << 20 | microsecond.
func unpackClock(packed int64) (int64, error) {
	hour, minute, second, micros := packed>>32&0x1f, packed>>26&0x3f, packed>>20&0x3f, packed&0xfffff
	if hour > 23 || minute > 59 || second > 59 || micros > 999999 {
		return 0, fmt.Errorf("Invalid time value: %d", packed)
	}
	return (hour*3600+minute*60+second)*1000000 + micros, nil
}

func timeFromInt(_ *field, packed int64) (string, error) {
	micros, err := unpackClock(packed)
	if err != nil || packed>>37 != 0 {
		return "", fmt.Errorf("Invalid time value: %d", packed)
	}
	return clockText(micros), nil
}

func datetimeFromInt(_ *field, packed int64) (string, error) {
	micros, err := unpackClock(packed)
	date, dateErr := parseDate(fmt.Sprintf("%04d-%02d-%02d", packed>>46, packed>>42&0xf, packed>>37&0x1f))
	if err != nil || dateErr != nil || packed < 0 {
		return "", fmt.Errorf("Invalid datetime value: %d", packed)
	}
	return date.Format("2006-01-02") + "T" + clockText(micros), nil
}

func datetimeFromText(_ *field, text string) (string, error) {
	bad := fmt.Errorf("Invalid datetime string \"%s\"", text)
	day, rest := text, "00:00:00"
	if at := strings.IndexAny(text, " Tt"); at >= 0 {
		day, rest = text[:at], text[at+1:]
	}
	date, err := parseDate(day)
	micros, clockErr := parseClock(rest)
	if err != nil || clockErr != nil {
		return "", bad
	}
	date = date.AddDate(0, 0, int(micros/86400000000))
	if date.Year() > 9999 {
		return "", bad
	}
	return date.Format("2006-01-02") + "T" + clockText(micros%86400000000), nil
}

func timestampText(micros int64) (string, error) {
	if micros < timestampMin || micros > timestampMax {
		return "", fmt.Errorf("Timestamp field value is out of range: %d", micros)
	}
	return time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05") + fraction((micros%1000000+1000000)%1000000) + "+00", nil
}

func timestampFromInt(_ *field, micros int64) (string, error) { return timestampText(micros) }

func timestampFromText(f *field, text string) (string, error) {
	bad := fmt.Errorf("Could not parse '%s' as a timestamp. Required format is YYYY-MM-DD HH:MM[:SS[.SSSSSS]] or YYYY/MM/DD HH:MM[:SS[.SSSSSS]]", text)
	parts := timestampForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return "", bad
	}
	date, err := parseDate(parts[1])
	clockPart := parts[2]
	if strings.Count(clockPart, ":") == 1 {
		clockPart += ":00"
	}
	micros, picos := int64(0), ""
	if clockPart != "" && err == nil {
		if whole, digits, ok := strings.Cut(clockPart, "."); ok && len(strings.TrimRight(digits, "0")) > 6 && f.picoseconds {
			clockPart, picos = whole+"."+digits[:6], strings.TrimRight(digits[6:], "0")
		}
		micros, err = parseClock(clockPart)
	}
	offset, zoneErr := zoneOffset(parts[3], date)
	if err != nil || zoneErr != nil {
		return "", bad
	}
	made, err := timestampText(date.Unix()*1000000 + micros - offset*1000000)
	if picos != "" && err == nil {
		whole := strings.TrimSuffix(made, "+00")
		if micros%1000000 == 0 {
			whole += ".000000"
		}
		made = whole + picos + "+00"
	}
	return made, err
}

// zoneOffset is in seconds.
func zoneOffset(zone string, date time.Time) (int64, error) {
	if zone == "" || strings.EqualFold(zone, "z") || zone == "UTC" {
		return 0, nil
	}
	if strings.Contains(zone, "/") {
		place, err := time.LoadLocation(zone)
		if err != nil {
			return 0, err
		}
		_, offset := date.In(place).Zone()
		return int64(offset), nil
	}
	digits := strings.ReplaceAll(zone[1:], ":", "")
	hours, minutes := digits, "0"
	if len(digits) > 2 {
		hours, minutes = digits[:len(digits)-2], digits[len(digits)-2:]
	}
	offset := int64(number(hours)*3600 + number(minutes)*60)
	if number(hours) > 14 || number(minutes) > 59 {
		return 0, fmt.Errorf("no such offset")
	}
	if zone[0] == '-' {
		offset = -offset
	}
	return offset, nil
}

// timestampMicros reads a canonical text again.
func timestampMicros(canonical string) int64 {
	made, err := time.Parse("2006-01-02 15:04:05.999999999", strings.TrimSuffix(canonical, "+00"))
	if err != nil {
		return 0
	}
	return made.UnixMicro()
}
