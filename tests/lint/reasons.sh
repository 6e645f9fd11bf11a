#!/bin/sh
# Every reason code that the code hands to fail() or message_refuse() must be a row of core/base/reasons.def.
cd "$(dirname "$0")/../.." || exit 1
rows=$(sed -n 's/^REASON("\([a-z0-9_]*\)".*/\1/p' core/base/reasons.def)
# The code is the first word in quotes after an ERROR_ kind, or follows a stage.
used=$(cat $(find core tui -name '*.c' -o -name '*.def' ! -name reasons.def) | tr '\n\t' '  ' |
	grep -oE '(ERROR_[A-Z]+|message_refuse\([^;"]*"source"|"(decode|map|write)"|CONVERT_[A-Z_]+), *"[a-z0-9_]+"' | sed 's/.*"\([a-z0-9_]*\)"$/\1/' | sort -u)
passed=0 failed=0
for code in $used; do
	if echo "$rows" | grep -qx "$code"; then
		passed=$((passed + 1))
	else
		echo "FAIL reason code '$code' has no row in core/base/reasons.def: $(grep -rln "\"$code\"" core tui | tr '\n' ' ')"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
