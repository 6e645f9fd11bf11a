/* Where a running job's dead letters go beside its store, and what keeps them from getting there. */
#include "engine/metrics_private.h"
#include "engine/result_private.h"

static json_t *way_json(enum letters_way way, const struct letters_view *view)
{
	static const char *const kinds[LETTERS_WAYS] = { [LETTERS_TO_TOPIC] = "topic", [LETTERS_TO_TABLE] = "table" };
	json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "kind", kinds[way], "target", view->target, "state",
	                           progress_state_name(view->state), "code", view->failure.code);

	json_object_set_new(object, "sentence", error_message_to_json(&view->failure));
	json_object_set_new(object, "since", live_time(view->since_us));
	json_object_set_new(object, "until", live_time(view->until_us));
	return object;
}

void live_add_letters(json_t *object, const struct job *job)
{
	for (int i = 0; i < LETTERS_WAYS; i++) {
		json_t *ways = json_object_get(object, "letters_to");
		struct letters_view view;

		if (!job->is_running || !progress_letters(job->progress, (enum letters_way)i, &view))
			continue;
		if (!ways)
			json_object_set_new(object, "letters_to", ways = json_array());
		json_array_append_new(ways, way_json((enum letters_way)i, &view));
	}
}
