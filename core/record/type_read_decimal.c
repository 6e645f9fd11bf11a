/*
 * Readers of decimals (spec/types.md 4.3), and the way of a decimal into a
 * column: exact or out of range, never rounded.
 */
#include "record/type_decimal_private.h"

#include "base/hash.h"

#define NUMERIC_MOST "99999999999999999999999999999.999999999"
#define BIGNUMERIC_MOST "578960446186580977117854925043439539266.34992332820282019728792003956564819967"
#define BIGNUMERIC_LEAST "-578960446186580977117854925043439539266.34992332820282019728792003956564819968"

static struct span nearest_end(enum bq_kind kind, bool is_negative)
{
	if (kind == BQ_NUMERIC)
		return is_negative ? SPAN("-" NUMERIC_MOST) : SPAN(NUMERIC_MOST);
	return is_negative ? SPAN(BIGNUMERIC_LEAST) : SPAN(BIGNUMERIC_MOST);
}

/* Too many fraction digits: the nearest value toward zero; too large: the end of the range. */
static struct span decimal_clamp(struct decimal d, enum bq_kind kind, struct arena *arena)
{
	int64_t scale_max = kind == BQ_NUMERIC ? 9 : 38;
	struct span text;

	if (d.scale > scale_max) {
		int64_t cut = d.scale - scale_max;

		d.count = cut < (int64_t)d.count ? d.count - (size_t)cut : 0;
		d.scale = scale_max;
		while (d.count && d.digits[d.count - 1] == '0') {
			d.count--;
			d.scale--;
		}
		if (!d.count)
			return SPAN("0");
	}
	if (!decimal_fits(&d, kind) || !decimal_print(&d, arena, &text))
		return nearest_end(kind, d.is_negative);
	return text;
}

enum convert_result reading_decimal(struct reading *r, const struct decimal *d, struct cell *out)
{
	enum bq_kind kind = r->to->kind;
	bool is_decimal = !r->to->is_array && (kind == BQ_NUMERIC || kind == BQ_BIGNUMERIC);

	out->kind = CELL_TEXT;
	r->got = (struct bq_type){ .kind = is_decimal ? kind : BQ_BIGNUMERIC };
	if (is_decimal && !decimal_fits(d, kind)) {
		out->text = decimal_clamp(*d, kind, r->arena);
		return reading_out_of_range(r, "decimal_out_of_range",
		                            kind == BQ_NUMERIC
		                                    ? "NUMERIC holds 29 digits before the point and 9 behind it"
		                                    : "BIGNUMERIC holds 38 digits before the point and 38 behind it");
	}
	if (decimal_print(d, r->arena, &out->text))
		return CONVERT_OK;
	out->text = nearest_end(BQ_BIGNUMERIC, d->is_negative);
	return reading_out_of_range(r, "decimal_out_of_range", "a decimal of more than 400,000 digits");
}

bool decimal_is_plain(struct span text, struct span *out)
{
	size_t sign = text.len && *text.at == '-', at = sign, whole, end;

	while (at < text.len && text.at[at] >= '0' && text.at[at] <= '9')
		at++;
	whole = at - sign;
	if (whole == 0 || whole > 29 || (whole > 1 && text.at[sign] == '0'))
		return false;
	end = at;
	if (at < text.len) {
		size_t point = at;

		if (text.at[at++] != '.' || at == text.len)
			return false;
		for (; at < text.len; at++) {
			if (text.at[at] < '0' || text.at[at] > '9')
				return false;
			end = text.at[at] != '0' ? at + 1 : end;
		}
		if (end > point && end - point - 1 > 9)
			return false;
	}
	*out = span_make(text.at, end);
	return !(sign && end == 2 && text.at[1] == '0'); /* -0 */
}

static const struct {
	const char *text;
	int sign;
} words[] = {
	{ "NAN", 0 },       { "NaN", 0 },       { "POSITIVE_INFINITY", 1 }, { "NEGATIVE_INFINITY", -1 },
	{ "Infinity", 1 },  { "-Infinity", -1 },
};

/* Debezium's words for what no decimal column can hold. */
static enum convert_result read_word(struct reading *r, struct span text, struct cell *out)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!span_is(text, words[i].text))
			continue;
		*out = (struct cell){ .kind = CELL_NULL };
		if (words[i].sign) {
			out->kind = CELL_TEXT;
			out->text = nearest_end(r->to->kind == BQ_NUMERIC ? BQ_NUMERIC : BQ_BIGNUMERIC, words[i].sign < 0);
		}
		return reading_out_of_range(r, "decimal_out_of_range", "a decimal column holds neither NaN nor infinity");
	}
	return reading_mismatch(r, "text that is no number where a decimal is meant");
}

enum convert_result reading_decimal_text(struct reading *r, struct span text, struct cell *out)
{
	struct decimal d;

	if (decimal_is_plain(text, &out->text)) {
		out->kind = CELL_TEXT;
		r->got.kind = r->to->kind == BQ_NUMERIC ? BQ_NUMERIC : BQ_BIGNUMERIC;
		return CONVERT_OK;
	}
	if (!decimal_parse(text, r->arena, &d))
		return read_word(r, text, out);
	return reading_decimal(r, &d, out);
}

static enum convert_result read_unscaled(struct reading *r, uint32_t token, int64_t scale, struct cell *out)
{
	struct span text = json_text(r->doc, token, r->arena);
	size_t room = text.len / 4 * 3 + 1, len;
	char *bytes = arena_bytes(r->arena, room);
	struct decimal d;

	if (!base64_decode(text, bytes, &len))
		return reading_mismatch(r, "text that is no base64 where a decimal's bytes are meant");
	if (len == 0)
		return reading_mismatch(r, "no bytes where a decimal is meant");
	if (!decimal_from_bytes(span_make(bytes, len), scale, r->arena, &d)) {
		*out = (struct cell){ .kind = CELL_NULL };
		return reading_out_of_range(r, "decimal_out_of_range", "a decimal of more than 65,536 bytes");
	}
	return reading_decimal(r, &d, out);
}

enum convert_result read_decimal(struct reading *r, uint32_t token, struct cell *out)
{
	if (json_is(r->doc, token, JSON_NUMBER)) /* the converter's decimal.format=NUMERIC */
		return reading_decimal_text(r, json_raw(r->doc, token), out);
	if (!json_is(r->doc, token, JSON_STRING))
		return reading_mismatch(r, "neither base64 nor a number where a decimal is meant");
	return read_unscaled(r, token, r->from->scale, out);
}

enum convert_result read_variable_decimal(struct reading *r, uint32_t token, struct cell *out)
{
	uint32_t scale_token, value;
	int64_t scale;

	if (json_is(r->doc, token, JSON_NUMBER))
		return reading_decimal_text(r, json_raw(r->doc, token), out);
	if (!json_is(r->doc, token, JSON_OBJECT))
		return reading_mismatch(r, "no {scale, value} where a decimal of its own scale is meant");
	scale_token = json_member(r->doc, token, SPAN("scale"));
	value = json_member(r->doc, token, SPAN("value"));
	if (!scale_token || !value || !json_int64(r->doc, scale_token, &scale) || scale > INT32_MAX || scale < INT32_MIN)
		return reading_mismatch(r, "a decimal of its own scale needs the members scale and value");
	if (json_is(r->doc, value, JSON_STRING))
		return read_unscaled(r, value, scale, out);
	return reading_mismatch(r, "the member value of a decimal is base64");
}
