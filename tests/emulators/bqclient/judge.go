package bqclient

// The judge: scenarios by name, each in a dataset of its own; the first wrong answer ends one.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"sort"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/managedwriter"

	"weir/tests/emulators/verdict"
)

type judge struct {
	ports
	ctx     context.Context
	client  *bigquery.Client
	write   *managedwriter.Client
	dataset *bigquery.Dataset
}

var scenarios = map[string]func(j *judge){
	"tables":        judgeTables,
	"etags":         judgeEtags,
	"insert_all":    judgeInsertAll,
	"default":       judgeDefault,
	"committed":     judgeCommitted,
	"bad_rows":      judgeBadRows,
	"schema_change": judgeSchemaChange,
	"remade":        judgeRemade,
	"dropped":       judgeDropped,
	"shared":        judgeShared,
	"held":          judgeHeld,
	"time":          judgeTime,
	"types":         judgeTypes,
	"decimals":      judgeDecimals,
	"forms":         judgeForms,
	"nested":        judgeNested,
	"missing":       judgeMissing,
	"changes":       judgeChanges,
	"faults":        judgeFaults,
	"quota":         judgeQuota,
	"permissions":   judgePermissions,
}

// JudgeMain runs the scenarios that are named, or all of them.
func JudgeMain(args []string) error {
	flags := flag.NewFlagSet("bigquery-judge", flag.ContinueOnError)
	p := ports{}
	flags.IntVar(&p.rest, "rest", 0, "port of REST")
	flags.IntVar(&p.storage, "storage", 0, "port of the Storage Write API")
	flags.IntVar(&p.steering, "control", 0, "port of the control")
	isList := flags.Bool("list", false, "print the names of the scenarios")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 {
		for name := range scenarios {
			names = append(names, name)
		}
		sort.Strings(names)
	}
	for _, name := range names {
		if *isList {
			fmt.Println(name)
		} else if err := judgeOne(p, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		} else {
			fmt.Println(name, "fine")
		}
	}
	return nil
}

func judgeOne(p ports, name string) (err error) {
	run := scenarios[name]
	if run == nil {
		return errors.New("there is no such scenario")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	defer func() {
		if found := verdict.Found(recover()); found != nil {
			err = found
		}
	}()
	j := &judge{ports: p, ctx: ctx}
	verdict.Must(p.control("POST", "reset", nil, nil))
	j.client, err = p.tables(ctx)
	verdict.Must(err)
	defer j.client.Close()
	j.write, err = p.writer(ctx)
	verdict.Must(err)
	defer j.write.Close()
	j.dataset = j.client.Dataset(name)
	verdict.Must(j.dataset.Create(ctx, &bigquery.DatasetMetadata{Location: "EU"}))
	run(j)
	return nil
}

// rows are those of a table in canonical text.
func (j *judge) rows(table string) [][]any {
	said := struct{ Rows [][]any }{}
	verdict.Must(j.control("GET", "rows?table="+url.QueryEscape(j.dataset.DatasetID+"."+table), nil, &said))
	return said.Rows
}

func (j *judge) table(name string, schema bigquery.Schema) *bigquery.Table {
	t := j.dataset.Table(name)
	verdict.Must(t.Create(j.ctx, &bigquery.TableMetadata{Schema: schema}))
	return t
}
