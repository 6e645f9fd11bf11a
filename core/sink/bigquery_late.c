/*
 * Answers that are late. BigQuery may be slow without having lost anything (Google's
 * own clients wait for minutes), and rows of the default stream that are sent again
 * are there twice. So a silent table's rows are parked, that no other waits for it,
 * and its call is listened to: what was taken after all is not sent when the rows
 * come back.
 */
#include "sink/bigquery_append_private.h"

#include "base/clock.h"

#include <stdlib.h>

#define LATE_MOST_MS 60000 /* then it is taken for lost, and sent again */

struct late_request {
	struct late_request *next;
	struct bigquery_table *table;
	struct place *places;
	size_t count;
	int64_t sent_ms;
};

struct late {
	struct late *next;
	struct connection *connection;
	struct late_request *first; /* in the order of their sending */
};

static int64_t late_most_ms(void)
{
#ifdef WEIR_TEST_SWITCHES
	const char *wish = getenv("WEIR_LATE_MS");

	if (wish)
		return strtoll(wish, NULL, 10);
#endif
	return LATE_MOST_MS;
}

/*
 * What has landed
 */

static void landed_add(struct bigquery_table *table, const struct late_request *request)
{
	table->landed = memory_grow(table->landed, (table->landed_count + request->count) * sizeof(*table->landed));
	memcpy(table->landed + table->landed_count, request->places, request->count * sizeof(*table->landed));
	table->landed_count += request->count;
	qsort(table->landed, table->landed_count, sizeof(*table->landed), place_compare);
}

bool late_has_landed(struct append *append, struct bigquery_part *part, uint32_t record)
{
	struct bigquery_table *table = part->table;
	struct place place = place_of(append, record);
	struct place *found = bsearch(&place, table->landed, table->landed_count, sizeof(place), place_compare);

	if (!found)
		return false;
	memmove(found, found + 1, (size_t)(table->landed + --table->landed_count - found) * sizeof(*found));
	return true;
}

/*
 * Waiting
 */

static void tell_waiting(const struct request *request)
{
	struct bigquery_table *table = request->part->table;
	struct error why = { 0 };
	char since[CLOCK_TEXT_BYTES];

	table->unanswered++;
	if (table->trouble.is_there)
		return;
	clock_text(clock_utc_us() - (clock_mono_ms() - request->sent_ms) * 1000, since);
	fail(&why, ERROR_TRANSIENT, "google_timeout", "rows to BigQuery: waiting for an answer since %.8sZ", since + 11);
	bigquery_trouble(table, false, false, &why);
	table->trouble.next_ms = request->sent_ms + late_most_ms();
}

static struct late_request *late_of(const struct append *append, const struct request *request)
{
	struct late_request *late = memory_zalloc(sizeof(*late));

	*late = (struct late_request){ .table = request->part->table, .count = request->count, .sent_ms = request->sent_ms,
	                               .places = memory_alloc((request->count + 1) * sizeof(*late->places)) };
	for (size_t i = 0; i < request->count; i++)
		late->places[i] = place_of(append, request->records[i]);
	return late;
}

void late_begin(struct append *append, struct connection *connection)
{
	struct late *late = memory_zalloc(sizeof(*late));
	struct late_request **end = &late->first;

	connection->sent.first->part->table->alone_until_ms = clock_mono_ms() + ALONE_MS;
	append_connection_leave(append, connection);
	while (connection->sent.first) {
		struct request *request = list_take(&connection->sent, &connection->sent.first);

		*end = late_of(append, request);
		end = &(*end)->next;
		tell_waiting(request);
	}
	late->connection = connection;
	late->next = append->late;
	append->late = late;
}

/* Its rows come back when none of the table's is missing. */
static void request_over(struct late_request **at)
{
	struct late_request *request = *at;
	struct bigquery_table *table = request->table;

	*at = request->next;
	if (--table->unanswered == 0)
		table->trouble.next_ms = clock_mono_ms();
	free(request->places);
	free(request);
}

static void give_up(struct append *append, struct late_request **at)
{
	sink_figures_lost(append->sink->figures);
	request_over(at);
}

static void answer_take(struct append *append, struct late *late, struct span message)
{
	struct response response = response_look(message);
	struct late_request **at = &late->first;
	bool is_taken = !response.has_error && !response.has_row_errors;

	while (*at && !response_is_of(&response, (*at)->table))
		at = &(*at)->next;
	if (!*at)
		return;
	sink_figures_answered(append->sink->figures, is_taken ? (*at)->count : 0);
	if (is_taken)
		landed_add((*at)->table, *at);
	request_over(at);
}

/* True: the call is over, and nobody will ever know. */
static bool answers_take(struct append *append, struct late *late)
{
	struct grpc_message *message;
	enum grpc_outcome outcome;

	while ((outcome = grpc_receive(late->connection->call, &message, 0)) == GRPC_DONE) {
		answer_take(append, late, span_make(message->bytes, message->len));
		grpc_message_free(message);
	}
	return outcome == GRPC_ENDED;
}

/* Those that wait only because another table's answer is missing in front of them. */
static void others_give_up(struct append *append, struct late *late, int64_t now_ms)
{
	const struct bigquery_table *silent = late->first ? late->first->table : NULL;
	struct late_request **at = &late->first;

	if (!silent || now_ms - late->first->sent_ms < SILENT_SHARED_MS)
		return;
	while (*at) {
		if ((*at)->table == silent)
			at = &(*at)->next;
		else
			give_up(append, at);
	}
}

void late_look(struct append *append)
{
	int64_t now_ms = clock_mono_ms();
	struct late **at = &append->late;

	while (*at) {
		struct late *late = *at;
		bool is_over = answers_take(append, late);

		others_give_up(append, late, now_ms);
		while (late->first && (is_over || now_ms - late->first->sent_ms >= late_most_ms()))
			give_up(append, &late->first);
		if (late->first) {
			at = &late->next;
			continue;
		}
		*at = late->next;
		append_connection_free(late->connection);
		free(late);
	}
}

void late_close(struct append *append)
{
	while (append->late) {
		struct late *late = append->late;

		append->late = late->next;
		while (late->first)
			give_up(append, &late->first);
		append_connection_free(late->connection);
		free(late);
	}
}
