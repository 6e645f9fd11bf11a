/* What a job has of Google (google.h): calls that carry a token, and the second try of one that was not taken. */
#include "drive.h"

#include "base/arena.h"
#include "google/google.h"

#include <stdlib.h>

/* fault=: of the echo service. Where the service leads the environment says. */
static void call_grpc(struct google *google, json_t *said)
{
	struct grpc_pair metadata[2];
	struct grpc_request request = request_for("/weir.test.Echo/Unary", metadata, given("fault"), given("id"));
	struct grpc_message *answer = NULL;
	struct google_status status;
	struct error err = { 0 };
	OWNED(text) message = text_new(100);
	bool is_fine;

	value_put(message, SPAN("there and back"));
	is_fine = google_unary(google, SERVICE_PUBSUB, &request, "subscription=projects/p/subscriptions/s", "test call",
	                       span_make(message->at, message->len), &answer, &status, &err);
	json_object_set_new(said, "grpc", json_pack("{s:b, s:s, s:i}", "fine", is_fine, "code", err.code, "status", (int)status.code));
	grpc_message_free(answer);
}

/* path=: of the server of REST. */
static void call_rest(struct google *google, json_t *said)
{
	struct rest_setup setup = { .ca_file = given("ca"), .proxy = "" };
	struct rest_client *client = rest_open(&setup, NULL);
	struct rest_request request = { .what = "test call", .url = given("path"), .try_count_max = 1 };
	struct rest_call *call = NULL;
	struct rest_answer answer = { 0 };
	struct error err = { 0 };
	bool is_fine = google_rest(google, client, SERVICE_BIGQUERY, &request, &call, &answer, &err);

	json_object_set_new(said, "rest", json_pack("{s:b, s:s, s:i, s:o*}", "fine", is_fine, "code", err.code, "status",
	                                            answer.status, "body", json_loadb(answer.body.at, answer.body.len, 0, NULL)));
	rest_call_free(call);
	rest_close(client);
}

/* file= (credentials), ca=, fault=, path=. */
static json_t *job(void)
{
	static const char *const allowed[] = { "127.0.0.1", NULL };
	struct google_setup setup = { .credentials_file = given("file"), .ca_file = given("ca"), .allowed_hosts = allowed };
	struct google *google = google_open(&setup);
	struct credentials_view view = { 0 };
	json_t *said = json_object();

	call_grpc(google, said);
	if (given("path"))
		call_rest(google, said);
	json_object_set_new(said, "emulated", json_boolean(google_is_emulated(google, SERVICE_PUBSUB)));
	json_object_set_new(said, "needed", json_boolean(google_look(google, &view)));
	json_object_set_new(said, "fetches", json_integer((json_int_t)view.fetches));
	google_close(google);
	return said;
}

const struct scenario job_scenarios[] = { { "job", job }, { NULL, NULL } };
