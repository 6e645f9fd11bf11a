package bqclient

// A table read back by Google's client: one JSON object a line, every column in canonical text or null.

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/civil"
	"google.golang.org/api/iterator"
)

// ReadMain writes all rows of a table to a file and prints how many there were.
func ReadMain(args []string) error {
	flags := flag.NewFlagSet("bigquery-read", flag.ContinueOnError)
	p := ports{}
	flags.IntVar(&p.rest, "rest", 0, "port of REST")
	table := flags.String("table", "", "DATASET.TABLE")
	file := flags.String("file", "", "where the rows go")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	client, err := p.tables(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	dataset, name, _ := strings.Cut(*table, ".")
	out, err := os.Create(*file)
	if err != nil {
		return err
	}
	count, err := readRows(client.Dataset(dataset).Table(name).Read(ctx), out)
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		fmt.Printf("{\"rows\":%d}\n", count)
	}
	return err
}

func readRows(rows *bigquery.RowIterator, out *os.File) (count int, err error) {
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	for ; ; count++ {
		var values []bigquery.Value
		if err := rows.Next(&values); err == iterator.Done {
			return count, buffered.Flush()
		} else if err != nil {
			return count, err
		}
		row := map[string]any{}
		for i, f := range rows.Schema {
			row[f.Name] = columnText(f, values[i])
		}
		if err := encoder.Encode(row); err != nil {
			return count, err
		}
	}
}

func columnText(f *bigquery.FieldSchema, value bigquery.Value) any {
	if value == nil {
		return nil
	}
	if f.Repeated || f.Type == bigquery.RecordFieldType {
		text, _ := json.Marshal(nested(f, value, f.Repeated))
		return string(text)
	}
	return scalarText(f, value)
}

// nested keeps numbers and truth as JSON has them; all else becomes text.
func nested(f *bigquery.FieldSchema, value bigquery.Value, isRepeated bool) any {
	items, isList := value.([]bigquery.Value)
	switch {
	case value == nil:
		return nil
	case isRepeated:
		made := []any{}
		for _, item := range items {
			made = append(made, nested(f, item, false))
		}
		return made
	case isList:
		made := map[string]any{}
		for i, inner := range f.Schema {
			made[inner.Name] = nested(inner, items[i], inner.Repeated)
		}
		return made
	}
	text := scalarText(f, value)
	switch f.Type {
	case bigquery.IntegerFieldType, bigquery.BooleanFieldType, bigquery.FloatFieldType:
		if !strings.ContainsAny(text, "NI") {
			return json.RawMessage(text)
		}
	}
	return text
}

func scalarText(f *bigquery.FieldSchema, value bigquery.Value) string {
	switch value := value.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(value)
	case float64:
		return floatText(value)
	case *big.Rat:
		return plain(value.FloatString(38))
	case civil.Date:
		return value.String()
	case civil.Time:
		return clock(value)
	case civil.DateTime:
		return value.Date.String() + "T" + clock(value.Time)
	case time.Time:
		return value.UTC().Format("2006-01-02 15:04:05") + microseconds(value.Nanosecond()) + "+00"
	case *bigquery.IntervalValue:
		return value.String()
	case *bigquery.RangeValue:
		return "[" + bound(f, value.Start) + ", " + bound(f, value.End) + ")"
	}
	return fmt.Sprint(value)
}

func bound(f *bigquery.FieldSchema, value bigquery.Value) string {
	if value == nil {
		return "UNBOUNDED"
	}
	return scalarText(f, value)
}

func plain(text string) string { return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") }

func microseconds(nanoseconds int) string {
	if nanoseconds == 0 {
		return ""
	}
	return fmt.Sprintf(".%06d", nanoseconds/1000)
}

func clock(at civil.Time) string {
	return fmt.Sprintf("%02d:%02d:%02d%s", at.Hour, at.Minute, at.Second, microseconds(at.Nanosecond))
}

func floatText(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
