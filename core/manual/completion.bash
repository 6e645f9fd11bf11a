# Offers those of $1 (words on lines) that begin with what is typed.
_weir_offer()
{
	local IFS=$'\n'

	COMPREPLY+=($(compgen -W "$1" -- "$2"))
}

# Registered jobs are files; reading them needs no engine.
_weir_jobs()
{
	local folder=${WEIR_HOME:-${XDG_CONFIG_HOME:-$HOME/.config}/weir}/jobs file

	for file in "$folder"/*.json; do
		[ -e "$file" ] || continue
		file=${file##*/}
		printf '%s\n' "${file%.json}"
	done
}

# Members of what a running engine answers: _weir_ask MEMBER COMMAND...
_weir_ask()
{
	local member=$1

	shift
	"$_weir_program" engine status >/dev/null 2>&1 || return
	"$_weir_program" "$@" --json 2>/dev/null | sed -n "s/.*\"$member\": *\"\{0,1\}\([A-Za-z0-9_.-]*\)\"\{0,1\}[,}].*/\1/p" | sort -u
}

# NAME=, then the choices of NAME. bash gives `=` as a word of its own.
_weir_assignment()
{
	local name=$1 value=$2

	case $name in
	*=) _weir_offer "$(_weir_choices "${name%=}" | tr ' ' '\n')" "$value" ;;
	*) _weir_offer "$_weir_parameters" "$value" && compopt -o nospace 2>/dev/null ;;
	esac
}

_weir_value()
{
	case $1 in
	job) _weir_offer "$(_weir_jobs)" "$2" ;;
	file_or_job) _weir_offer "$(_weir_jobs)" "$2"; _weir_files "$2" ;;
	file | feed) _weir_files "$2" ;;
	code) _weir_offer "$_weir_codes" "$2" ;;
	group) _weir_offer "$(_weir_ask group dlq groups)" "$2" ;;
	table) _weir_offer "$(_weir_ask table tables)" "$2" ;;
	param | name=value) _weir_assignment '' "$2" ;;
	esac
}

_weir_files()
{
	local IFS=$'\n'

	COMPREPLY+=($(compgen -f -- "$1"))
	compopt -o filenames 2>/dev/null
}

# The command in the words before the cursor: sets command, and at to the first word behind it.
_weir_find_command()
{
	command=
	at=1
	if [ "$COMP_CWORD" -gt 2 ] && grep -qxF -- "${COMP_WORDS[1]} ${COMP_WORDS[2]}" <<<"$_weir_commands"; then
		command="${COMP_WORDS[1]} ${COMP_WORDS[2]}" at=3
	elif [ "$COMP_CWORD" -gt 1 ] && grep -qxF -- "${COMP_WORDS[1]}" <<<"$_weir_commands"; then
		command=${COMP_WORDS[1]} at=2
	fi
}

_weir_first_words()
{
	if [ "$COMP_CWORD" -eq 1 ]; then
		_weir_offer "$(cut -d' ' -f1 <<<"$_weir_commands" | sort -u)" "$1"
	elif [ "$COMP_CWORD" -eq 2 ]; then
		_weir_offer "$(sed -n "s/^${COMP_WORDS[1]//[^a-z]/} //p" <<<"$_weir_commands")" "$1"
	fi
}

# How many words of the command, without options and their values, stand before the cursor.
_weir_count_words()
{
	local i word valued

	valued=" $(_weir_valued "$command") "
	place=0
	for ((i = at; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--*) case $valued in *" $word "*) ((i++)) ;; esac ;;
		=) ((i++)) ;;
		*) ((place++)) ;;
		esac
	done
}

_weir()
{
	local command at place places word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} _weir_program=$1

	COMPREPLY=()
	_weir_find_command
	if [ -z "$command" ]; then
		_weir_first_words "$word"
		return
	fi
	if [ "$word" = = ]; then
		_weir_assignment "$before=" ''
		return
	fi
	if [ "$before" = = ]; then
		_weir_assignment "${COMP_WORDS[COMP_CWORD - 2]}=" "$word"
		return
	fi
	case " $(_weir_valued "$command") " in
	*" $before "*)
		_weir_value "${before#--}" "$word"
		return
		;;
	esac
	case $word in
	-*)
		_weir_offer "$(_weir_options "$command" | tr ' ' '\n')" "$word"
		return
		;;
	esac
	_weir_count_words
	read -ra places <<<"$(_weir_places "$command")"
	case ${places[*]: -1} in
	*+) [ $place -lt ${#places[@]} ] || place=$((${#places[@]} - 1)) ;;
	esac
	place=${places[place]:-}
	_weir_value "${place%+}" "$word"
}

complete -F _weir weir
