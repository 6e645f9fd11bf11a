/*
 * Geometry: WKB and PostGIS's EWKB to WKT, two dimensions, and points as
 * structs (spec/types.md 4.5 "Geometry facts").
 */
#include "record/type_private.h"

#include "base/hash.h"

#define NESTING_MAX 16
#define EWKB_SRID 0x20000000u
#define EWKB_M 0x40000000u
#define EWKB_Z 0x80000000u

/* Bytes left, and where the text grows. Room: each point has 16 bytes and at most 52 characters. */
struct wkb {
	const unsigned char *at, *end;
	bool is_little;
	bool is_off_globe; /* a coordinate that is no longitude, or no latitude */
	unsigned dimensions;
	char *text;
};

#define WKT_ROOM(bytes) ((bytes) * 7 + 64)

static const char *const shape_names[] = {
	"", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
};

#define SHAPE_POINT 1
#define SHAPE_LINE 2
#define SHAPE_POLYGON 3
#define SHAPE_COLLECTION 7

static bool take_number(struct wkb *w, uint32_t *out)
{
	if (w->end - w->at < 4)
		return false;
	*out = 0;
	for (size_t i = 0; i < 4; i++)
		*out |= (uint32_t)w->at[i] << (8 * (w->is_little ? i : 3 - i));
	w->at += 4;
	return true;
}

static bool take_real(struct wkb *w, double *out)
{
	uint64_t bits = 0;

	if (w->end - w->at < 8)
		return false;
	for (size_t i = 0; i < 8; i++)
		bits |= (uint64_t)w->at[i] << (8 * (w->is_little ? i : 7 - i));
	memcpy(out, &bits, sizeof(bits));
	w->at += 8;
	return true;
}

static void put(struct wkb *w, const char *text)
{
	size_t len = strlen(text);

	memcpy(w->text, text, len);
	w->text += len;
}

/* Byte order, type word with flags (or ISO's thousands), SRID: skipped. */
static bool take_head(struct wkb *w, uint32_t *out_shape)
{
	uint32_t type, srid;

	if (w->at == w->end || *w->at > 1)
		return false;
	w->is_little = *w->at++ == 1;
	if (!take_number(w, &type) || ((type & EWKB_SRID) && !take_number(w, &srid)))
		return false;
	w->dimensions = 2 + !!(type & EWKB_Z) + !!(type & EWKB_M);
	type &= ~(EWKB_SRID | EWKB_M | EWKB_Z);
	if (type >= 1000)
		w->dimensions = type >= 3000 ? 4 : 3;
	*out_shape = type % 1000;
	return *out_shape >= SHAPE_POINT && *out_shape <= SHAPE_COLLECTION && type < 4000;
}

static bool is_on_globe(double longitude, double latitude)
{
	return longitude >= -180 && longitude <= 180 && latitude >= -90 && latitude <= 90;
}

static enum convert_result off_globe(struct reading *r, struct cell *out)
{
	*out = (struct cell){ .kind = CELL_NULL };
	return reading_out_of_range(r, "geography_out_of_range",
	                            "GEOGRAPHY holds longitudes of -180 to 180 and latitudes of -90 to 90");
}

static bool put_point(struct wkb *w, bool *out_is_empty)
{
	double coordinate[4];

	for (unsigned i = 0; i < w->dimensions; i++) {
		if (!take_real(w, &coordinate[i]))
			return false;
	}
	*out_is_empty = coordinate[0] != coordinate[0]; /* NaN: POINT EMPTY */
	if (*out_is_empty)
		return true;
	w->is_off_globe |= !is_on_globe(coordinate[0], coordinate[1]);
	w->text = real_print(coordinate[0], w->text);
	put(w, " ");
	w->text = real_print(coordinate[1], w->text);
	return true;
}

static bool put_points(struct wkb *w)
{
	uint32_t count;
	bool is_empty;

	if (!take_number(w, &count))
		return false;
	if (!count) {
		put(w, "EMPTY");
		return true;
	}
	put(w, "(");
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			put(w, ", ");
		if (!put_point(w, &is_empty) || is_empty)
			return false;
	}
	put(w, ")");
	return true;
}

static bool put_shape(struct wkb *w, unsigned depth, bool is_named);

/* Rings of a polygon, or shapes with heads of their own. */
static bool put_members(struct wkb *w, uint32_t shape, unsigned depth)
{
	uint32_t count;

	if (!take_number(w, &count))
		return false;
	if (!count) {
		put(w, "EMPTY");
		return true;
	}
	put(w, "(");
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			put(w, ", ");
		if (shape == SHAPE_POLYGON ? !put_points(w) : !put_shape(w, depth + 1, shape == SHAPE_COLLECTION))
			return false;
	}
	put(w, ")");
	return true;
}

static bool put_single(struct wkb *w)
{
	char *before = w->text;
	bool is_empty;

	put(w, "(");
	if (!put_point(w, &is_empty))
		return false;
	if (is_empty) {
		w->text = before;
		put(w, "EMPTY");
		return true;
	}
	put(w, ")");
	return true;
}

/* POINT EMPTY has a blank, POINT(1 2) none. */
static void put_blank(char *body, struct wkb *w)
{
	if (*body != 'E')
		return;
	memmove(body + 1, body, (size_t)(w->text - body));
	*body = ' ';
	w->text++;
}

static bool put_body(struct wkb *w, uint32_t shape, unsigned depth)
{
	if (shape == SHAPE_POINT)
		return put_single(w);
	return shape == SHAPE_LINE ? put_points(w) : put_members(w, shape, depth);
}

static bool put_shape(struct wkb *w, unsigned depth, bool is_named)
{
	uint32_t shape;
	char *body;

	if (depth > NESTING_MAX || !take_head(w, &shape))
		return false;
	if (is_named)
		put(w, shape_names[shape]);
	body = w->text;
	if (!put_body(w, shape, depth))
		return false;
	if (is_named)
		put_blank(body, w);
	return true;
}

static bool is_geography(const struct reading *r)
{
	return r->to->kind == BQ_GEOGRAPHY && !r->to->is_array;
}

static enum convert_result wkb_text(struct reading *r, struct span bytes, struct cell *out)
{
	char *text = arena_bytes(r->arena, WKT_ROOM(bytes.len));
	const unsigned char *at = (const unsigned char *)bytes.at;
	struct wkb w = { .at = at, .end = at + bytes.len, .text = text };

	if (!put_shape(&w, 0, true) || w.at != w.end)
		return reading_mismatch(r, "bytes that are no WKB geometry");
	if (w.is_off_globe && is_geography(r))
		return off_globe(r, out);
	arena_shrink(r->arena, text, WKT_ROOM(bytes.len), (size_t)(w.text - text));
	*out = (struct cell){ .kind = CELL_TEXT, .text = span_make(text, (size_t)(w.text - text)) };
	return CONVERT_OK;
}

enum convert_result read_geometry(struct reading *r, uint32_t token, struct cell *out)
{
	uint32_t wkb = json_is(r->doc, token, JSON_OBJECT) ? json_member(r->doc, token, SPAN("wkb")) : 0;
	enum convert_result result;

	if (!wkb)
		return reading_mismatch(r, "no {wkb, srid} where a geometry is meant");
	if (json_is(r->doc, wkb, JSON_NULL)) {
		out->kind = CELL_NULL;
		return CONVERT_OK;
	}
	result = read_bytes(r, wkb, out);
	if (result != CONVERT_OK || (r->to->kind == BQ_BYTES && !r->to->is_array)) {
		r->got = (struct bq_type){ .kind = BQ_BYTES };
		return result;
	}
	return wkb_text(r, out->text, out);
}

static bool point_part(struct reading *r, uint32_t token, const char *name, struct cell *out)
{
	uint32_t member = json_member(r->doc, token, span_of(name));

	*out = (struct cell){ .kind = CELL_NULL };
	return member && read_real(r, member, out) == CONVERT_OK;
}

static char *point_word(char *at, struct span word)
{
	memcpy(at, word.at, word.len);
	return at + word.len;
}

enum convert_result read_point(struct reading *r, uint32_t token, struct cell *out)
{
	struct bq_type real = { .kind = BQ_FLOAT64 };
	bool is_place = is_geography(r);
	struct cell x, y;
	char *text, *at;
	size_t room;

	if (!json_is(r->doc, token, JSON_OBJECT) || !point_part(r, token, "x", &x) || !point_part(r, token, "y", &y))
		return reading_mismatch(r, "no {x, y} where a point is meant");
	if (is_place && !is_on_globe(x.real, y.real))
		return off_globe(r, out);
	room = cell_json_room(&x) + cell_json_room(&y) + 16;
	text = at = arena_bytes(r->arena, room);
	at = point_word(at, is_place ? SPAN("POINT(") : SPAN("{\"x\":"));
	at = cell_json_value(&x, &real, at);
	at = point_word(at, is_place ? SPAN(" ") : SPAN(",\"y\":"));
	at = cell_json_value(&y, &real, at);
	*at++ = is_place ? ')' : '}';
	arena_shrink(r->arena, text, room, (size_t)(at - text));
	*out = (struct cell){ .kind = is_place ? CELL_TEXT : CELL_JSON, .text = span_make(text, (size_t)(at - text)) };
	r->got = (struct bq_type){ .kind = is_place ? BQ_GEOGRAPHY : BQ_STRUCT };
	if (!is_place && r->to->kind == BQ_STRUCT)
		r->got = *r->to;
	return CONVERT_OK;
}
