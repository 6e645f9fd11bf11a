#!/bin/sh
# Checks every #include "..." in core/ and tui/ against includes.table, which
# holds the allowed edges between folders. Prints FILE:LINE for each violation;
# exit 1 if there is one. An argument names another tree to check (for its own test).
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}" || exit 2

find core tui -name '*.[ch]' -o -name '*.def' 2>/dev/null | LC_ALL=C sort | xargs -r awk -v table="$here/includes.table" '
function refuse(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why
	failed++
	is_refused = 1
}
# Inside tui/ a header may be named from there: "view/view.h" is tui/view/view.h.
function is_of_tui(name, line) {
	return (getline line < ("tui/" name)) >= 0
}
# "core/base/text.c" -> base; "tui/view/jobs.c" -> tui
function folder_of(path, parts) {
	split(path, parts, "/")
	return parts[1] == "core" ? parts[2] : "tui"
}
BEGIN {
	while ((getline line < table) > 0) {
		if (line ~ /^#/ || line !~ /:/)
			continue
		count = split(line, words, /[: ]+/)
		known[words[1]] = 1
		allowed[words[1], words[1]] = 1
		for (i = 2; i <= count; i++)
			if (words[i] != "")
				allowed[words[1], words[i]] = 1
	}
}
FNR == 1 {
	files++
	from = folder_of(FILENAME)
	own = FILENAME
	sub(/\/[^\/]*$/, "", own)
	if (!(from in known))
		refuse("folder \"" from "\" has no row in includes.table")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	is_refused = 0
	match($0, /"[^"]*"/)
	name = substr($0, RSTART + 1, RLENGTH - 2)
	to = name
	sub(/\/.*/, "", to)
	if (from == "tui" && !(to in known) && is_of_tui(name)) {
		name = "tui/" name
		to = "tui"
	}
	if (name == "version.h" || name == "build_info.h" || name == "install_paths.h" || name ~ /\.inc$/) { # made by the Makefile
		passed++
		next
	}
	if (name !~ /\// || name ~ /^\.|\/\.\.?\//)
		refuse("include \"" name "\" by its folder: \"FOLDER/NAME.h\"")
	else if (to != "tui" && !(to in known))
		refuse("\"" name "\": no such folder in includes.table")
	else if (!((from, to) in allowed))
		refuse("\"" name "\": " from " may not include " to)
	else if (name ~ /_private\.h$/) {
		target = name
		sub(/\/[^\/]*$/, "", target)
		if (own != "core/" target && own != target)
			refuse("\"" name "\" is private to its folder")
	}
	if (!is_refused)
		passed++
}
END {
	printf "%d passed, %d failed, 0 skipped\n", passed, failed
	exit failed || !files
}' || exit 1
