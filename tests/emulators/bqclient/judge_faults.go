package bqclient

// Faults by table, as managedwriter meets them.

import (
	"context"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"weir/tests/emulators/verdict"
)

func (j *judge) fault(of map[string]any) { verdict.Must(j.control("POST", "faults", of, nil)) }

func judgeFaults(j *judge) {
	j.table("t", idAndName)
	j.table("other", idAndName)
	s := j.shape(idAndName)
	row := [][]byte{j.row(s, `{"id":1}`)}
	name := j.dataset.DatasetID + ".t"
	try := func(table string) error { // on a connection of its own
		stream := j.stream(table, s, managedwriter.WithType(managedwriter.DefaultStream))
		defer stream.Close()
		ctx, cancel := context.WithTimeout(j.ctx, 2*time.Second)
		defer cancel()
		result, err := stream.AppendRows(ctx, row)
		if err == nil {
			_, err = result.GetResult(ctx)
		}
		return err
	}
	for _, one := range []struct {
		fault map[string]any
		code  codes.Code
		wrote int
	}{
		{map[string]any{"kind": "quota"}, codes.ResourceExhausted, 0},
		{map[string]any{"kind": "in_band", "code": int(codes.Aborted)}, codes.Aborted, 0},
		{map[string]any{"kind": "denied"}, codes.PermissionDenied, 0},
		{map[string]any{"kind": "status", "code": int(codes.Internal), "storage_code": 0}, codes.Internal, 0},
		{map[string]any{"kind": "row", "message": "odd"}, codes.InvalidArgument, 0},
		{map[string]any{"kind": "abort"}, codes.Unavailable, 0},
		{map[string]any{"kind": "close"}, codes.Unavailable, 0},
		{map[string]any{"kind": "hang"}, codes.DeadlineExceeded, 0},
		{map[string]any{"kind": "lost"}, codes.Unavailable, 1},
		{map[string]any{"kind": "cut"}, codes.Unavailable, 1},
		{map[string]any{"kind": "slow", "delay_ms": 100}, codes.OK, 1},
	} {
		one.fault["table"], one.fault["method"], one.fault["times"], one.fault["skip"] = name, "AppendRows", 1, 1
		j.fault(one.fault)
		before := len(j.rows("t"))
		verdict.Must(try("t")) // skipped
		err := try("t")
		if one.code == codes.OK {
			verdict.Must(err)
		} else if said := status.Code(err); err != context.DeadlineExceeded && said != one.code && !(one.code == codes.Unavailable && err != nil) {
			verdict.IsTrue("fault", false, one.fault, err)
		}
		verdict.Equal("rows written", len(j.rows("t"))-before, 1+one.wrote)
		verdict.Must(try("t")) // over
		verdict.Must(try("other"))
		verdict.Must(j.control("DELETE", "faults", nil, nil))
	}
}

func judgeQuota(j *judge) {
	j.table("t", idAndName)
	s := j.shape(idAndName)
	row := [][]byte{j.row(s, `{"id":1}`)}
	verdict.Must(j.control("POST", "clock", map[string]any{"scale": 20}, nil))
	j.fault(map[string]any{"kind": "quota", "method": "AppendRows", "table": j.dataset.DatasetID + ".t", "seconds": 10, "retry_after_s": 2})
	begun := time.Now()
	for err := error(status.Error(codes.ResourceExhausted, "")); err != nil; {
		stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
		_, err = j.append(stream, row) // the client tries again by itself, for a while
		stream.Close()
		if err == nil {
			break
		}
		said := status.Convert(err)
		verdict.Equal("code", said.Code(), codes.ResourceExhausted)
		delay, isThere := said.Details()[0].(*errdetails.RetryInfo)
		verdict.IsTrue("a delay", isThere && delay.GetRetryDelay().GetSeconds() == 2, said.Details())
	}
	verdict.IsTrue("refused for half a second", time.Since(begun) > 400*time.Millisecond, time.Since(begun))
	verdict.IsTrue("refusals", j.count("AppendRows RESOURCE_EXHAUSTED") > 0)
	verdict.Equal("rows", len(j.rows("t")), 1)
}

func judgePermissions(j *judge) {
	j.table("t", idAndName)
	s := j.shape(idAndName)
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	row := [][]byte{j.row(s, `{"id":1}`)}
	_, err := j.append(stream, row)
	verdict.Must(err)
	wanted := []string{"bigquery.tables.get", "bigquery.tables.updateData"}
	verdict.Must(j.control("POST", "permissions", map[string]any{j.dataset.DatasetID + ".t": wanted[1:]}, nil))
	_, err = j.append(stream, row)
	j.code("a right that is taken away", err, codes.PermissionDenied, 0)
	granted, err := j.dataset.Table("t").IAM().TestPermissions(j.ctx, wanted)
	verdict.Must(err)
	verdict.Equal("granted", granted, wanted[:1])
	err = j.dataset.Table("t").Inserter().Put(j.ctx, saver("", nil))
	j.refused("insertAll", err, 403, "accessDenied")
	verdict.Must(j.control("POST", "permissions", map[string]any{}, nil))
	again := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer again.Close()
	_, err = j.append(again, row)
	verdict.Must(err)
	verdict.Equal("rows", len(j.rows("t")), 2)
	_, err = j.write.GetWriteStream(j.ctx, &storagepb.GetWriteStreamRequest{Name: "no name"})
	j.code("a name that is none", err, codes.InvalidArgument, 0)
}
