package bqclient

import (
	"errors"
	"net/http"
	"strings"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/googleapi"

	"weir/tests/emulators/verdict"
)

var idAndName = bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType, Required: true}, {Name: "name", Type: bigquery.StringFieldType}}

func (j *judge) refused(what string, err error, code int, reason string) {
	said := &googleapi.Error{}
	if !errors.As(err, &said) || said.Code != code || len(said.Errors) == 0 || said.Errors[0].Reason != reason {
		verdict.IsTrue(what, false, err)
	}
}

func judgeTables(j *judge) {
	t := j.dataset.Table("t")
	_, err := t.Metadata(j.ctx)
	j.refused("a table that is not there", err, http.StatusNotFound, "notFound")
	verdict.Must(t.Create(j.ctx, &bigquery.TableMetadata{Schema: append(idAndName, &bigquery.FieldSchema{Name: "at", Type: bigquery.TimestampFieldType}),
		TimePartitioning: &bigquery.TimePartitioning{Type: bigquery.DayPartitioningType, Field: "at"}, Clustering: &bigquery.Clustering{Fields: []string{"name"}},
		Labels: map[string]string{"by": "weir"}, Description: "words", MaxStaleness: &bigquery.IntervalValue{Minutes: 10},
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}}}))
	j.refused("a second one", t.Create(j.ctx, &bigquery.TableMetadata{Schema: idAndName}), http.StatusConflict, "duplicate")
	meta, err := t.Metadata(j.ctx)
	verdict.Must(err)
	verdict.Equal("columns", len(meta.Schema), 3)
	verdict.Equal("types", meta.Schema[0].Type, bigquery.IntegerFieldType)
	verdict.Equal("required", meta.Schema[0].Required, true)
	verdict.Equal("partition", meta.TimePartitioning.Field, "at")
	verdict.Equal("clustering", meta.Clustering.Fields, []string{"name"})
	verdict.Equal("labels", meta.Labels["by"], "weir")
	verdict.Equal("key", meta.TableConstraints.PrimaryKey.Columns, []string{"id"})
	verdict.Equal("staleness", meta.MaxStaleness.Minutes, int32(10))
	verdict.Equal("location", meta.Location, "EU")
	verdict.IsTrue("etag", meta.ETag != "" && !meta.CreationTime.IsZero(), meta.ETag)
	names := []string{}
	for tables := j.dataset.Tables(j.ctx); ; {
		one, err := tables.Next()
		if err != nil {
			break
		}
		names = append(names, one.TableID)
	}
	verdict.Equal("list", names, []string{"t"})
	j.refused("a dataset that is in use", j.dataset.Delete(j.ctx), http.StatusBadRequest, "resourceInUse")
	verdict.Must(t.Delete(j.ctx))
	verdict.Must(j.dataset.Delete(j.ctx))
	_, err = j.dataset.Metadata(j.ctx)
	j.refused("a dataset that is gone", err, http.StatusNotFound, "notFound")
}

func judgeEtags(j *judge) {
	t := j.table("t", idAndName)
	first, err := t.Metadata(j.ctx)
	verdict.Must(err)
	wider := append(append(bigquery.Schema{}, idAndName...), &bigquery.FieldSchema{Name: "more", Type: bigquery.JSONFieldType})
	_, err = t.Update(j.ctx, bigquery.TableMetadataToUpdate{Schema: wider}, first.ETag)
	verdict.Must(err)
	_, err = t.Update(j.ctx, bigquery.TableMetadataToUpdate{Description: "late"}, first.ETag)
	j.refused("an old etag", err, http.StatusPreconditionFailed, "conditionNotMet")
	second, err := t.Metadata(j.ctx)
	verdict.Must(err)
	verdict.IsTrue("a new etag", second.ETag != first.ETag)
	_, err = t.Update(j.ctx, bigquery.TableMetadataToUpdate{Schema: idAndName}, second.ETag)
	j.refused("a column that is left out", err, http.StatusBadRequest, "invalid")
	verdict.IsTrue("words", strings.Contains(err.Error(), "more is missing in new schema"), err)
	needed := append(append(bigquery.Schema{}, wider...), &bigquery.FieldSchema{Name: "need", Type: bigquery.StringFieldType, Required: true})
	_, err = t.Update(j.ctx, bigquery.TableMetadataToUpdate{Schema: needed}, "")
	j.refused("a required column", err, http.StatusBadRequest, "invalid")
	relaxed := append(append(bigquery.Schema{}, &bigquery.FieldSchema{Name: "id", Type: bigquery.IntegerFieldType}), wider[1:]...)
	meta, err := t.Update(j.ctx, bigquery.TableMetadataToUpdate{Schema: relaxed}, second.ETag)
	verdict.Must(err)
	verdict.Equal("relaxed", meta.Schema[0].Required, false)
}
