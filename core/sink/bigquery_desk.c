/*
 * The desk that sees to tables: who wants what, and one thread that moves all calls
 * at once. A call belongs to one table; nobody waits for another table's.
 */
#include "sink/bigquery_desk_private.h"

#include "base/clock.h"

#include <stdlib.h>

#define DESK_REST_MS (60 * 60 * 1000) /* with nothing to do */

static void *desk_run(void *desk);

static bool desk_start(struct table_desk *desk, struct error *err)
{
	struct rest_setup rest = { .ca_file = google_ca_file(desk->google) };
	int error_number;

	desk->client = rest_open(&rest, err);
	if (!desk->client)
		return false;
	error_number = pthread_create(&desk->thread, NULL, desk_run, desk);
	if (error_number == 0)
		return true;
	rest_close(desk->client);
	return fail_errno(err, error_number, "cannot begin a thread for BigQuery's tables");
}

struct table_desk *table_desk_open(const struct table_desk_setup *setup, struct error *err)
{
	struct table_desk *desk = memory_zalloc(sizeof(*desk));

	desk->google = setup->google;
	desk->project = memory_string(setup->project);
	desk->options = setup->options;
	desk->asks_write_path = setup->asks_write_path;
	desk->on_change = setup->on_change;
	desk->context = setup->context;
	pthread_mutex_init(&desk->lock, NULL);
	clock_cond_init(&desk->news);
	if (desk_start(desk, err))
		return desk;
	pthread_cond_destroy(&desk->news);
	pthread_mutex_destroy(&desk->lock);
	free(desk->project);
	free(desk);
	return NULL;
}

static void desk_table_free(struct desk_table *table)
{
	rest_call_free(table->call);
	grpc_call_free(table->look);
	json_decref(table->fields);
	arena_free(table->wanted_in);
	free(table->dataset);
	free(table->name);
	free(table);
}

void table_desk_close(struct table_desk *desk)
{
	if (!desk)
		return;
	pthread_mutex_lock(&desk->lock);
	desk->is_closing = true;
	pthread_mutex_unlock(&desk->lock);
	rest_wake(desk->client);
	pthread_join(desk->thread, NULL);
	for (size_t i = 0; i < desk->count; i++)
		desk_table_free(desk->tables[i]);
	rest_close(desk->client);
	pthread_cond_destroy(&desk->news);
	pthread_mutex_destroy(&desk->lock);
	free(desk->tables);
	free(desk->project);
	free(desk);
}

static struct desk_table *desk_add(struct table_desk *desk, struct span dataset, struct span name)
{
	struct desk_table *table = memory_zalloc(sizeof(*table));

	if (desk->count == desk->room) {
		desk->room = desk->room ? desk->room * 2 : 16;
		desk->tables = memory_grow(desk->tables, desk->room * sizeof(struct desk_table *));
	}
	table->dataset = memory_string_of(dataset);
	table->name = memory_string_of(name);
	table->due_ms = INT64_MAX;
	table->backoff = (struct backoff)BACKOFF(DESK_FIRST_WAIT_MS, DESK_MOST_WAIT_MS, 2);
	table->settling = (struct backoff)BACKOFF(SETTLE_FIRST_MS, SETTLE_MOST_MS, 2);
	desk->tables[desk->count++] = table;
	return table;
}

size_t table_desk_find(struct table_desk *desk, struct span dataset, struct span name)
{
	size_t at = 0;

	pthread_mutex_lock(&desk->lock);
	while (at < desk->count && !(span_is(dataset, desk->tables[at]->dataset) && span_is(name, desk->tables[at]->name)))
		at++;
	if (at == desk->count)
		desk_add(desk, dataset, name);
	pthread_mutex_unlock(&desk->lock);
	return at;
}

static void shape_take(struct desk_table *table, const struct table_shape *wanted)
{
	struct arena *arena = arena_new(4096);

	arena_free(table->wanted_in);
	table->wanted = shape_copy(arena, wanted);
	table->wanted_in = arena;
}

/* What has been tried and failed is not tried sooner: the reason is the same with another shape, mostly. */
void table_desk_want(struct table_desk *desk, size_t number, const struct table_shape *wanted)
{
	bool is_new;

	pthread_mutex_lock(&desk->lock);
	struct desk_table *table = desk->tables[number];

	is_new = !table->wanted || !shape_equal(table->wanted, wanted);
	if (is_new) {
		shape_take(table, wanted);
		if (table->view.state == TABLE_READY || table->view.state == TABLE_DIFFERS)
			desk_state(desk, table, TABLE_ASKING, NULL, 0);
		if (table->step == STEP_NONE && !table->call)
			desk_step(table, STEP_GET, 0);
	}
	pthread_mutex_unlock(&desk->lock);
	if (is_new)
		rest_wake(desk->client);
}

void table_desk_make_daily(struct table_desk *desk, size_t number)
{
	pthread_mutex_lock(&desk->lock);
	desk->tables[number]->is_daily = true;
	pthread_mutex_unlock(&desk->lock);
}

void table_desk_expect(struct table_desk *desk, size_t number)
{
	pthread_mutex_lock(&desk->lock);
	desk->tables[number]->is_expected = true;
	pthread_mutex_unlock(&desk->lock);
}

void table_desk_doubt(struct table_desk *desk, size_t number)
{
	pthread_mutex_lock(&desk->lock);
	struct desk_table *table = desk->tables[number];

	if (table->wanted && table->view.state == TABLE_READY) {
		desk_state(desk, table, TABLE_ASKING, NULL, 0);
		table->is_doubted = true;
		desk_step(table, STEP_GET, 0);
	}
	pthread_mutex_unlock(&desk->lock);
	rest_wake(desk->client);
}

void table_desk_look(struct table_desk *desk, size_t number, struct table_view *out)
{
	pthread_mutex_lock(&desk->lock);
	*out = desk->tables[number]->view;
	pthread_mutex_unlock(&desk->lock);
}

struct table_column *table_desk_columns(struct table_desk *desk, size_t number, struct arena *arena, size_t *out_count,
                                        uint64_t *out_version)
{
	struct table_column *columns;

	pthread_mutex_lock(&desk->lock);
	columns = columns_of_json(desk->tables[number]->fields, arena, out_count);
	*out_version = desk->tables[number]->view.columns_version;
	pthread_mutex_unlock(&desk->lock);
	return columns;
}

bool table_desk_wait(struct table_desk *desk, uint64_t *inout_seen, int64_t until_ms)
{
	struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
	bool has_news;

	pthread_mutex_lock(&desk->lock);
	while (desk->changes == *inout_seen && pthread_cond_timedwait(&desk->news, &desk->lock, &until) == 0)
		;
	has_news = desk->changes != *inout_seen;
	*inout_seen = desk->changes;
	pthread_mutex_unlock(&desk->lock);
	return has_news;
}

/* An error of the same code goes on since it began: its words may differ in a request's number. */
void desk_state(struct table_desk *desk, struct desk_table *table, enum table_state state, const struct error *error, int64_t next_ms)
{
	struct table_view *view = &table->view;
	bool is_same = view->state == state && (!error || strcmp(view->error.code, error->code) == 0);
	size_t number = 0;

	view->state = state;
	view->next_ms = next_ms;
	if (error)
		view->error = *error;
	if (state == TABLE_READY || state == TABLE_DIFFERS)
		memset(&view->error, 0, sizeof(view->error));
	if (is_same && view->since_ms)
		return;
	view->since_ms = clock_mono_ms();
	desk->changes++;
	pthread_cond_broadcast(&desk->news);
	while (desk->tables[number] != table)
		number++;
	if (desk->on_change)
		desk->on_change(desk->context, number);
}

void desk_step(struct desk_table *table, enum desk_step step, int64_t due_ms)
{
	table->step = step;
	table->due_ms = due_ms;
}

/* Begins what is due; gives the time of what comes next. */
static int64_t begin_due(struct table_desk *desk)
{
	int64_t next_ms = INT64_MAX;

	for (size_t i = 0; i < desk->count; i++) {
		struct desk_table *table = desk->tables[i];

		if (table->look)
			settle_look(desk, table);
		if (!table->call && !table->look && table->step != STEP_NONE && table->due_ms <= clock_mono_ms())
			desk_begin(desk, i);
		if (!table->call && !table->look && table->step != STEP_NONE && table->due_ms < next_ms)
			next_ms = table->due_ms;
	}
	return next_ms;
}

static struct desk_table *table_of(struct table_desk *desk, const struct rest_call *call)
{
	for (size_t i = 0; i < desk->count; i++) {
		if (desk->tables[i]->call == call)
			return desk->tables[i];
	}
	return NULL;
}

/* The result tells the credentials, which have a lock of their own: not under ours. */
static void call_ended(struct table_desk *desk, struct rest_call *call)
{
	struct rest_answer answer = { .status = 0 };
	struct error error = { .kind = ERROR_NONE };
	bool is_again = false, is_fine;

	pthread_mutex_lock(&desk->lock);
	struct desk_table *table = table_of(desk, call);

	pthread_mutex_unlock(&desk->lock);
	is_fine = google_rest_result(desk->google, call, table->token, &answer, &is_again, &error);
	pthread_mutex_lock(&desk->lock);
	desk_answer(desk, table, &answer, is_fine, is_again, &error);
	table->call = NULL;
	pthread_mutex_unlock(&desk->lock);
	rest_call_free(call);
}

static void *desk_run(void *context)
{
	struct table_desk *desk = context;

	for (;;) {
		int64_t next_ms, now_ms, wait_ms;
		struct rest_call *call;

		pthread_mutex_lock(&desk->lock);
		if (desk->is_closing)
			break;
		next_ms = begin_due(desk);
		pthread_mutex_unlock(&desk->lock);
		now_ms = clock_mono_ms();
		/* Not for ever: without a call under way rest_wait would come back at once, and again. rest_wake ends it. */
		wait_ms = next_ms == INT64_MAX ? DESK_REST_MS : next_ms > now_ms ? next_ms - now_ms : 0;
		call = rest_wait(desk->client, wait_ms);
		if (call)
			call_ended(desk, call);
	}
	pthread_mutex_unlock(&desk->lock);
	return NULL;
}
