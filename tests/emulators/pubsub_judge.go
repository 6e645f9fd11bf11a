package main

// The duty `pubsub-judge`: scenarios of the package judge.

import (
	"flag"
	"os"
	"time"

	"weir/tests/emulators/judge"
)

func pubsubJudgeMain(args []string) error {
	flags := flag.NewFlagSet("pubsub-judge", flag.ContinueOnError)
	seed := flags.Int64("seed", time.Now().UnixNano()%1_000_000, "of what is random")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return judge.Main(flags.Args(), *seed, os.Stdout)
}
