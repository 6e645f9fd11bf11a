/*
 * Walks JSON text to one value and counts the lines before it. The text may be
 * broken: what stands before the break is found. Of two members with the same
 * name the last one counts, as in jansson.
 */
#include "base/json_path.h"

#include "base/utf8.h"

struct walk {
	const char *at;
	const char *end;
	const char *found; /* NULL: not yet */
	bool wants_name;
};

static void walk_space(struct walk *walk)
{
	while (walk->at < walk->end && memchr(" \t\r\n", *walk->at, 4))
		walk->at++;
}

static bool walk_char(struct walk *walk, char c)
{
	walk_space(walk);
	if (walk->at >= walk->end || *walk->at != c)
		return false;
	walk->at++;
	return true;
}

/* Past the string that begins here; false: it never ends. */
static bool walk_string(struct walk *walk)
{
	for (walk->at++; walk->at < walk->end; walk->at++) {
		if (*walk->at == '"') {
			walk->at++;
			return true;
		}
		if (*walk->at == '\\' && walk->at + 1 < walk->end)
			walk->at++;
	}
	return false;
}

static void walk_scalar(struct walk *walk)
{
	while (walk->at < walk->end && !memchr(",:]} \t\r\n\"[{", *walk->at, 12))
		walk->at++;
}

/* Past the value that begins here, however deep it is; false: the text is broken. */
static bool walk_value(struct walk *walk)
{
	size_t depth = 0;

	do {
		walk_space(walk);
		if (walk->at >= walk->end)
			return false;
		const char *begin = walk->at;

		if (*begin == '"') {
			if (!walk_string(walk))
				return false;
		} else if (*begin == '{' || *begin == '[') {
			depth++;
			walk->at++;
		} else if (*begin == '}' || *begin == ']') {
			if (depth == 0)
				return false;
			depth--;
			walk->at++;
		} else if (depth && (*begin == ',' || *begin == ':')) {
			walk->at++;
		} else {
			walk_scalar(walk);
			if (walk->at == begin)
				return false;
		}
	} while (depth);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four hexadecimal digits at the front of `rest`, or -1. */
static int32_t hex_unit(struct span rest)
{
	int32_t unit = 0;

	if (rest.len < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(rest.at[i]);

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

static struct span span_skip(struct span text, size_t bytes)
{
	return span_make(text.at + bytes, text.len - bytes);
}

/* One character behind "\u"; *rest moves past it. Half a surrogate pair and
 * broken digits give U+FFFD, which no path will hold. */
static uint32_t unescape_unicode(struct span *rest)
{
	int32_t high = hex_unit(*rest);

	if (high < 0)
		return 0xfffd;
	*rest = span_skip(*rest, 4);
	if (high < 0xd800 || high > 0xdfff)
		return (uint32_t)high;
	if (high > 0xdbff || rest->len < 6 || rest->at[0] != '\\' || rest->at[1] != 'u')
		return 0xfffd;

	int32_t low = hex_unit(span_skip(*rest, 2));

	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*rest = span_skip(*rest, 6);
	return 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

/* The next piece of a name after unescaping: 1 to 4 bytes in `out`. */
static size_t name_piece(struct span *rest, char out[4])
{
	static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
	char c = rest->at[0];

	*rest = span_skip(*rest, 1);
	if (c != '\\' || rest->len == 0) {
		out[0] = c;
		return 1;
	}
	c = rest->at[0];
	*rest = span_skip(*rest, 1);
	if (c == 'u')
		return utf8_put(unescape_unicode(rest), out);

	const char *letter = memchr(letters, c, sizeof(letters) - 1);

	out[0] = letter ? meanings[letter - letters] : c;
	return 1;
}

/* If `path` begins with the whole name (the bytes between the quotes), returns
 * the path behind it: at '.' or at the end; else NULL. Names may hold dots. */
static const char *name_match(struct span name, const char *path)
{
	while (name.len) {
		char piece[4];
		size_t length = name_piece(&name, piece);

		for (size_t i = 0; i < length; i++) {
			if (*path == '\0' || *path != piece[i])
				return NULL;
			path++;
		}
	}
	return *path == '\0' || *path == '.' ? path : NULL;
}

static void walk_find(struct walk *walk, const char *path);

/* Behind a matching name or index: the value is it, or the way leads into it.
 * The walk itself goes on behind the value. */
static void walk_enter(struct walk *walk, const char *rest, const char *name)
{
	struct walk inner = *walk;

	walk_space(&inner);
	if (inner.at >= inner.end)
		return;
	if (*rest == '\0') {
		walk->found = walk->wants_name && name ? name : inner.at;
		return;
	}
	inner.found = NULL;
	walk_find(&inner, rest + 1);
	if (inner.found)
		walk->found = inner.found;
}

static void walk_object(struct walk *walk, const char *path)
{
	walk->at++;
	do {
		walk_space(walk);
		if (walk->at >= walk->end || *walk->at != '"')
			return;

		const char *name = walk->at;

		if (!walk_string(walk))
			return;

		const char *rest = name_match(span_make(name + 1, (size_t)(walk->at - name) - 2), path);

		if (!walk_char(walk, ':'))
			return;
		if (rest)
			walk_enter(walk, rest, name);
		if (!walk_value(walk))
			return;
	} while (walk_char(walk, ','));
}

/* Reads the index at the front of the path; NULL: it is none. */
static const char *path_index(const char *path, size_t *out_index)
{
	size_t index = 0;
	const char *at = path;

	for (; *at >= '0' && *at <= '9' && at - path < 9; at++)
		index = index * 10 + (size_t)(*at - '0');
	if (at == path || (*at != '.' && *at != '\0'))
		return NULL;
	*out_index = index;
	return at;
}

static void walk_array(struct walk *walk, const char *path)
{
	size_t wanted = 0;
	const char *rest = path_index(path, &wanted);

	if (!rest)
		return;
	walk->at++;
	for (size_t i = 0; i < wanted; i++) {
		if (!walk_value(walk) || !walk_char(walk, ','))
			return;
	}
	walk_space(walk);
	if (walk->at < walk->end && *walk->at != ']')
		walk_enter(walk, rest, NULL);
}

/* `path` is what is left to go from the value that begins here. It gets shorter
 * with each call, so the depth is bounded by the caller's own text. */
static void walk_find(struct walk *walk, const char *path)
{
	walk_space(walk);
	if (walk->at >= walk->end)
		return;
	if (*walk->at == '{')
		walk_object(walk, path);
	else if (*walk->at == '[')
		walk_array(walk, path);
}

static struct json_spot spot_of(struct span text, const char *found)
{
	struct json_spot spot = { 1, 1 };

	for (const char *at = text.at; at < found; at++) {
		spot.column++;
		if (*at == '\n') {
			spot.line++;
			spot.column = 1;
		}
	}
	return spot;
}

static const char *found_at(struct span text, const char *path)
{
	struct walk walk = { .wants_name = *path == '@' };

	if (text.len == 0)
		return NULL;
	walk.at = text.at;
	walk.end = text.at + text.len;
	path += walk.wants_name;
	walk_space(&walk);
	if (*path == '\0' && walk.at < walk.end)
		walk.found = walk.at;
	else
		walk_find(&walk, path);
	return walk.found;
}

struct json_spot json_path_find(struct span text, const char *path)
{
	const char *found = found_at(text, path);

	return found ? spot_of(text, found) : (struct json_spot){ 0, 0 };
}

struct span json_path_value(struct span text, const char *path)
{
	const char *found = found_at(text, path);
	struct walk walk = { .at = found, .end = text.at + text.len };

	if (!found)
		return (struct span){ NULL, 0 };
	walk_value(&walk);
	return span_make(found, (size_t)(walk.at - found));
}
