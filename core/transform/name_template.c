/* Filling names with places. The text is changed in place, from the left, as the rules tell it. */
#include "transform/name_template.h"

#define STEPS_MAX 1000 /* values in values may double at each step */
#define DEPTH_MAX 64

struct filling {
	char *at;                  /* NAME_FILLED_MAX bytes */
	size_t len;
	const struct name_values *values;
	struct arena *arena;
	struct span missing;
	bool has_missing;
	unsigned steps;
	enum template_fault fault;
};

/* The names that are being filled in around this place. */
struct prior {
	struct span name;
	const struct prior *next;
	unsigned depth;
};

static void fill_range(struct filling *f, size_t start, size_t *end, const struct prior *prior);

/* Puts `value` in place of [start, end). */
static bool replace(struct filling *f, size_t start, size_t end, struct span value)
{
	size_t tail = f->len - end;

	if (start + value.len + tail > NAME_FILLED_MAX || ++f->steps > STEPS_MAX) {
		f->fault = TEMPLATE_TOO_LONG;
		return false;
	}
	memmove(f->at + start + value.len, f->at + end, tail);
	if (value.len)
		memcpy(f->at + start, value.at, value.len);
	f->len = start + value.len + tail;
	return true;
}

/* "region:-eu" has a default. A brace in front of it ends the search: names are not made of names. */
static struct span default_split(struct span place, struct span *out_default, bool *out_has_default)
{
	*out_has_default = false;
	for (size_t i = 0; i < place.len && place.at[i] != '{'; i++) {
		if (place.at[i] != ':' || i + 1 == place.len || place.at[i + 1] != '-')
			continue;
		*out_has_default = true;
		*out_default = span_make(place.at + i + 2, place.len - i - 2);
		return span_make(place.at, i);
	}
	return place;
}

static bool is_looping(struct filling *f, struct span name, const struct prior *prior)
{
	for (; prior; prior = prior->next) {
		if (span_equal(prior->name, name)) {
			f->fault = TEMPLATE_LOOP;
			return true;
		}
	}
	return false;
}

/* The place [start, end), braces and all. Returns where the text goes on behind it; *range_end moves with the text. */
static size_t fill_place(struct filling *f, size_t start, size_t end, size_t *range_end, const struct prior *prior)
{
	struct span place = arena_copy(f->arena, span_make(f->at + start + 1, end - start - 2)), value, fallback = { NULL, 0 };
	bool has_default;
	struct prior this = { default_split(place, &fallback, &has_default), prior, prior ? prior->depth + 1 : 1 };
	size_t inner, before = f->len;

	if (is_looping(f, this.name, prior))
		return end;
	if (!f->values->find(f->values->context, this.name, &value)) {
		if (!has_default) {
			f->missing = f->has_missing ? f->missing : this.name;
			f->has_missing = true;
			return end;
		}
		value = fallback;
	}
	if (this.depth > DEPTH_MAX)
		f->fault = TEMPLATE_TOO_LONG;
	if (f->fault != TEMPLATE_FINE || !replace(f, start, end, value))
		return end;
	inner = start + value.len;
	fill_range(f, start, &inner, &this);
	*range_end = *range_end + f->len - before;
	return inner;
}

static void fill_range(struct filling *f, size_t start, size_t *end, const struct prior *prior)
{
	size_t at = start;

	while (at < *end && f->fault == TEMPLATE_FINE) {
		const char *close;

		if (f->at[at] != '{') {
			at++;
		} else if (at > start && f->at[at - 1] == '$') {
			replace(f, at - 1, at, (struct span){ NULL, 0 });
			(*end)--;
		} else {
			close = memchr(f->at + at, '}', *end - at);
			if (!close)
				return;
			at = fill_place(f, at, (size_t)(close - f->at) + 1, end, prior);
		}
	}
}

enum template_fault name_template_fill(struct span template, const struct name_values *values, struct arena *arena,
                                       struct span *out, struct span *out_missing)
{
	char room[NAME_FILLED_MAX];
	struct filling f = { .at = room, .len = template.len, .values = values, .arena = arena };
	size_t end = template.len;

	if (template.len > NAME_FILLED_MAX)
		return TEMPLATE_TOO_LONG;
	if (template.len)
		memcpy(room, template.at, template.len);
	fill_range(&f, 0, &end, NULL);
	if (f.fault != TEMPLATE_FINE)
		return f.fault;
	*out = arena_copy(arena, span_make(room, f.len));
	*out_missing = f.missing;
	return TEMPLATE_FINE;
}
