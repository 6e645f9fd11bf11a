// Package bqclient is Google's own BigQuery clients against the stand-in: they judge it, read tables back, and are measured.
package bqclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const project = "p"

type ports struct{ rest, storage, steering int }

func (p ports) tables(ctx context.Context) (*bigquery.Client, error) {
	return bigquery.NewClient(ctx, project, option.WithEndpoint(fmt.Sprintf("http://127.0.0.1:%d/bigquery/v2/", p.rest)), option.WithoutAuthentication())
}

func (p ports) writerOptions(more ...option.ClientOption) []option.ClientOption {
	return append([]option.ClientOption{option.WithEndpoint(fmt.Sprintf("127.0.0.1:%d", p.storage)), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))}, more...)
}

func (p ports) writer(ctx context.Context) (*managedwriter.Client, error) {
	return managedwriter.NewClient(ctx, project, p.writerOptions()...)
}

// control says something to the server's control port and reads what it answers into `into`, if that is not nil.
func (p ports) control(method, path string, body, into any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, fmt.Sprintf("http://127.0.0.1:%d/%s", p.steering, path), bytes.NewReader(sent))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != 200 {
		err = fmt.Errorf("%s %s: %s", method, path, text)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return err
}
