#!/bin/bash
# Runs each fuzz target FUZZ_SECONDS long from its seeds and the corpus kept from earlier runs, with the random
# numbers of FUZZ_SEED (0: others each time).
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${FUZZ_SECONDS:-10} seed=${FUZZ_SEED:-0}
passed=0 failed=0
for program in build/fuzz/fuzz_*; do
	[ -f "$program" ] && [ -x "$program" ] || continue # not what stands beside it: logs, findings
	name=$(basename "$program")
	corpus=build/fuzz/corpus/$name
	seeds=tests/fuzz/seeds/${name#fuzz_}
	mkdir -p "$corpus"
	dictionary=tests/fuzz/$name.dict
	if "$program" -seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		${dictionary:+$([ -f "$dictionary" ] && echo "-dict=$dictionary")} \
		-artifact_prefix="build/fuzz/$name-" "$corpus" $([ -d "$seeds" ] && echo "$seeds") >"build/fuzz/$name.log" 2>&1; then
		passed=$((passed + 1))
		echo "ok   $name: $(grep -E '^stat::number_of_executed_units' "build/fuzz/$name.log")"
	else
		failed=$((failed + 1))
		echo "FAIL $name, seed $(grep -oE 'Seed: [0-9]+' "build/fuzz/$name.log" | cut -d ' ' -f 2); again with $program $(
			ls -t build/fuzz/"$name"-* 2>/dev/null | head -n 1)"
		tail -n 40 "build/fuzz/$name.log"
	fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
