/* The table of views; a place is found by its name. */
#include "view/view.h"
#include "action/places.h"

#define VIEWS(V) \
	V(overview) V(job) V(tables) V(why) V(dlq) V(entries) V(letter) V(balance) V(activity) V(schema) V(health) V(journal) \
	V(logs) V(explain) V(help) V(messages) V(acts)

#define DECLARE(id) extern const struct view_ops view_##id;
VIEWS(DECLARE)

#define POINTER(id) &view_##id,
const struct view_ops *const views[] = { VIEWS(POINTER) };
const size_t view_count = sizeof(views) / sizeof(*views);

static const struct view_ops *by_name(const char *name)
{
	for (size_t i = 0; i < view_count; i++) {
		if (strcmp(views[i]->name, name) == 0)
			return views[i];
	}
	return NULL;
}

/* Places have a second name ("dead-letters", "dlq"; keys say "letters"). */
const struct view_ops *view_find(const char *name)
{
	const struct place *place = place_find(span_of(strcmp(name, "letters") == 0 ? "dlq" : name));

	if (place && *place->alias && by_name(place->alias))
		return by_name(place->alias);
	return by_name(name);
}
