/* The loop and the promise: fill, write, commit, in an order that survives a kill between any two steps. */
#include "pipeline/pipeline.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/crash.h"
#include "dlq/dlq.h"
#include "pipeline/doing.h"
#include "pipeline/measure_private.h"
#include "pipeline/pipeline_private.h"
#include "pipeline/witness.h"
#include "record/kept.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#define REMEMBER_MS 1000
#define PARK_MANY 100 /* messages, from which on their sums are stored together */

const char *pipeline_dataset(const struct job_options *options)
{
	return options->replication_mode == REPLICATION_CHANGELOG ? options->change_log_dataset : options->replica_dataset;
}

void pipeline_name_table(const struct job_options *options, const struct table_schema *schema, struct text *out)
{
	text_add_span(out, schema->dataset.len ? schema->dataset : span_of(pipeline_dataset(options)));
	text_add_char(out, '.');
	text_add_span(out, schema->name);
}

/*
 * The reader's half
 */

/* What killed the process is not tried again by itself; a replay is somebody's wish. */
static bool set_aside(struct pipeline *p, struct batch *batch, struct message *message)
{
	const struct span none = SPAN("");

	if (message->letter || !doing_is_poison(p->doing, message))
		return false;
	message_refuse(batch, message, "decode", "poison_message", none, none,
	               "weir died while it read this message, so it is set aside");
	return true;
}

/* Tests have a message that kills: WEIR_POISON=SIGNAL:TEXT, of one whose body contains TEXT. */
static void be_killed(const struct message *message)
{
#ifdef WEIR_TEST_SWITCHES
	const char *wish = getenv("WEIR_POISON"), *text = wish ? strchr(wish, ':') : NULL;

	if (text && message->body.len && memmem(message->body.at, message->body.len, text + 1, strlen(text + 1)))
		raise((int)strtol(wish, NULL, 10));
#else
	(void)message;
#endif
}

/* The clock is asked once in a while: it is not free at a million messages a second. */
void pipeline_take_message(struct pipeline *p, struct batch *batch)
{
	struct message *message = &batch->messages[batch->message_count - 1];

	if (batch->message_count % 64 == 1)
		p->received_us = clock_utc_us();
	message->received_us = p->received_us;
	if (message->letter && !kept_unpack(batch, message))
		message_refuse(batch, message, "decode", "state_damaged", (struct span){ 0 }, (struct span){ 0 },
		               "what a schema change does to rows was kept with the letter, and is damaged");
	if (message->fate == MESSAGE_OPEN && !set_aside(p, batch, message)) {
		doing_begin(p->doing, message);
		be_killed(message);
		p->transform->ops->apply(p->transform, batch, message);
		doing_done(p->doing);
	}
	message->json = NULL;
}

/* Tests shrink a batch, so that small feeds meet every edge between two of them. */
bool pipeline_is_full(const struct pipeline *p, const struct batch *batch)
{
#ifdef WEIR_TEST_SWITCHES
	const char *limit = getenv("WEIR_BATCH_RECORDS");

	if (limit && batch->message_count >= strtoul(limit, NULL, 10))
		return true;
#endif
	if (p->batch_messages && batch->message_count >= p->batch_messages)
		return true;
	return batch_is_full(batch);
}

static bool has_aged(const struct batch *batch)
{
	return batch->message_count % 64 == 0 && clock_mono_ms() - batch->opened_ms >= BATCH_AGE_MS;
}

bool pipeline_fill(struct pipeline *p, struct batch *batch, int64_t until_ms, struct error *err)
{
	progress_do(p->progress, THREAD_READER, ACTIVITY_READING, 0);
	batch->has_more = true;
	while (!pipeline_is_full(p, batch)) {
		switch (p->source->ops->pull(p->source, batch, until_ms, err)) {
		case PULLED_MESSAGE:
			if (batch->message_count == 1) {
				batch->opened_ms = clock_mono_ms();
				until_ms = batch->opened_ms + BATCH_AGE_MS;
			}
			pipeline_take_message(p, batch);
			if (has_aged(batch))
				goto filled;
			break;
		case PULLED_END:
			batch->is_last = true;
			batch->has_more = false;
			progress_idle(p->progress);
			goto filled;
		case PULLED_NOTHING:
			batch->has_more = false;
			progress_idle(p->progress);
			goto filled;
		case PULLED_FAILED:
			return false;
		}
	}
filled:
	p->source->ops->mark(p->source, batch);
	if (p->transform->ops->finish)
		p->transform->ops->finish(p->transform, batch);
	if (batch->message_count) {
		batch->fill = ++p->fills;
		progress_do(p->progress, THREAD_READER, ACTIVITY_HANDING_ON, 0);
	}
	crash_point(batch_read);
	return true;
}

/*
 * The writer's half
 */

const struct refusal *pipeline_first_refusal(const struct batch *batch, const struct message *message,
                                             enum verdict verdict)
{
	for (uint32_t i = 0; i < message->record_count; i++) {
		const struct record *record = &batch->records[message->first_record + i];

		if (record->verdict == verdict)
			return record->refusal;
	}
	return NULL;
}

/* What the sink decided shows on the message too: the first refused record is its reason. */
static bool is_letter(const struct batch *batch, struct message *message)
{
	const struct refusal *refusal;

	if (message->fate == MESSAGE_REFUSED)
		return true;
	if (message->fate == MESSAGE_HELD)
		return false;
	refusal = pipeline_first_refusal(batch, message, VERDICT_REFUSED);
	if (refusal)
		message->refusal = refusal;
	return refusal != NULL;
}

const char *pipeline_table_name(const struct pipeline *p, uint32_t table)
{
	return table < p->table_count ? p->table_names[table] : "-";
}

/* Parking has a limit: beyond it the job stops instead of losing anything. Asked once a batch. */
static bool park_has_room(struct pipeline *p, struct error *err)
{
	uint64_t count, bytes;

	if (!dlq_parked(p->dlq, NULL, &count, &bytes, err))
		return false;
	if (bytes <= (uint64_t)p->options->park_bytes)
		return true;
	return fail(err, ERROR_CONFIG, "park_full", "%" PRIu64 " parked messages hold more than parkBytes (%" PRId64 ")",
	            count, p->options->park_bytes);
}

bool pipeline_keep_letter(struct pipeline *p, const struct batch *batch, struct message *message, struct error *err)
{
	message->kept = kept_pack(batch, message, VERDICT_REFUSED);
	return dlq_keep(p->dlq, batch, message, pipeline_table_name(p, message->table), err);
}

/* It came back from parking, so it lies there still. */
static bool is_stored(const struct message *message)
{
	return message->origin && !message->letter;
}

/* What of a batch is to be parked. */
struct parking {
	size_t count;
	const struct message *first, *last;
};

/* A letter is kept; what is to be parked is counted. */
static bool store_letter(struct pipeline *p, const struct batch *batch, struct message *message, bool *is_open,
                         struct parking *parking, struct error *err)
{
	bool letter = is_letter(batch, message);

	if (!letter && (is_stored(message) || !pipeline_why_parked(batch, message)))
		return true;
	if (!*is_open && !dlq_begin(p->dlq, err))
		return false;
	*is_open = true;
	if (!letter && !parking->count++)
		parking->first = message;
	if (!letter)
		parking->last = message;
	return !letter || pipeline_keep_letter(p, batch, message, err);
}

/* It is parked already, from an earlier delivery, so this one is in no destination of its own: a repeat. */
static void count_as_repeat(struct batch *batch, struct message *message)
{
	if (message->fate == MESSAGE_HELD)
		message->fate = MESSAGE_FILTERED;
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (batch->records[message->first_record + i].verdict == VERDICT_PARKED)
			batch->records[message->first_record + i].verdict = VERDICT_REPEATED;
	}
}

static bool store_parked(struct pipeline *p, struct batch *batch, const struct parking *parking, struct error *err)
{
	bool is_fine = true, is_twin;

	if (!parking->count)
		return true;
	if (!dlq_park_begin(p->dlq, parking->first, parking->last, parking->count >= PARK_MANY, err))
		return false;
	for (size_t i = 0; is_fine && i < batch->message_count; i++) {
		struct message *message = &batch->messages[i];
		const struct refusal *why = is_letter(batch, message) ? NULL : pipeline_why_parked(batch, message);

		if (!why || is_stored(message))
			continue;
		message->kept = kept_pack(batch, message, VERDICT_PARKED);
		is_fine = dlq_park(p->dlq, message, pipeline_table_name(p, message->table), why, &is_twin, err);
		if (is_fine && is_twin)
			count_as_repeat(batch, message);
	}
	return is_fine && dlq_park_end(p->dlq, err);
}

static const struct message *change_message(const struct batch *batch, const struct schema_change *change)
{
	if (change->message != MESSAGE_NONE)
		return &batch->messages[change->message];
	return change->before < batch->record_count ? &batch->messages[batch->records[change->before].message] : NULL;
}

bool pipeline_store_timeline(struct pipeline *p, const struct batch *batch, struct error *err)
{
	for (const struct schema_change *c = batch->changes; c; c = c->next) {
		if (c->why && !*c->why) /* nothing that anybody should see */
			continue;
		if (!dlq_schema_changed(p->dlq, pipeline_table_name(p, c->table), c, change_message(batch, c), err))
			return false;
	}
	return true;
}

bool pipeline_store_notes(struct pipeline *p, const struct batch *batch, struct error *err)
{
	for (const struct batch_note *n = batch->notes; n; n = n->next) {
		/* What is parked is noted when it comes back, or each value would count twice. */
		if (n->table < p->table_count && p->are_paused[n->table])
			continue;
		if (!dlq_note(p->dlq, pipeline_table_name(p, n->table), n->column, n->code, n->count, n->text, err))
			return false;
	}
	return true;
}

static bool store_changes(struct pipeline *p, const struct batch *batch, bool *is_open, struct error *err)
{
	if ((batch->changes || batch->notes) && !*is_open) {
		if (!dlq_begin(p->dlq, err))
			return false;
		*is_open = true;
	}
	return pipeline_store_timeline(p, batch, err) &&
	       (!batch->notes || dlq_notes_begin(p->dlq, pipeline_notes_place(&batch->end), err)) &&
	       pipeline_store_notes(p, batch, err);
}

/* Letters, parked messages, timeline: one transaction of the job's own store, before the rows commit. After a crash
 * between the two a message is met again and stored once; it can never be forgotten. */
static bool store_letters(struct pipeline *p, struct batch *batch, struct error *err)
{
	bool is_open = false, is_fine = true;
	struct parking parking = { 0 };

	for (size_t i = 0; is_fine && i < batch->message_count; i++)
		is_fine = store_letter(p, batch, &batch->messages[i], &is_open, &parking, err);
	is_fine = is_fine && store_parked(p, batch, &parking, err) && store_changes(p, batch, &is_open, err) &&
	          (!parking.count || park_has_room(p, err));
	if (!is_open)
		return is_fine;
	crash_point(letters_written);
	if (!is_fine || !dlq_commit(p->dlq, err)) {
		dlq_rollback(p->dlq);
		return because(err, "storing dead letters of batch %" PRIu64, batch->number);
	}
	crash_point(letters_committed);
	if (parking.count)
		crash_point(parked_committed);
	return true;
}

void pipeline_learn_tables(struct pipeline *p, const struct batch *batch)
{
	for (const struct schema_change *c = batch->changes; c; c = c->next) {
		if (c->schema)
			pipeline_learn_table(p, c->table, c->schema);
	}
}

static bool count_batch(struct pipeline *p, const struct batch *batch,
                        void (*adjust)(struct pipeline *p, struct ledger *added), struct ledger *out_sum,
                        struct error *err)
{
	*out_sum = (struct ledger){ 0 };
	memset(p->added, 0, (p->table_count + 1) * sizeof(*p->added));
	if (!ledger_count(p->added, p->table_count, batch))
		return fail(err, ERROR_BUG, "ledger_mismatch", "batch %" PRIu64 " has a record without a verdict",
		            batch->number);
	if (adjust)
		adjust(p, p->added);
	for (size_t i = 0; i <= p->table_count; i++)
		ledger_add(out_sum, &p->added[i]);
	return true;
}

static bool write_once(struct pipeline *p, struct batch *batch,
                       void (*adjust)(struct pipeline *p, struct ledger *added), struct ledger *out_sum,
                       struct error *err)
{
	pipeline_learn_tables(p, batch);
	pipeline_hold_paused(p, batch);
	if (!p->sink->ops->write(p->sink, batch, err))
		return false;
	pipeline_keep_parked(batch);
	return store_letters(p, batch, err) && count_batch(p, batch, adjust, out_sum, err) &&
	       p->sink->ops->commit(p->sink, &batch->end, p->added, p->table_count, err);
}

/* Verdicts before the sink had a say, so that a batch that failed as a whole can be written again. */
uint8_t *pipeline_keep_verdicts(const struct batch *batch)
{
	uint8_t *kept = arena_alloc(batch->arena, batch->record_count + 1);

	for (size_t i = 0; i < batch->record_count; i++)
		kept[i] = (uint8_t)batch->records[i].verdict;
	return kept;
}

void pipeline_restore_verdicts(struct batch *batch, const uint8_t *kept)
{
	for (size_t i = 0; i < batch->record_count; i++)
		batch->records[i].verdict = (enum verdict)kept[i];
}

void pipeline_remember(struct pipeline *p, bool is_now)
{
	int64_t now_ms = clock_mono_ms();
	struct sink_state state;
	struct error ignored = { 0 };

	if (!p->has_news || (!is_now && p->remembered_ms && now_ms - p->remembered_ms < REMEMBER_MS))
		return;
	p->sink->ops->state(p->sink, &state);
	if (!witness_keep_commits(p->dlq, p->options, state.commits, &ignored))
		return;
	p->has_news = false;
	p->remembered_ms = now_ms;
}

bool pipeline_write_rows(struct pipeline *p, struct batch *batch,
                         void (*adjust)(struct pipeline *p, struct ledger *added), struct ledger *out_sum,
                         struct error *err)
{
	uint8_t *kept = pipeline_keep_verdicts(batch);

	batch->number = p->next_batch;
	if (!write_once(p, batch, adjust, out_sum, err)) {
		p->sink->ops->rollback(p->sink);
		pipeline_restore_verdicts(batch, kept);
		return false;
	}
	p->next_batch++;
	p->has_news = true;
	pipeline_remember(p, false);
	return true;
}

bool pipeline_write(struct pipeline *p, struct batch *batch, struct error *err)
{
	struct ledger sum;
	struct batch_times times;

	/* A batch that was left out must be the last: its messages would be confirmed by the next one's position. */
	if (batch->message_count && batch->fill != p->writes + 1)
		return fail(err, ERROR_BUG, "ledger_mismatch", "batch %" PRIu64 " of the source is to be written after batch %"
		            PRIu64, batch->fill, p->writes);
	progress_do(p->progress, THREAD_WRITER, ACTIVITY_WRITING, p->next_batch);
	if (!pipeline_write_rows(p, batch, NULL, &sum, err))
		return false;
	p->writes = batch->message_count ? batch->fill : p->writes;
	ledger_add(&p->total, &sum);
	measure_batch(p->measure, batch, p->table_count, &sum, &times);
	progress_committed(p->progress, &sum, p->added, p->table_count, &times);
	progress_do(p->progress, THREAD_WRITER, ACTIVITY_EXPECTING, 0);
	return true;
}
