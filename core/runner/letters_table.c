/*
 * Dead letters to a table of BigQuery (letters_out.c). What is to be sent stands in the store since the letter does, and is
 * taken out when BigQuery has it: a kill between the two sends it again, with the same id.
 */
#include "base/crash.h"
#include "dlq/dlq.h"
#include "google/google.h"
#include "runner/letters_out_private.h"
#include "sink/bigquery.h"
#include "sink/sink.h"

#include <stdlib.h>
#include <unistd.h>

#define PAGE_LETTERS 500
#define CALL_MS 15000

static void on_unfit(void *context, const struct letter_row *row, const char *why)
{
	letters_out_unfit(context, row->letter, why);
}

static bool add_piece(void *context, struct span piece)
{
	return text_add_span(context, piece);
}

/* A body that lies in a file of its own is read when it is sent; one that no row takes is left where it is. */
static void body_fetch(struct letters_out *out, struct dlq *dlq, const struct outbound_letter *letter, struct batch *batch)
{
	OWNED(text) body = text_new(BATCH_BYTES_MAX);
	struct error ignored = { 0 };

	if (!letter->message->big || !dlq_bytes(dlq, letter->letter, out->paths.big, add_piece, body, &ignored))
		return;
	letter->message->body = arena_copy(batch->arena, text_span(body));
}

static bool page_read(struct letters_out *out, struct dlq *dlq, struct batch *batch, struct letter_row *rows, size_t *out_count,
                      struct error *err)
{
	struct outbound_letter letter = { 0 };
	int64_t last = 0;

	for (*out_count = 0; *out_count < PAGE_LETTERS && arena_used(batch->arena) < BATCH_BYTES_MAX; last = letter.id) {
		struct letter_row *row = &rows[*out_count];

		if (!dlq_outbound_next(dlq, OUTBOUND_TABLE, last, batch, &letter, err))
			return false;
		if (!letter.id)
			break;
		body_fetch(out, dlq, &letter, batch);
		*row = (struct letter_row){ .message = letter.message, .stage = letter.stage, .code = letter.code, .text = letter.text,
		                            .source = letter.source, .id = letter.id, .letter = letter.letter, .published_us = letter.message->received_us };
		message_published(letter.message, &row->published_us);
		++*out_count;
	}
	return true;
}

/* *out_more: there may be others. */
static bool send_page(struct letters_out *out, struct dlq *dlq, const struct bigquery_asker *asker, const struct dead_letter_place *place,
                      bool *out_more)
{
	struct batch *batch = batch_new();
	struct letter_row *rows = arena_zalloc(batch->arena, PAGE_LETTERS * sizeof(*rows));
	char *dataset = memory_string_of(place->dataset);
	size_t count = 0, done = 0;
	bool is_fine = page_read(out, dlq, batch, rows, &count, &out->failure);

	*out_more = is_fine && count > 0;
	if (*out_more) {
		is_fine = bigquery_letters_put(asker, dataset, place->table, dlq_incarnation(dlq), rows, count, &done, on_unfit, out, &out->failure);
		crash_point(letters_in_table);
	}
	if (done)
		is_fine = dlq_outbound_done(dlq, OUTBOUND_TABLE, rows[done - 1].id, &out->failure) && is_fine;
	free(dataset);
	batch_free(batch);
	return is_fine;
}

static bool send_all(struct letters_out *out, struct dlq *dlq, const struct bigquery_asker *asker, const struct dead_letter_place *place)
{
	char *dataset = memory_string_of(place->dataset);
	bool is_fine = bigquery_letters_open(asker, dataset, place->table, &out->failure), has_more = true;

	free(dataset);
	while (is_fine && has_more)
		is_fine = send_page(out, dlq, asker, place, &has_more);
	return is_fine;
}

static bool ask_and_send(struct letters_out *out, struct dlq *dlq)
{
	struct rest_setup setup = { .ca_file = google_ca_file(out->setup->google) };
	struct bigquery_asker asker = { .google = out->setup->google, .wait_ms = CALL_MS };
	struct dead_letter_place place;
	char *project;
	bool is_fine;

	if (!job_options_letter_place(out->setup->options, &place))
		return true;
	project = place.project.len ? memory_string_of(place.project) : memory_string(google_project(out->setup->google));
	asker.project = project;
	if (!project)
		return fail(&out->failure, ERROR_CONFIG, "missing_parameter", "the job names no project, and the credentials have none");
	asker.client = rest_open(&setup, &out->failure);
	is_fine = asker.client && send_all(out, dlq, &asker, &place);
	rest_close(asker.client);
	free(project);
	return is_fine;
}

bool letters_table_round(struct letters_out *out)
{
	struct dlq *dlq;
	int64_t oldest_us = 0;
	bool is_fine;

	if (access(out->paths.store, F_OK) != 0)
		return true; /* no letter yet */
	dlq = dlq_open(out->paths.store, DLQ_WRITE, &out->failure);
	is_fine = dlq && dlq_outbound_oldest(dlq, OUTBOUND_TABLE, &oldest_us, &out->failure) && (!oldest_us || ask_and_send(out, dlq));
	dlq_close(dlq);
	return is_fine;
}
