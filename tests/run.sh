#!/bin/bash
# Runs every part of the tests, each with its time and its budget in seconds on two cores; the last line sums them up.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0 late=
logs=build/test-logs
mkdir -p $logs
# One seed, so that a change is judged by what it changes. Alone, the random tests begin elsewhere each time.
export WEIR_SEEDS=${WEIR_SEEDS:-1}
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1 TSAN_OPTIONS=halt_on_error=1

# part NAME BUDGET COMMAND...: the command's closing line "N passed, N failed[, N skipped]" counts.
part() {
	local name=$1 budget=$2 began=$SECONDS status line p f s
	shift 2
	"$@" >"$logs/$name.log" 2>&1
	status=$?
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$name.log" | tail -n 1)
	if [ -z "$line" ]; then
		p=0 f=1 s=0
	else
		p=$(sed -E 's/^([0-9]+) passed.*/\1/' <<<"$line")
		f=$(sed -E 's/.* ([0-9]+) failed.*/\1/' <<<"$line")
		s=$(sed -nE 's/.* ([0-9]+) skipped.*/\1/p' <<<"$line")
		[ $status -eq 0 ] || [ "$f" -gt 0 ] || f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
	printf '%-22s %4d s  %s\n' "$name" $((SECONDS - began)) "$p passed, $f failed, ${s:-0} skipped"
	grep -E '^skip ' "$logs/$name.log"
	[ $((SECONDS - began)) -le $((2 * budget)) ] || late="$late $name"
	if [ "$f" -gt 0 ]; then
		echo "--- $name: last lines of $logs/$name.log"
		grep -E '^FAIL|FAILED|rror:|WARNING: Thread' "$logs/$name.log" | head -n 20
		tail -n 60 "$logs/$name.log"
		echo "---"
	fi
}

# build VARIANT TARGET...: warnings are errors here.
build() {
	local variant=$1
	shift
	make --no-print-directory -j2 VARIANT="$variant" DEVELOPER=1 "$@" && echo "1 passed, 0 failed"
}

# The test servers need Go and, once, its module proxy. Without them their tests are skipped aloud; with CI=true that is a failure.
servers() {
	make --no-print-directory build/emulators && echo "1 passed, 0 failed" && return
	[ "${CI:-}" = true ] && return 1
	echo "skip servers: build/emulators cannot be built here, see above"
	echo "0 passed, 0 failed, 1 skipped"
}

part lint-includes 10 tests/lint/includes.sh
part lint-words 10 tests/lint/words.sh
part lint-readme 10 tests/lint/readme.sh
part lint-reasons 10 tests/lint/reasons.sh
part lint-screens 10 tests/lint/screens.py
part build 90 build plain programs unit screen build/tests/google/drive fast build/test-crash
part servers 150 servers
part unit 60 tests/unit.sh build
part e2e 90 env WEIR_BUILD=build python3 tests/e2e/run.py
part screens 180 env WEIR_BUILD=build python3 tests/screen/run.py
part build-crash 60 build crash programs
part crash 120 build/test-crash
part property 60 env WEIR_BUILD=build/crash python3 tests/e2e/run.py -k property
part soak 60 env WEIR_BUILD=build/crash python3 tests/soak/soak.py --sample 60
part disk 30 env WEIR_BUILD=build/crash python3 tests/soak/disk.py --every 211
part descriptors 30 env WEIR_BUILD=build/crash python3 tests/soak/descriptors.py --every 997
part damage 15 env WEIR_BUILD=build/crash python3 tests/soak/damage.py --count 12
part day 30 env WEIR_BUILD=build/crash python3 tests/soak/day.py --seconds 8
part growth 15 env WEIR_BUILD=build/crash python3 tests/soak/growth.py --starts 60 --messages 200000
part tries 30 env WEIR_BUILD=build/crash WEIR_TRIES=${WEIR_TRIES:-100} python3 tests/e2e/run.py test_tries.py
part build-asan 90 build asan programs unit screen build/asan/tests/google/drive fast
part unit-asan 60 tests/unit.sh build/asan
part e2e-asan 150 env WEIR_BUILD=build/asan python3 tests/e2e/run.py
part monkey 120 env WEIR_MONKEY=${WEIR_MONKEY:-$WEIR_SEEDS} WEIR_BUILD=build/asan python3 tests/screen/run.py test_monkey.py
part build-tsan 90 build tsan programs unit build/tsan/tests/google/drive
part unit-tsan 60 tests/unit.sh build/tsan pipeline
part e2e-tsan 120 env WEIR_BUILD=build/tsan python3 tests/e2e/run.py test_streams.py test_jobs.py test_socket.py test_records.py test_google.py test_google_credentials.py test_bigquery.py test_pubsub_source.py
part build-clang 60 build clang programs unit
part unit-clang 30 tests/unit.sh build/clang
part build-fuzz 60 build fuzz fuzz-programs
part fuzz 60 env FUZZ_SEED=${FUZZ_SEED:-$WEIR_SEEDS} FUZZ_SECONDS=${FUZZ_SECONDS:-10} tests/fuzz/run.sh

[ -z "$late" ] || echo "over twice the budget:$late"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
