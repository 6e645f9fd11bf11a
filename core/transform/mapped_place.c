/*
 * Where a JSON row goes: the job's templates filled with the row's own texts, and with the message's attributes, id and time where
 * the job asks for that. Names that nothing may have, and one dataset too many, refuse the row.
 */
#include "transform/mapped_private.h"

#include "transform/name_template.h"

struct places {
	struct debezium *d;
	struct event *e;
};

static bool attribute_find(const struct message *message, struct span name, struct span *out)
{
	for (size_t i = 0; i < message->attr_count; i++) {
		if (span_equal(message->attrs[i].name, name)) {
			*out = message->attrs[i].value;
			return true;
		}
	}
	return false;
}

static bool given(struct span text, struct span *out)
{
	*out = text;
	return text.len > 0;
}

/* *out_is_meant: the name is one of the message's own, whether it has it or not. */
static bool metadata_find(const struct message *message, struct span name, struct span *out, bool *out_is_meant)
{
	static const char attributes[] = "_attributes.";

	*out_is_meant = true;
	if (name.len >= sizeof(attributes) - 1 && memcmp(name.at, attributes, sizeof(attributes) - 1) == 0)
		return attribute_find(message, span_make(name.at + sizeof(attributes) - 1, name.len - (sizeof(attributes) - 1)), out);
	if (span_is(name, "_message_id"))
		return given(message->id, out);
	if (span_is(name, "_publish_time"))
		return given(message->publish, out);
	if (span_is(name, "_ordering_key"))
		return given(message->key, out);
	*out_is_meant = false;
	return false;
}

/* Only members of the top level whose value is text. Of a name that stands twice the last counts. */
static bool place_find(void *context, struct span name, struct span *out)
{
	struct places *p = context;
	const struct json_doc *doc = p->e->doc;
	uint32_t end = doc->tokens[0].next, found = 0;
	bool is_meant = false, has_it = false;

	if (p->d->options->message_metadata)
		has_it = metadata_find(p->e->message, name, out, &is_meant);
	if (is_meant)
		return has_it;
	for (uint32_t at = 1; at < end; at = doc->tokens[at + 1].next) {
		bool is_plain = !(doc->tokens[at].flags & JSON_HAS_ESCAPES);

		if (span_equal(is_plain ? json_raw(doc, at) : json_text(doc, at, p->e->batch->arena), name))
			found = at + 1;
	}
	if (!found || !json_is(doc, found, JSON_STRING))
		return false;
	*out = json_text(doc, found, p->e->batch->arena);
	return true;
}

static bool fill(struct debezium *d, struct event *e, const char *option, const char *template, struct span *out,
                 struct span *out_missing)
{
	struct places places = { d, e };
	struct name_values values = { place_find, &places };

	switch (name_template_fill(span_of(template), &values, e->batch->arena, out, out_missing)) {
	case TEMPLATE_LOOP:
		return REFUSE_MAP(e, "template_loop", NOTHING, NOTHING, "%s: a value leads back to itself", option);
	case TEMPLATE_TOO_LONG:
		return REFUSE_MAP(e, "template_loop", NOTHING, NOTHING, "%s: values in values make a name of more than %d bytes",
		                  option, NAME_FILLED_MAX);
	case TEMPLATE_FINE:
		break;
	}
	return true;
}

static bool check(struct event *e, enum name_kind kind, const char *option, struct span name, struct span missing)
{
	if (name.len && name_is_allowed(kind, name))
		return true;
	if (missing.at)
		return REFUSE_MAP(e, "template_unfilled", NOTHING, missing,
		                  "%s: the message has no text for {%.*s}, and the name would be '%.*s'", option, SPAN_ARG(missing),
		                  SPAN_ARG(name));
	if (!name.len)
		return REFUSE_MAP(e, "template_unfilled", NOTHING, NOTHING, "%s: the name that the message gives is empty", option);
	return REFUSE_MAP(e, "bad_destination", NOTHING, NOTHING, "%s: no %s may have the name '%.*s'", option,
	                  kind == NAME_DATASET ? "dataset" : "table", SPAN_ARG(name));
}

/* Without autoMapTables, as in the original. */
static struct span without_sign(struct event *e, struct span name)
{
	char *copy = arena_string(e->batch->arena, name);

	for (char *at = copy; (at = strchr(at, '$'));)
		*at = '_';
	return span_make(copy, name.len);
}

bool mapped_dataset_is_known(struct debezium *d, struct span dataset)
{
	struct mapping *m = d->mapping;

	for (size_t i = 0; i < m->dataset_count; i++) {
		if (span_equal(m->datasets[i], dataset))
			return true;
	}
	if (m->dataset_count == DATASETS_MAX)
		return false;
	m->datasets[m->dataset_count++] = arena_copy(d->arena, dataset);
	return true;
}

bool mapped_find_table(struct debezium *d, struct event *e)
{
	const struct job_options *options = d->options;
	struct span dataset, table, missing_dataset = NOTHING, missing_table = NOTHING;

	if (!fill(d, e, "outputDatasetTemplate", options->output_dataset_template, &dataset, &missing_dataset) ||
	    !fill(d, e, "outputTableNameTemplate", options->output_table_template, &table, &missing_table))
		return false;
	if (!options->auto_map_tables)
		table = without_sign(e, table);
	else if (!mapped_take_partition(d, e, &table))
		return false;
	if (mapped_is_letters(d->mapping, dataset, table))
		return REFUSE_MAP(e, "bad_destination", NOTHING, NOTHING, "%.*s.%.*s is the job's dead-letter table, which takes no rows",
		                  SPAN_ARG(dataset), SPAN_ARG(table));
	if (table_met(d, e, dataset, table)) /* its names were looked at then */
		return true;
	if (!check(e, NAME_DATASET, "outputDatasetTemplate", dataset, missing_dataset) ||
	    !check(e, NAME_TABLE, "outputTableNameTemplate", table, missing_table))
		return false;
	if (!mapped_dataset_is_known(d, dataset))
		return REFUSE_MAP(e, "too_many_datasets", NOTHING, NOTHING,
		                  "dataset %.*s would be one more than the %d that a job may write to", SPAN_ARG(dataset),
		                  DATASETS_MAX);
	return table_mapped(d, e, dataset, table);
}
