/*
 * One value from the message into a cell of its column. The natural pair of
 * source type and column needs one reader; any other goes by way of
 * type_coerce.c.
 */
#include "record/type_private.h"

enum convert_result reading_mismatch(struct reading *r, const char *message)
{
	*r->fault = (struct convert_fault){ .code = "type_mismatch", .message = message };
	return CONVERT_MISMATCH;
}

enum convert_result reading_out_of_range(struct reading *r, const char *code, const char *message)
{
	*r->fault = (struct convert_fault){ .code = code, .message = message };
	return CONVERT_OUT_OF_RANGE;
}

static bool is_placeholder(const struct json_doc *doc, uint32_t token, struct span placeholder, struct arena *arena)
{
	int kind = doc->tokens[token].kind;

	if (kind == JSON_STRING)
		return placeholder_is_text(doc, token, placeholder, arena);
	return (kind == JSON_ARRAY || kind == JSON_OBJECT) && placeholder_is_inside(doc, token, placeholder, arena);
}

static enum convert_result reading_run(struct reading *r, uint32_t token, struct cell *out)
{
	enum convert_result result;

	r->got = (struct bq_type){ .kind = r->from->row->kind };
	result = r->from->row->read(r, token, out);
	if (result == CONVERT_MISMATCH || (result == CONVERT_OK && out->kind == CELL_NULL))
		return result;
	if (result == CONVERT_OUT_OF_RANGE && r->to->kind == BQ_STRING && !r->to->is_array && reading_beyond(r, token, out))
		return CONVERT_OK;
	if (r->got.kind == r->to->kind && r->got.is_array == r->to->is_array)
		return result;
	if (out->kind == CELL_NULL)
		return result;
	if (result == CONVERT_OK)
		return reading_coerce(r, out);
	/* The clamped cell goes on into the column; what was wrong stays the first fault. */
	struct convert_fault first = *r->fault;

	if (reading_coerce(r, out) == CONVERT_MISMATCH)
		*out = (struct cell){ .kind = CELL_NULL };
	*r->fault = first;
	return result;
}

/* The source's own words, for onUnrepresentable `text` and for the dead letter. */
static void fault_finish(struct reading *r, uint32_t token)
{
	if (json_is(r->doc, token, JSON_STRING))
		r->fault->raw = json_text(r->doc, token, r->arena);
	else
		r->fault->raw = json_slice(r->doc, token);
}

enum convert_result type_convert(const struct source_type *from, const struct bq_type *to,
                                 const struct json_doc *doc, uint32_t token, struct span placeholder,
                                 struct arena *arena, struct cell *out, struct convert_fault *fault)
{
	struct reading r = { from, to, doc, placeholder, arena, fault, { .kind = BQ_STRING } };
	enum convert_result result;

	*out = (struct cell){ .kind = CELL_NULL };
	if (json_is(doc, token, JSON_NULL))
		return CONVERT_OK;
	if (placeholder.len && is_placeholder(doc, token, placeholder, arena)) {
		out->kind = CELL_UNAVAILABLE;
		return CONVERT_OK;
	}
	result = reading_run(&r, token, out);
	if (result != CONVERT_OK)
		fault_finish(&r, token);
	return result;
}

enum convert_result reading_inside(struct reading *r, const struct source_type *from, const struct bq_type *to,
                                   uint32_t token, struct span path, struct cell *out)
{
	struct reading inner = *r;
	enum convert_result result;

	inner.from = from;
	inner.to = to;
	*out = (struct cell){ .kind = CELL_NULL };
	if (json_is(r->doc, token, JSON_NULL))
		return CONVERT_OK;
	result = reading_run(&inner, token, out);
	if (result != CONVERT_OK) {
		struct span tail = r->fault->path;
		char *whole = arena_bytes(r->arena, path.len + tail.len + 1);

		memcpy(whole, path.at, path.len);
		if (tail.len)
			memcpy(whole + path.len, tail.at, tail.len);
		r->fault->path = span_make(whole, path.len + tail.len);
	}
	return result;
}
