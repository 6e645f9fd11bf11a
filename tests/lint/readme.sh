#!/bin/sh
# README.md against the tables: every command of commands.def is mentioned (`weir dlq show`), every command that its list has
# and every parameter that it names exists, every exit status is listed. An argument names another tree to check (for its own test).
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2
page=README.md
passed=0 failed=0

# $1 what is missing if $2 is not 0
count() {
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
	else
		echo "FAIL $page: $1"
		failed=$((failed + 1))
	fi
}

# Several may be written as one: `weir job list | show | create`, `weir pause | resume`.
mentions() {
	grep -qE "weir $1([^a-z-]|\$)" "$page" && return 0
	group= word=${1##* }
	[ "$word" = "$1" ] || group="${1% *} "
	grep -oE "weir $group[a-z-]+( \| [a-z-]+)+" "$page" | grep -qE "[ ]$word( |\$)"
}

commands=$(sed -n 's/^COMMAND([a-z_]*, "\([^"]*\)".*/\1/p' core/control/commands.def)
IFS='
'
for command in $commands; do
	mentions "$command"
	count "'weir $command' of core/control/commands.def is not mentioned" $?
done

# The other way round: what the list of commands promises exists. "weir job list | show   words" is "job list" and "job show".
listed=$(sed -n '/^## Commands$/,/^## /p' "$page" | sed -n 's/^\(weir .*[^ ]\)  .*/\1/p; s/^\(weir .*CODE\) .*/\1/p' | awk '
{
	count = split($0, parts, /, /)
	for (p = 1; p <= count; p++) {
		sub(/^weir /, "", parts[p])
		sub(/( [A-Z]+)+ *$/, "", parts[p])
		verbs = split(parts[p], names, / \| /)
		group = names[1] ~ / / ? substr(names[1], 1, index(names[1], " ")) : ""
		for (v = 1; v <= verbs; v++)
			print (v == 1 ? "" : group) names[v]
	}
}' | sed 's/  .*//' | sort -u)
[ -n "$listed" ]
count "no list of commands below '## Commands'" $?
for command in $listed; do
	echo "$commands" | grep -qxF -- "$command"
	count "there is no command 'weir $command'" $?
done

# Parameters: rows of the table below "## A job", members of the example's "parameters", NAME=VALUE behind --param or set.
named=$({
	sed -n '/^## A job$/,/^## /p' "$page" | sed -n 's/^| \(`.*`\) | .*/\1/p' | grep -oE '`[A-Za-z]+`' | tr -d '`'
	sed -n '/"parameters": {/,/^  }/p' "$page" | sed -n 's/^    "\([A-Za-z]*\)":.*/\1/p'
	grep -oE '(--param|job set [A-Za-z-]+) [a-z][A-Za-z]+=' "$page" | sed 's/.* //; s/=$//'
} | sort -u)
[ -n "$named" ]
count "no parameters found below '## A job'" $?
for name in $named; do
	grep -qE "\.name = \"$name\"" core/options/job_options_*.def
	count "there is no parameter '$name'" $?
done

for status in $(sed -n 's/^EXIT_STATUS(\([0-9]*\),.*/\1/p' core/control/exits.def); do
	grep -qE "^\| $status \|" "$page"
	count "exit status $status is not listed" $?
done

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
