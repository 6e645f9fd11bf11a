/*
 * Opening a pipeline: store, sink, transform, source; and the comparison of what
 * the store of letters and the destination know of each other. A difference is
 * said, never repaired in silence.
 */
#include "base/crash.h"
#include "base/file.h"
#include "dlq/dlq.h"
#include "pipeline/doing.h"
#include "pipeline/measure_private.h"
#include "pipeline/pipeline_private.h"
#include "pipeline/post.h"
#include "pipeline/witness.h"

#include <inttypes.h>
#include <stdlib.h>

void job_paths_make(struct job_paths *out, const struct home *home, const char *job_name)
{
	OWNED(text) name = text_new(256);

	text_add_format(name, "%s.db", job_name);
	out->store = path_join(home->jobs_state, name->at);
	text_clear(name);
	text_add_format(name, "%s.big", job_name);
	out->big = path_join(home->jobs_state, name->at);
	text_clear(name);
	text_add_format(name, "%s.doing", job_name);
	out->doing = path_join(home->jobs_state, name->at);
}

void job_paths_clear(struct job_paths *paths)
{
	free(paths->store);
	free(paths->big);
	free(paths->doing);
	*paths = (struct job_paths){ 0 };
}

static bool has_replica(const struct pipeline *p, const struct table_schema *schema)
{
	return p->options->replication_mode == REPLICATION_MERGE && schema->key_count;
}

void pipeline_learn_table(struct pipeline *p, uint32_t table, const struct table_schema *schema)
{
	OWNED(text) name = text_new(4096);

	pipeline_name_table(p->options, schema, name);
	if (table >= p->table_count) {
		p->table_names = memory_grow(p->table_names, (table + 1) * sizeof(*p->table_names));
		p->added = memory_grow(p->added, (table + 2) * sizeof(*p->added));
		p->are_paused = memory_grow(p->are_paused, (table + 1) * sizeof(*p->are_paused));
		for (size_t i = p->table_count; i <= table; i++) {
			p->table_names[i] = NULL;
			p->are_paused[i] = false;
		}
		p->table_count = table + 1;
	}
	progress_learn_table(p->progress, table, name->at, has_replica(p, schema));
	/* A table that was parked for its name may have got one of its own. */
	if (p->table_names[table] && strcmp(p->table_names[table], name->at) == 0)
		return;
	free(p->table_names[table]);
	p->table_names[table] = text_take(name);
	p->are_paused[table] = pipeline_is_paused(p, p->table_names[table]);
}

static bool differs(struct error *err, const struct pipeline *p, const char *what)
{
	return fail(err, ERROR_BUG, "ledger_mismatch",
	            "job '%s': %s; nothing was changed ('weir run %s --from-start' begins anew and keeps tables and letters)",
	            p->options->name, what, p->options->name);
}

/* Promise 4 at start: every dead letter that the ledger counts must be in the store. */
static bool compare_letters(struct pipeline *p, const struct sink_state *state, struct error *err)
{
	uint64_t counted = 0, parked_counted = 0, letters, parked, to = state->position.offset;

	for (size_t i = 0; i <= state->table_count; i++) {
		counted += state->ledgers[i].dead_lettered;
		parked_counted += state->ledgers[i].parked;
	}
	for (size_t i = 0; state->offsets && i < state->table_count; i++)
		to = state->offsets[i] > to ? state->offsets[i] : to;
	if (!dlq_count(p->dlq, state->position.identity, to, &letters, &parked, err))
		return false;
	if (letters < counted)
		return differs(err, p, "the warehouse counts dead letters that its store does not have");
	if (parked < parked_counted)
		return differs(err, p, "the warehouse counts parked records that its store does not have");
	return true;
}

static bool compare(struct pipeline *p, const struct sink_setup *setup, const struct sink_state *state, struct error *err)
{
	p->from = state->position;
	if (!witness_commits(setup, state, err))
		return false;
	if (!state->is_known)
		return true;
	if (strcmp(state->incarnation, dlq_incarnation(p->dlq)) != 0)
		return differs(err, p, "the store of dead letters is not the one that the warehouse was filled with");
	return compare_letters(p, state, err);
}

/* --from-start. The feed keeps its identity, so that its letters are met again and not stored twice. */
static bool forget(struct pipeline *p, struct sink_state *state, struct error *err)
{
	p->from = (struct source_position){ .identity = arena_copy(p->arena, state->position.identity) };
	crash_point(before_forgetting);
	if (!witness_forget_commits(p->dlq, p->options, err))
		return false;
	crash_point(loss_accepted);
	if (!p->sink->ops->forget(p->sink, err))
		return false;
	crash_point(forgotten);
	p->sink->ops->state(p->sink, state);
	return dlq_notes_recount(p->dlq, err);
}

static bool open_sink(struct pipeline *p, const struct pipeline_setup *setup, struct sink_state *state,
                      struct error *err)
{
	const struct sink_ops *ops = setup->sink ? setup->sink : sink_choose(setup->options, err);
	bool is_fitted = setup->options->warehouse == WAREHOUSE_BIGQUERY && setup->options->replication_mode == REPLICATION_APPEND;
	struct sink_setup sink_setup = {
		.options = setup->options,
		.warehouse = setup->home->warehouse,
		.incarnation = dlq_incarnation(p->dlq),
		.cache_bytes = setup->options->local_cache_bytes / 2,
		.google = setup->google,
		.figures = progress_figures(p->progress),
		.is_anew = setup->from_start,
	};

	if (is_fitted && !(p->fitter = mapped_fitter_open(setup->options, err)))
		return false;
	sink_setup.fitter = p->fitter;
	if (!ops || !witnesses_read(p->dlq, p->arena, &sink_setup, err) ||
	    (!setup->from_start && !setup->sink && !witness_files(&sink_setup, err)) || !(p->sink = ops->open(&sink_setup, err)))
		return false;
	ops->state(p->sink, state);
	if (!dlq_notes_settle(p->dlq, pipeline_notes_place(&state->position), err))
		return false;
	return setup->from_start ? forget(p, state, err) : compare(p, &sink_setup, state, err);
}

/* A file of the job's own folder, in the pipeline's arena. */
static const char *path_below(struct pipeline *p, const char *name)
{
	return arena_printf(p->arena, "%s/%s", p->paths.big, name);
}

static bool open_transform(struct pipeline *p, const struct pipeline_setup *setup, const struct sink_state *state,
                           struct error *err)
{
	const struct transform_ops *ops = setup->transform ? setup->transform : transform_choose(setup->options, err);
	struct transform_setup transform_setup = {
		.options = setup->options,
		.tables = state->tables,
		.table_count = state->table_count,
		.logs = setup->from_start ? (struct span){ 0 } : state->position.logs,
		.wants_proto = setup->options->warehouse == WAREHOUSE_BIGQUERY,
		.wants_json = setup->options->warehouse == WAREHOUSE_LOCAL,
		.google = setup->google,
		.kept_schema = setup->options->schema_file ? path_below(p, "schema-file") : NULL,
	};

	for (size_t i = 0; i < state->table_count; i++)
		pipeline_learn_table(p, (uint32_t)i, state->tables[i]);
	for (size_t i = 0; i <= state->table_count && state->ledgers; i++) {
		ledger_add(&p->total, &state->ledgers[i]);
		progress_set_table(p->progress, i, &state->ledgers[i]);
	}
	progress_set_total(p->progress, &p->total);
	return ops && (p->transform = ops->open(&transform_setup, err));
}

/* Letters are unique by where they came from and their place there; subscriptions have names of their own. */
static void set_origins(struct pipeline *p, const struct dlq_origin *origin)
{
	const struct source_ops *ops = p->source->ops;
	const char *name;

	dlq_set_origin(p->dlq, origin);
	for (size_t i = 0; ops->channel && (name = ops->channel(p->source, i)); i++) {
		struct dlq_origin one = { .kind = ops->name, .file = name, .identity = span_of(name), .big_folder = p->paths.big };

		if (i)
			dlq_add_origin(p->dlq, &one);
		else
			dlq_set_origin(p->dlq, &one);
	}
}

/* What was parked behind the last commit is met again, but for tables whose dataset has counted it as parked. */
static bool forget_parked(struct pipeline *p, const struct source_position *end, struct error *err)
{
	struct sink_state state;
	json_t *offsets = json_object();
	bool is_fine;

	p->sink->ops->state(p->sink, &state);
	for (size_t i = 0; state.offsets && i < state.table_count; i++) {
		if (state.offsets[i] > end->offset)
			json_object_set_new(offsets, pipeline_table_name(p, (uint32_t)i), json_integer((json_int_t)state.offsets[i]));
	}
	is_fine = dlq_unpark_forget(p->dlq, end->identity, end->offset, offsets, err);
	json_decref(offsets);
	return is_fine;
}

static bool open_source(struct pipeline *p, const struct pipeline_setup *setup, struct error *err)
{
	const struct source_ops *ops = setup->source ? setup->source : source_choose(setup->options, err);
	struct source_setup source_setup = {
		.options = setup->options,
		.big_folder = p->paths.big,
		.from = p->from.identity.len ? &p->from : NULL,
		.is_followed = setup->is_followed,
		.google = setup->google,
		.incarnation = dlq_incarnation(p->dlq),
		.on_event = setup->on_event,
		.event_context = setup->context,
		.was_killed = doing_was_killed(p->doing),
		.on_news = setup->on_news,
		.context = setup->news_context,
	};
	struct batch *probe;
	bool is_fine;
	struct dlq_origin origin = { .kind = ops ? ops->name : "", .file = setup->options->input_file,
	                             .big_folder = p->paths.big };

	p->source = setup->kept_source ? setup->kept_source : ops ? ops->open(&source_setup, err) : NULL;
	if (!p->source)
		return false;
	/* An empty batch's mark tells the identity under which letters are kept. */
	probe = batch_new();
	ops->mark(p->source, probe);
	origin.identity = probe->end.identity;
	set_origins(p, &origin);
	progress_set_source(p->progress, p->source);
	is_fine = forget_parked(p, &probe->end, err);
	batch_free(probe);
	if (!is_fine && setup->kept_source)
		p->source = NULL;
	return is_fine;
}

static bool open_store(struct pipeline *p, const struct pipeline_setup *setup, struct error *err)
{
	const struct sink_setup looking = { .options = setup->options, .warehouse = setup->home->warehouse };

	if (!setup->from_start && !setup->sink && !witness_may_make_store(p->paths.store, &looking, err))
		return false;
	if (!(p->dlq = dlq_open(p->paths.store, DLQ_WRITE, err)))
		return false;
	if (setup->on_event)
		dlq_watch(p->dlq, setup->on_event, setup->on_note, setup->context);
	return true;
}

struct pipeline *pipeline_open(const struct pipeline_setup *setup, struct error *err)
{
	struct pipeline *p = memory_zalloc(sizeof(*p));
	struct sink_state state = { 0 };

	p->options = setup->options;
	p->progress = setup->progress;
	p->batch_messages = setup->batch_messages;
	p->warehouse = setup->home->warehouse;
	p->next_batch = 1;
	p->on_event = setup->on_event;
	p->context = setup->context;
	p->arena = arena_new(4096);
	p->added = memory_zalloc(sizeof(*p->added));
	p->measure = memory_zalloc(sizeof(*p->measure));
	job_paths_make(&p->paths, setup->home, setup->options->name);
	p->doing = doing_open(p->paths.doing);
	if (!open_store(p, setup, err) || !dlq_replay_free_stale(p->dlq, setup->replay, err) ||
	    !pipeline_read_paused(p, err) || !open_sink(p, setup, &state, err) ||
	    !open_transform(p, setup, &state, err) ||
	    (setup->without_source ? !pipeline_finish_unpark(p, err) : !open_source(p, setup, err))) {
		pipeline_close(p);
		return NULL;
	}
	p->post = post_open(p, setup->google);
	return p;
}

void pipeline_close(struct pipeline *p)
{
	if (!p)
		return;
	if (p->source) {
		progress_set_source(p->progress, NULL);
		p->source->ops->close(p->source);
	}
	doing_close(p->doing);
	if (p->transform)
		p->transform->ops->close(p->transform);
	pipeline_remember(p, true);
	post_close(p->post);
	if (p->sink)
		p->sink->ops->close(p->sink);
	if (p->fitter)
		p->fitter->close(p->fitter);
	pipeline_unpark_free(p);
	dlq_close(p->dlq);
	for (size_t i = 0; i < p->table_count; i++)
		free(p->table_names[i]);
	free(p->table_names);
	pipeline_clear_paused(p);
	free(p->told);
	free(p->added);
	measure_free(p->measure);
	free(p->measure);
	arena_free(p->arena);
	job_paths_clear(&p->paths);
	free(p);
}
