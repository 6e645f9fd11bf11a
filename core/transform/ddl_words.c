/* What stands at a place of DDL: words, signs and names, taken or passed over; a clause's end. */
#include "transform/ddl_private.h"

bool ddl_word_is(struct span text, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len && i < text.len; i++) {
		char c = text.at[i] >= 'A' && text.at[i] <= 'Z' ? (char)(text.at[i] | 0x20) : text.at[i];

		if (c != word[i])
			return false;
	}
	return text.len == len;
}

bool ddl_is_word(const struct ddl_scan *scan, const char *word)
{
	return scan->now.kind == DDL_WORD && ddl_word_is(scan->now.text, word);
}

bool ddl_is_sign(const struct ddl_scan *scan, char sign)
{
	return scan->now.kind == DDL_SIGN && *scan->now.text.at == sign;
}

bool ddl_take_word(struct ddl_scan *scan, const char *word)
{
	if (!ddl_is_word(scan, word))
		return false;
	ddl_next(scan);
	return true;
}

bool ddl_take_sign(struct ddl_scan *scan, char sign)
{
	if (!ddl_is_sign(scan, sign))
		return false;
	ddl_next(scan);
	return true;
}

/* With ANSI_QUOTES "name" is a name. */
bool ddl_take_name(struct ddl_scan *scan, struct span *out)
{
	bool is_quoted = scan->now.kind == DDL_TEXT && *scan->now.begin == '"';

	if (scan->now.kind != DDL_WORD && scan->now.kind != DDL_NAME && !is_quoted)
		return false;
	*out = scan->now.text;
	ddl_next(scan);
	return out->len > 0;
}

bool ddl_is_over(const struct ddl_scan *scan)
{
	return scan->now.kind == DDL_END || scan->now.kind == DDL_BROKEN;
}

void ddl_skip_parentheses(struct ddl_scan *scan)
{
	size_t depth = 0;

	do {
		depth += ddl_is_sign(scan, '(');
		depth -= ddl_is_sign(scan, ')');
		ddl_next(scan);
	} while (depth && !ddl_is_over(scan));
}

bool ddl_is_clause_end(const struct ddl_scan *scan)
{
	return ddl_is_over(scan) || ddl_is_sign(scan, ',') || ddl_is_sign(scan, ')') || ddl_is_sign(scan, ';');
}

void ddl_skip_clause(struct ddl_scan *scan)
{
	while (!ddl_is_over(scan) && !ddl_is_sign(scan, ',') && !ddl_is_sign(scan, ';')) {
		if (ddl_is_sign(scan, '('))
			ddl_skip_parentheses(scan);
		else
			ddl_next(scan);
	}
}

/* db.table or table. */
bool ddl_take_table(struct ddl_scan *scan, struct span *out_db, struct span *out_table)
{
	*out_db = SPAN("");
	if (!ddl_take_name(scan, out_table))
		return false;
	if (!ddl_take_sign(scan, '.'))
		return true;
	*out_db = *out_table;
	return ddl_take_name(scan, out_table);
}

bool ddl_take_condition(struct ddl_scan *scan)
{
	if (!ddl_take_word(scan, "if"))
		return false;
	ddl_take_word(scan, "not");
	return ddl_take_word(scan, "exists");
}
