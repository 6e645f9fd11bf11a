/*
 * Strict reading of JSON text (RFC 8259). jansson reads the values; this finds
 * the byte where a mistake begins, and members that stand twice.
 */
#include "options/job_scan_private.h"

#include "base/arena.h"
#include "base/clean.h"

#include <jansson.h>
#include <stdlib.h>

#define DEPTH_MAX 100 /* a job file needs five */

struct scan {
	const char *begin, *at, *end;
	const struct scan_listener *listener;
	struct scan_fault *fault;
	int depth;
};

struct member {
	char *name; /* unescaped; owned */
	size_t offset;
};

struct members {
	struct member *items;
	size_t count, room;
};

static bool scan_fail_at(struct scan *scan, const char *at, const char *message)
{
	*scan->fault = (struct scan_fault){ (size_t)(at - scan->begin), message };
	return false;
}

static bool scan_fail(struct scan *scan, const char *message)
{
	return scan_fail_at(scan, scan->at, scan->at < scan->end ? message : "the file ends too early");
}

static void scan_space(struct scan *scan)
{
	while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4))
		scan->at++;
}

static bool scan_char(struct scan *scan, char c)
{
	scan_space(scan);
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static bool scan_escape(struct scan *scan)
{
	const char *begin = scan->at++;

	if (scan->at == scan->end)
		return scan_fail(scan, "");
	if (*scan->at != 'u') {
		if (!memchr("\"\\/bfnrt", *scan->at, 8))
			return scan_fail_at(scan, begin, "a backslash stands before a letter that needs none");
		scan->at++;
		return true;
	}
	if (scan->end - scan->at < 5)
		return scan_fail_at(scan, begin, "\\u needs four hexadecimal digits");
	for (int i = 1; i <= 4; i++)
		if (!is_hex(scan->at[i]))
			return scan_fail_at(scan, begin, "\\u needs four hexadecimal digits");
	if (memcmp(scan->at, "u0000", 5) == 0)
		return scan_fail_at(scan, begin, "\\u0000 is not allowed");
	scan->at += 5;
	return true;
}

static bool scan_string(struct scan *scan)
{
	const char *begin = scan->at++;

	while (scan->at < scan->end && *scan->at != '"') {
		if ((unsigned char)*scan->at < 0x20)
			return scan_fail_at(scan, *scan->at == '\n' ? begin : scan->at,
			                    *scan->at == '\n' ? "the text does not end on its line"
			                                      : "a control character stands in a text");
		if (*scan->at != '\\')
			scan->at++;
		else if (!scan_escape(scan))
			return false;
	}
	if (scan->at == scan->end)
		return scan_fail_at(scan, begin, "the text never ends");
	scan->at++;
	if (!utf8_is_valid(span_make(begin, (size_t)(scan->at - begin))))
		return scan_fail_at(scan, begin, "the text is not UTF-8");
	return true;
}

static bool scan_digits(struct scan *scan)
{
	const char *begin = scan->at;

	while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
		scan->at++;
	return scan->at > begin;
}

static bool scan_number(struct scan *scan)
{
	const char *begin = scan->at;
	bool is_fine;

	if (*scan->at == '-')
		scan->at++;
	begin = scan->at;
	is_fine = scan_digits(scan) && (*begin != '0' || scan->at == begin + 1);
	if (is_fine && scan->at < scan->end && *scan->at == '.') {
		scan->at++;
		is_fine = scan_digits(scan);
	}
	if (is_fine && scan->at < scan->end && (*scan->at | 0x20) == 'e') {
		scan->at++;
		if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-'))
			scan->at++;
		is_fine = scan_digits(scan);
	}
	return is_fine || scan_fail_at(scan, begin, "this is no number");
}

static bool scan_word(struct scan *scan)
{
	static const struct span words[] = { { "true", 4 }, { "false", 5 }, { "null", 4 } };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if ((size_t)(scan->end - scan->at) >= words[i].len && memcmp(scan->at, words[i].at, words[i].len) == 0) {
			scan->at += words[i].len;
			return true;
		}
	}
	if (*scan->at == '\'')
		return scan_fail(scan, "texts stand in double quotes");
	if (*scan->at == '#' || *scan->at == '/')
		return scan_fail(scan, "JSON has no comments");
	return scan_fail(scan, "a value is missing (texts stand in double quotes)");
}

static bool scan_value(struct scan *scan);

static bool scan_list(struct scan *scan)
{
	scan->at++;
	if (scan_char(scan, ']'))
		return true;
	do {
		scan_space(scan);
		if (scan->at < scan->end && *scan->at == ']')
			return scan_fail(scan, "a comma stands before the ']'");
		if (!scan_value(scan))
			return false;
	} while (scan_char(scan, ','));
	return scan_char(scan, ']') || scan_fail(scan, "a comma or ']' is missing");
}

static int member_order(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* The first and each later place of every name that comes more than once. */
static void members_compare(struct scan *scan, struct members *members)
{
	size_t first = 0;

	if (members->count)
		qsort(members->items, members->count, sizeof *members->items, member_order);
	for (size_t i = 1; i < members->count; i++) {
		if (strcmp(members->items[i].name, members->items[first].name) != 0)
			first = i;
		else
			scan->listener->on_duplicate(scan->listener->context, members->items[i].name,
			                             members->items[first].offset, members->items[i].offset);
	}
}

static void members_free(struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		free(members->items[i].name);
	free(members->items);
}

static void members_add(struct scan *scan, struct members *members, const char *begin)
{
	struct span raw = span_make(begin, (size_t)(scan->at - begin));
	json_t *name = NULL;

	if (members->count == members->room) {
		members->room = members->room ? members->room * 2 : 16;
		members->items = memory_grow(members->items, members->room * sizeof *members->items);
	}
	if (memchr(raw.at, '\\', raw.len))
		name = json_loadb(raw.at, raw.len, JSON_DECODE_ANY, NULL);
	members->items[members->count++] = (struct member){
		.name = name ? memory_string(json_string_value(name)) : memory_string_of(span_make(raw.at + 1, raw.len - 2)),
		.offset = (size_t)(begin - scan->begin),
	};
	json_decref(name);
}

static bool scan_member(struct scan *scan, struct members *members)
{
	const char *begin;

	scan_space(scan);
	begin = scan->at;
	if (begin < scan->end && *begin == '}')
		return scan_fail(scan, "a comma stands before the '}'");
	if (begin == scan->end || *begin != '"')
		return scan_fail(scan, "the name of a member is missing (names stand in double quotes)");
	if (!scan_string(scan))
		return false;
	members_add(scan, members, begin);
	if (!scan_char(scan, ':'))
		return scan_fail(scan, "a ':' is missing behind the name");
	return scan_value(scan);
}

static bool scan_object(struct scan *scan)
{
	struct members members = { 0 };
	bool is_fine = true;

	scan->at++;
	if (scan_char(scan, '}'))
		return true;
	do {
		is_fine = scan_member(scan, &members);
	} while (is_fine && scan_char(scan, ','));
	if (is_fine)
		is_fine = scan_char(scan, '}') || scan_fail(scan, "a comma or '}' is missing");
	if (is_fine)
		members_compare(scan, &members);
	members_free(&members);
	return is_fine;
}

static bool scan_value(struct scan *scan)
{
	bool is_fine;

	scan_space(scan);
	if (scan->at == scan->end)
		return scan_fail(scan, "");
	if (*scan->at == '"')
		return scan_string(scan);
	if (*scan->at == '-' || (*scan->at >= '0' && *scan->at <= '9'))
		return scan_number(scan);
	if (*scan->at != '{' && *scan->at != '[')
		return scan_word(scan);
	if (scan->depth == DEPTH_MAX)
		return scan_fail(scan, "objects and lists lie more than 100 deep in each other");
	scan->depth++;
	is_fine = *scan->at == '{' ? scan_object(scan) : scan_list(scan);
	scan->depth--;
	return is_fine;
}

bool json_scan(struct span text, const struct scan_listener *listener, struct scan_fault *out_fault)
{
	struct scan_fault fault;
	struct scan scan = { .begin = text.at, .at = text.at, .end = text.at + text.len, .listener = listener,
		             .fault = &fault };
	bool is_fine;

	if (text.len >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
		is_fine = scan_fail(&scan, "the file begins with a byte order mark, which JSON does not have");
	else
		is_fine = scan_value(&scan);
	scan_space(&scan);
	if (is_fine && scan.at < scan.end)
		is_fine = scan_fail(&scan, "something stands behind the end of the JSON text");
	if (!is_fine)
		*out_fault = fault;
	return is_fine;
}

struct json_place json_place(struct span text, size_t offset)
{
	struct json_place place = { 1, 1 };

	for (size_t i = 0; i < offset && i < text.len; i++) {
		place.column++;
		if (text.at[i] == '\n')
			place = (struct json_place){ place.line + 1, 1 };
	}
	return place;
}
