/*
 * Calls of AppendRows. Tables of one location share one; a table whose request may
 * have ended the shared one gets its own, so that what is wrong with it ends
 * nobody else's.
 */
#include "sink/bigquery_append_private.h"

#include "base/clock.h"

#include <stdlib.h>

#define APPEND_PATH "/google.cloud.bigquery.storage.v1.BigQueryWrite/AppendRows"

/* A value of x-goog-request-params, percent-encoded as Google's clients do. */
void params_encode(struct text *out, const char *value)
{
	for (; *value; value++) {
		bool is_plain = strchr("-._~", *value) || (*value >= '0' && *value <= '9') || (*value >= 'a' && *value <= 'z') ||
		                (*value >= 'A' && *value <= 'Z');

		if (is_plain)
			text_add_char(out, *value);
		else
			text_add_format(out, "%%%02X", (unsigned char)*value);
	}
}

/* The key of a shared one is its location: "projects/p/locations/EU". */
static void key_of(struct append *append, const struct request *request, struct text *out)
{
	const struct bigquery_table *table = request->part->table;
	struct table_view view;

	if (request->stream) {
		text_add(out, exactly_stream(request->stream));
		return;
	}
	table_desk_look(append->sink->desk, table->desk_number, &view);
	if (request->goes_alone || table->trouble.was_tried || table->alone_until_ms > clock_mono_ms() || !*view.location)
		text_add_format(out, "%s/streams/_default", table->path);
	else
		text_add_format(out, "projects/%s/locations/%s", append->sink->project, view.location);
}

static bool is_shared(const char *key)
{
	return strstr(key, "/locations/") && !strstr(key, "/tables/");
}

static struct connection *connection_open(struct append *append, const char *key)
{
	struct connection *connection = memory_zalloc(sizeof(*connection));
	OWNED(text) params = text_new(8192);
	struct grpc_request request = { .path = APPEND_PATH, .unsent_bytes = APPEND_UNSENT_BYTES, .on_ready = bigquery_ring,
	                                .context = append->sink };

	text_add(params, is_shared(key) ? "write_location=" : "write_stream=");
	params_encode(params, key);
	connection->call = google_start(append->sink->google, SERVICE_BIGQUERY_STORAGE, &request, params->at, &connection->token,
	                                &append->whole);
	if (!connection->call) {
		free(connection);
		return NULL;
	}
	connection->key = memory_string(key);
	list_clear(&connection->sent);
	connection->next = append->connections;
	append->connections = connection;
	return connection;
}

static struct connection *connection_find(struct append *append, const struct request *request)
{
	OWNED(text) key = text_new(4096);

	key_of(append, request, key);
	for (struct connection *c = append->connections; c; c = c->next) {
		if (strcmp(c->key, key->at) == 0)
			return c;
	}
	return connection_open(append, key->at);
}

/* Once that it works, and once that it is over. */
static void tell_token(struct append *append, struct connection *connection, enum grpc_code code)
{
	if (!connection->is_told || code == GRPC_UNAUTHENTICATED)
		google_ended(append->sink->google, connection->token, code);
	connection->is_told = true;
}

void append_connection_leave(struct append *append, struct connection *connection)
{
	struct connection **at = &append->connections;

	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
}

void append_connection_free(struct connection *connection)
{
	grpc_call_free(connection->call);
	free(connection->key);
	free(connection);
}

void connection_drop(struct append *append, struct connection *connection)
{
	append_connection_leave(append, connection);
	while (connection->sent.first) {
		struct request *request = list_take(&connection->sent, &connection->sent.first);

		request->on = NULL;
		sink_figures_lost(append->sink->figures);
		list_put(&append->waiting, request);
	}
	append_connection_free(connection);
}

void connections_drop_busy(struct append *append)
{
	struct connection *next;

	for (struct connection *c = append->connections; c; c = next) {
		next = c->next;
		if (c->sent.first)
			connection_drop(append, c);
	}
}

bool connection_send(struct append *append, struct request *request)
{
	struct connection *connection = connection_find(append, request);
	bool has_schema;
	enum grpc_outcome outcome;

	if (!connection)
		return false;
	has_schema = request->wants_schema || connection->shape_version != request->part->shape_version;
	outcome = grpc_send_made(connection->call, request_message(append, request, has_schema), false, 0);
	/* No room; or it had worked and was closed since, as idle ones are: the next look drops it. */
	if (outcome == GRPC_TIMEOUT || (outcome == GRPC_ENDED && connection->is_told))
		return true;
	request->on = connection;
	request->had_schema = has_schema;
	request->sent_ms = clock_mono_ms();
	request->number = request->part->table->doubt.sends++;
	connection->shape_version = request->part->shape_version;
	list_put(&connection->sent, request);
	append->requests++;
	atomic_fetch_add(&append->sink->figures->requests, 1);
	atomic_fetch_add(&append->sink->figures->bytes, request->bytes);
	return true;
}

/* One that was closed while nothing was on its way (idle for ten minutes, a server that goes) is no failure. */
static void connection_over(struct append *append, struct connection *connection)
{
	struct grpc_result result = grpc_result(connection->call);

	if (result.http_status || result.code == GRPC_OK)
		tell_token(append, connection, result.code);
	if (connection->sent.first)
		answer_ended(append, connection);
	connection_drop(append, connection);
}

bool connections_receive(struct append *append)
{
	struct connection *next;
	bool has_come = false;

	for (struct connection *c = append->connections; c; c = next) {
		struct grpc_message *message;
		enum grpc_outcome outcome;

		next = c->next;
		while ((outcome = grpc_receive(c->call, &message, 0)) == GRPC_DONE) {
			tell_token(append, c, GRPC_OK);
			append->answers++;
			answer_read(append, c, span_make(message->bytes, message->len));
			grpc_message_free(message);
			has_come = true;
		}
		has_come = has_come || outcome == GRPC_ENDED;
		if (outcome == GRPC_ENDED)
			connection_over(append, c);
	}
	return has_come;
}
