/*
 * The mold of the last line: what stood around its values up to the body. Lines
 * of one writer differ in the values only, so that each name and its punctuation
 * are one comparison of bytes. Where a line does not fit, the light scan reads
 * it, and it becomes the mold.
 */
#include "source/envelope_private.h"

#define STEM_LEAST 8   /* {\"id\": */
#define STEM_MISSES 64

/* In the order in which they stand. */
static size_t pieces_sort(const struct envelope *envelope, struct mold_piece pieces[ENVELOPE_MEMBERS])
{
	size_t count = 0;

	for (uint8_t member = 0; member < ENVELOPE_MEMBERS; member++) {
		const char *at = envelope->values[member].text.at;
		size_t place = count;

		if (!at)
			continue;
		for (; place && envelope->values[pieces[place - 1].member].text.at > at; place--)
			pieces[place] = pieces[place - 1];
		pieces[place].member = member;
		count++;
	}
	return count;
}

/* A text (its opening quote belongs to the piece), or an empty object; of other values the end is not plain. */
static bool piece_begin(struct mold_piece *piece, struct span value)
{
	piece->is_text = piece->member != ENVELOPE_DATA && *value.at == '"';
	return piece->member == ENVELOPE_DATA || piece->is_text || span_equal(value, SPAN("{}"));
}

void mold_learn(struct mold *mold, struct span line, const struct envelope *envelope)
{
	const char *at = line.at;
	size_t used = 0, count = pieces_sort(envelope, mold->pieces);

	mold->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct mold_piece *piece = &mold->pieces[i];
		struct span value = envelope->values[piece->member].text;

		if (!piece_begin(piece, value))
			return;
		size_t len = (size_t)(value.at - at) + piece->is_text;

		if (len > sizeof(mold->text) - used)
			return;
		memcpy(mold->text + used, at, len);
		piece->len = (uint8_t)len;
		used += len;
		at = value.at + value.len - piece->is_text;
	}
	mold->count = count;
}

/*
 * The stem
 */

/* No escape is cut in two. */
static size_t stem_whole(const char *at, size_t len)
{
	size_t slashes = 0;

	while (slashes < len && at[len - 1 - slashes] == '\\')
		slashes++;
	return len - slashes % 2;
}

/* `key` is the inside of a string of ASCII and escapes of one letter. What it has in common with the stem is the new
 * one; where that is next to nothing, it is begun anew now and then. */
static void stem_learn(struct stem *stem, struct span key)
{
	size_t most = key.len < STEM_BYTES ? key.len : STEM_BYTES, len = 0;

	if (!stem->raw_len && stem->misses++ % STEM_MISSES)
		return;
	if (!stem->raw_len) {
		len = most;
	} else {
		most = most < stem->raw_len ? most : stem->raw_len;
		while (len < most && stem->raw[len] == key.at[len])
			len++;
	}
	len = stem_whole(key.at, len);
	stem->raw_len = 0;
	if (len < STEM_LEAST || !json_unescape_plain(span_make(key.at, len), stem->plain, &stem->plain_len))
		return;
	memcpy(stem->raw, key.at, len);
	stem->raw_len = len;
}

static const char *key_end(struct stem *stem, const char *at, const char *end, struct envelope_value *out)
{
	const char *quote;
	bool has_escapes = false;

	if (stem->raw_len && (size_t)(end - at) > stem->raw_len && bytes_equal(at, stem->raw, stem->raw_len)) {
		out->has_stem = true;
		return json_plain_end(at + stem->raw_len, end, &has_escapes);
	}
	quote = json_plain_end(at, end, &has_escapes);
	if (quote && has_escapes)
		stem_learn(stem, span_make(at, (size_t)(quote - at)));
	out->is_plain = !has_escapes;
	return quote;
}

/*
 * Lines
 */

/* The value at the cursor, which is moved behind it, but not over a closing quote. */
static inline bool piece_value(struct mold *mold, const struct mold_piece *piece, const char **at, const char *end,
                               struct envelope_value *out)
{
	const char *begin = *at;
	bool has_escapes = false;

	*out = (struct envelope_value){ .is_plain = true };
	if (!piece->is_text) {
		*at = begin + 2;
		out->text = span_make(begin, 2);
		return end - begin > 2 && begin[0] == '{' && begin[1] == '}';
	}
	if (piece->member == ENVELOPE_KEY) {
		*at = key_end(&mold->stem, begin, end, out);
	} else {
		*at = json_plain_end(begin, end, &has_escapes);
		out->is_plain = !has_escapes;
	}
	out->text = span_make(begin - 1, *at ? (size_t)(*at - begin) + 2 : 0);
	return *at;
}

bool mold_read_head(struct mold *mold, struct span line, struct envelope *out, struct span *out_rest)
{
	const char *at = line.at, *end = line.at + line.len, *text = mold->text;

	for (size_t i = 0; i < mold->count; i++) {
		const struct mold_piece *piece = &mold->pieces[i];

		if (end - at <= piece->len || !bytes_equal(at, text, piece->len))
			return false;
		at += piece->len;
		text += piece->len;
		*out_rest = span_make(at, (size_t)(end - at));
		if (piece->member == ENVELOPE_DATA)
			return true;
		if (!piece_value(mold, piece, &at, end, &out->values[piece->member]))
			return false;
	}
	return false;
}

bool mold_read(struct mold *mold, struct span line, struct envelope *out)
{
	struct span rest;

	return mold_read_head(mold, line, out, &rest) &&
	       envelope_scan_data(rest, &out->values[ENVELOPE_DATA]) == SCANNED_DATA;
}
