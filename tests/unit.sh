#!/bin/bash
# unit.sh BUILD [FOLDER]: runs the cmocka programs of a build, one a processor at a time, and sums their results in order.
set -u
cd "$(dirname "$0")/.." || exit 1

# one PROGRAM OUT: what there is to print of it, and behind that, in OUT.count, how many passed, failed and were skipped.
one() {
	local out status p f s
	out=$(timeout 300 "$1" 2>&1)
	status=$?
	p=$(grep -c '^\[       OK \]' <<<"$out")
	# cmocka names each of these twice: where it happens, and in a list at the end.
	f=$(grep '^\[  FAILED  \] [a-z_A-Z0-9]*$' <<<"$out" | sort -u | wc -l)
	s=$(grep '^\[  SKIPPED \] [a-z_A-Z0-9]*$' <<<"$out" | sort -u | wc -l)
	[ $status -eq 0 ] || [ "$f" -gt 0 ] || f=1
	if [ "$f" -gt 0 ]; then
		echo "FAIL $1 (exit $status)"
		tail -n 40 <<<"$out"
	else
		echo "ok   $1: $p tests"
	fi >"$2"
	echo "$p $f $s" >"$2.count"
}

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
passed=0 failed=0 skipped=0 programs=()
for program in "$1"/tests/${2:-*}/test_*; do
	case $program in *.d) continue ;; esac
	[ -x "$program" ] || continue
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n
	done
	one "$program" "$results/${#programs[@]}" &
	programs+=("$program")
done
wait
for ((i = 0; i < ${#programs[@]}; i++)); do
	cat "$results/$i"
	read -r p f s <"$results/$i.count"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
