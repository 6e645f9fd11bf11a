/* The table of views; a place is found by its name. */
#include "view/view.h"
#include "action/places.h"

#define VIEWS(V) \
	V(overview) V(job) V(tables) V(why) V(dlq) V(entries) V(letter) V(balance) V(activity) V(source) V(schema) V(health) V(journal) \
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

static bool is_own(const struct view_ops *ops, enum action_id action)
{
	for (const enum action_id *own = ops->own; own && *own != ACTIONS; own++) {
		if (*own == action)
			return true;
	}
	return false;
}

bool view_means(const struct view_ops *ops, enum action_id action)
{
	switch ((int)action) {
	case ACTION_filter:
	case ACTION_next:
	case ACTION_previous: return ops->filter;
	case ACTION_step: return ops->step;
	case ACTION_copy:
	case ACTION_copy_finding: return ops->copy;
	case ACTION_toggle_pause:
	case ACTION_acts:
	case ACTION_letters:
	case ACTION_explain:
	case ACTION_first_bad: return ops->subject;
	case ACTION_fold:
	case ACTION_left:
	case ACTION_right:
	case ACTION_trouble:
	case ACTION_wide:
	case ACTION_follow:
	case ACTION_mark:
	case ACTION_mark_range:
	case ACTION_mark_all:
	case ACTION_mark_none:
	case ACTION_sort:
	case ACTION_sort_reverse:
	case ACTION_pane_next:
	case ACTION_pane_previous:
	case ACTION_pane_larger:
	case ACTION_pane_smaller: return is_own(ops, action);
	default: return true;
	}
}
