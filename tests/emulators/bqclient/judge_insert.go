package bqclient

import (
	"errors"

	"cloud.google.com/go/bigquery"

	"weir/tests/emulators/verdict"
)

func saver(id string, values map[string]bigquery.Value) *bigquery.ValuesSaver {
	schema, row := bigquery.Schema{}, []bigquery.Value{}
	for name, value := range values {
		schema = append(schema, &bigquery.FieldSchema{Name: name})
		row = append(row, value)
	}
	return &bigquery.ValuesSaver{Schema: schema, InsertID: id, Row: row}
}

// rowErrors are those of a put, by index: the first reason of each.
func (j *judge) rowErrors(err error) map[int]string {
	many := bigquery.PutMultiError{}
	if !errors.As(err, &many) {
		verdict.Must(errors.Join(errors.New("no errors by row"), err))
	}
	by := map[int]string{}
	for _, one := range many {
		first := &bigquery.Error{}
		errors.As(one.Errors[0], &first)
		by[one.RowIndex] = first.Reason + " " + first.Location
	}
	return by
}

func judgeInsertAll(j *judge) {
	t := j.table("t", append(append(bigquery.Schema{}, idAndName...), &bigquery.FieldSchema{Name: "day", Type: bigquery.DateFieldType}))
	put := t.Inserter()
	verdict.Must(put.Put(j.ctx, []*bigquery.ValuesSaver{saver("a", map[string]bigquery.Value{"id": 1, "name": "x"}), saver("a", map[string]bigquery.Value{"id": 1, "name": "x"})}))
	verdict.Equal("one of two with the same insertId", j.rows("t"), [][]any{{"1", "x", nil}})
	err := put.Put(j.ctx, []*bigquery.ValuesSaver{saver("b", map[string]bigquery.Value{"id": 2}), saver("c", map[string]bigquery.Value{"id": "no"}),
		saver("d", map[string]bigquery.Value{"name": "y"}), saver("e", map[string]bigquery.Value{"id": 5, "day": "2020-02-30"})})
	verdict.Equal("errors", j.rowErrors(err), map[int]string{0: "stopped ", 1: "invalid id", 2: "invalid ", 3: "invalid day"})
	verdict.Equal("nothing written", len(j.rows("t")), 1)
	put.SkipInvalidRows = true
	err = put.Put(j.ctx, []*bigquery.ValuesSaver{saver("f", map[string]bigquery.Value{"id": 2}), saver("g", map[string]bigquery.Value{"id": "no"})})
	verdict.Equal("errors", j.rowErrors(err), map[int]string{1: "invalid id"})
	verdict.Equal("the good one", len(j.rows("t")), 2)
	err = put.Put(j.ctx, []*bigquery.ValuesSaver{saver("h", map[string]bigquery.Value{"id": 3}), saver("i", map[string]bigquery.Value{"id": 4, "none": 1})})
	verdict.Equal("an unknown column stops all", j.rowErrors(err), map[int]string{0: "stopped ", 1: "invalid none"})
	put.IgnoreUnknownValues = true
	verdict.Must(put.Put(j.ctx, []*bigquery.ValuesSaver{saver("j", map[string]bigquery.Value{"id": 4, "none": 1})}))
	meta, err := t.Metadata(j.ctx)
	verdict.Must(err)
	verdict.Equal("in the streaming buffer", meta.StreamingBuffer.EstimatedRows, uint64(3))
	verdict.Must(j.control("POST", "clock", map[string]any{"advance_s": 6000}, nil))
	meta, err = t.Metadata(j.ctx)
	verdict.Must(err)
	verdict.IsTrue("out of it", meta.StreamingBuffer == nil && meta.NumRows == 3, meta.StreamingBuffer, meta.NumRows)
	got := [][]bigquery.Value{}
	for rows := t.Read(j.ctx); ; {
		var one []bigquery.Value
		if rows.Next(&one) != nil {
			break
		}
		got = append(got, one)
	}
	verdict.Equal("read back", got, [][]bigquery.Value{{int64(1), "x", nil}, {int64(2), nil, nil}, {int64(4), nil, nil}})
}
