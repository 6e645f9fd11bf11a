#!/bin/sh
# Refuses in C files: functions that write without knowing the room or hide
# errors, and notes to ourselves; in every tracked file: paths of somebody's
# machine. Prints FILE:LINE for each; exit 1 if there is one. An argument names
# another tree to check (for its own test).
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2
here=tests/lint/words.sh
found=$(mktemp) || exit 2
trap 'rm -f "$found"' EXIT

c_files() {
	find core tui tests -name '*.[ch]' ! -name banned.h 2>/dev/null | LC_ALL=C sort
}

# What is tracked; before the first commit and outside git, what is there.
all_files() {
	{ git ls-files --cached --others --exclude-standard 2>/dev/null || find . -type f ! -path './build/*'; } |
		grep -v "^\(\./\)\{0,1\}$here\$" | LC_ALL=C sort -u
}

# $1 what is wrong, $2 extended pattern; names of files on stdin
refuse() {
	tr '\n' '\0' | xargs -0 -r grep -InE "$2" /dev/null 2>/dev/null | sed "s|^\([^:]*:[0-9]*\):.*|\1: $1|" >> "$found"
}

c_files | refuse 'a banned function (core/base/banned.h says what to use)' \
	'(^|[^A-Za-z0-9_])(strcpy|strcat|sprintf|vsprintf|strtok|gets|atoi|localtime|gmtime)[[:space:]]*\('
c_files | refuse 'a note to ourselves; make it an issue' '(^|[^A-Za-z0-9_])(TODO|FIXME|XXX|HACK)([^A-Za-z0-9_]|$)'
all_files | refuse 'a path of one machine' \
	'(^|[^A-Za-z0-9_.~-])/(home|Users)/[A-Za-z0-9_][A-Za-z0-9_.-]*/|(^|[^A-Za-z0-9_.~$}-])/(work|root)/[A-Za-z0-9_.-]'

cat "$found"
failed=$(wc -l < "$found")
files=$(all_files | wc -l)
bad=$(cut -d: -f1 "$found" | sort -u | wc -l)
echo "$((files - bad)) passed, $((failed)) failed, 0 skipped"
[ "$failed" -eq 0 ]
