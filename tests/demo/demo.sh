#!/bin/bash
# demo.sh BUILD: replicates the bundled change stream through the real engine into the local warehouse, and shows what
# arrived, what did not, and why. On a terminal it takes DEMO_SECONDS (default 90) and opens the console on it, and leaving the
# console drains the job; without one it takes no longer than it must.
# Its home is WEIR_HOME or build/demo; there it makes the job `demo` and the datasets `shop` and `shop_log` anew.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: demo.sh BUILD}" && pwd) || exit 2
weir=$build/weir
export WEIR_HOME=${WEIR_HOME:-$here/../../build/demo}

complain() {
	echo "demo: $1" >&2
	exit "${2:-1}"
}

mkdir -p "$WEIR_HOME" && chmod 700 "$WEIR_HOME" || complain "cannot make the folder '$WEIR_HOME'"
WEIR_HOME=$(cd "$WEIR_HOME" && pwd)
job=$build/demo-job # the job file and its feed; they stay, so that the job can be run again by hand

# Ends the engine of this home; one with running jobs is somebody's, and is left alone.
end_engine() {
	local status
	status=$("$weir" engine status --json 2>/dev/null) || return 0
	# A demo whose terminal was lost goes on; that job is ours.
	"$weir" drain demo >/dev/null 2>&1 && status=$("$weir" engine status --json 2>/dev/null)
	case $status in
	*'"running_jobs":0'*) ;;
	*) complain "another job runs in '$WEIR_HOME'; drain it (weir engine stop), or set WEIR_HOME to another folder" ;;
	esac
	"$weir" engine stop >/dev/null || complain "the engine of '$WEIR_HOME' does not stop"
	for _ in $(seq 100); do
		[ -e "$WEIR_HOME/weird.sock" ] || return 0
		sleep 0.1
	done
	complain "the engine of '$WEIR_HOME' does not end"
}

# What an earlier demo has made, and nothing else.
forget() {
	rm -rf "$WEIR_HOME/jobs/demo.big"
	rm -f "$WEIR_HOME"/jobs/demo.json "$WEIR_HOME"/jobs/demo.db{,-wal,-shm}
	rm -f "$WEIR_HOME"/warehouse/{shop,shop_log}.db{,-wal,-shm}
}

# put NAME: standard input becomes that file of the job. A demo that runs beside this one finds the old file or the new one, never
# half of it, and a stream that is as it should be stays: a job notices when its feed is another file.
put() {
	cat >"$job/$1.$$" || complain "cannot write into '$job'"
	if cmp -s "$job/$1.$$" "$job/$1"; then
		rm "$job/$1.$$"
	else
		mv "$job/$1.$$" "$job/$1" || complain "cannot write into '$job'"
	fi
}

write_job() {
	mkdir -p "$job" || complain "cannot write into '$job'"
	put schema.json <"$here/schema.json"
	xz -dc "$here/stream.jsonl.xz" | put stream.jsonl
	[ "${PIPESTATUS[*]}" = "0 0" ] || complain "cannot unpack the stream into '$job'"
	put demo.json <<-END
		{
		  "name": "demo",
		  "template": "Cdc_To_BigQuery_Template",
		  "parameters": {
		    "warehouse": "local",
		    "inputFile": "stream.jsonl",
		    "sourceSchema": "schema.json",
		    "changeLogDataset": "shop_log",
		    "replicaDataset": "shop",
		    "primaryKey": { "events": ["seq"] }
		  }
		}
	END
}

# Shows a command and what it says; its exit status does not matter here: needing you is what it shows.
show() {
	echo
	echo "\$ weir $*"
	"$weir" "$@"
	return 0
}

# Messages a second that make the stream last so long.
pace() {
	local messages seconds=${DEMO_SECONDS:-90}
	messages=$(wc -l <"$job/stream.jsonl")
	case $seconds in '' | *[!0-9]*) complain "DEMO_SECONDS is '$seconds'; a whole number of seconds is needed" 2 ;; esac
	[ "$seconds" -gt 0 ] && echo $(((messages + seconds - 1) / seconds)) || echo 0
}

# A terminal that cannot move its cursor gets a line that counts.
has_console() {
	[ -t 0 ] && [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]
}

replicate() {
	local args=(demo.json --until-idle)
	if [ -t 1 ]; then
		paced=$(pace) || exit
		args+=(--pace "$paced")
	fi
	echo "\$ weir run ${args[*]}"
	if has_console; then
		replicate_in_console "${args[@]}"
	else
		replicate_in_lines "${args[@]}"
	fi
	# 1 only says that something needs you: the demo has dead letters.
	[ $? -le 1 ] || complain "the job failed"
}

# An interrupt is the engine's: it drains the job, and the rest is shown as far as it came.
replicate_in_lines() {
	local status
	exec 3>&1
	trap : INT
	result=$(trap : INT; cd "$job" && "$weir" run "$@" | (trap '' INT; tee /dev/fd/3); exit "${PIPESTATUS[0]}")
	status=$?
	exec 3>&-
	trap - INT
	return "$status"
}

# The job runs in the engine whatever the console does; who leaves before its end has seen enough, and it is drained.
replicate_in_console() {
	local run status
	"$weir" engine start >/dev/null || complain "the engine does not start"
	(cd "$job" && exec "$weir" run "$@") </dev/null >"$job/run.out" 2>"$job/run.err" &
	run=$!
	# The first screen has the job on it.
	until "$weir" job show demo >/dev/null 2>&1 || ! kill -0 "$run" 2>/dev/null; do
		sleep 0.05
	done
	"$weir"
	status=$?
	"$weir" drain demo >/dev/null 2>&1
	wait "$run"
	set -- $?
	[ "$status" -eq 0 ] || complain "the console ended with status $status" "$status"
	[ "$1" -le 1 ] || cat "$job/run.err" >&2
	result=$(cat "$job/run.out")
	echo "$result"
	return "$1"
}

# The table with the most letters. The demo's own tables have plain names, which need no JSON reader.
worst_table() {
	"$weir" tables --failing --json | grep -v '"table": *"-"' |
		sed -nE 's/.*"table": *"([^"]*)".*"dead_lettered": *([0-9]+).*/\2 \1/p' | sort -rn | sed -n '1s/.* //p'
}

end_engine
forget
write_job
replicate
show tables --failing
show dlq groups
worst=$(worst_table)
[ -z "$worst" ] || show why "$worst"
end_engine
echo
grep '^ledger balanced: ' <<<"$result" || complain "the ledger does not balance" 70
echo "tables: $WEIR_HOME/warehouse/shop.db"
