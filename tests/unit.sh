#!/bin/bash
# unit.sh BUILD [FOLDER]: runs the cmocka programs of a build and sums their results.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0
for program in "$1"/tests/${2:-*}/test_*; do
	case $program in *.d) continue ;; esac
	[ -x "$program" ] || continue
	out=$(timeout 300 "$program" 2>&1)
	status=$?
	p=$(grep -c '^\[       OK \]' <<<"$out")
	# cmocka names each of these twice: where it happens, and in a list at the end.
	f=$(grep '^\[  FAILED  \] [a-z_A-Z0-9]*$' <<<"$out" | sort -u | wc -l)
	s=$(grep '^\[  SKIPPED \] [a-z_A-Z0-9]*$' <<<"$out" | sort -u | wc -l)
	[ $status -eq 0 ] || [ "$f" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if [ "$f" -gt 0 ]; then
		echo "FAIL $program (exit $status)"
		tail -n 40 <<<"$out"
	else
		echo "ok   $program: $p tests"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
