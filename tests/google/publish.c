/* The publisher (core/source/publisher.h) as a caller uses it: two ordering keys, one of which may come to be paused, and go on. */
#include "drive.h"

#include "base/arena.h"
#include "google/google.h"
#include "source/publisher.h"

#define FLUSH_MS 30000
#define BATCH 10

struct told {
	int64_t published, failed;
	json_t *codes;      /* why, each once */
};

static void on_done(void *context, uint64_t tag, struct span id, const struct error *why)
{
	struct told *told = context;

	(void)tag;
	must(!why == (id.len > 0), "a message is published as an id, or it is told why not");
	told->published += !why;
	told->failed += why != NULL;
	if (why)
		json_object_set_new(told->codes, why->code, json_true());
}

/* The code with which it is refused; "" if it is taken. */
static const char *add(struct publisher *publisher, int64_t number, struct error *why)
{
	char text[32];
	struct publish_message message = { .ordering_key = number % 2 ? SPAN("odd") : SPAN("even"), .tag = (uint64_t)number };

	snprintf(text, sizeof(text), "%lld", (long long)number);
	message.data = span_of(text);
	*why = (struct error){ 0 };
	must(publisher_add(publisher, &message, FLUSH_MS, why) != PUBLISH_FULL, "there was no room for message %s", text);
	return why->code;
}

/* topic=, count=: numbers in order, even and odd ones under a key each; two more at once; and two behind publisher_resume. */
static json_t *publish(void)
{
	struct google_setup google_setup = { .project = "acme" };
	struct google *google = google_open(&google_setup);
	struct told told = { .codes = json_object() };
	struct publisher_setup setup = { .google = google, .topic = given("topic"), .batch_messages = BATCH, .on_done = on_done,
		                         .context = &told };
	struct publisher *publisher = publisher_open(&setup, NULL);
	int64_t count = given_number("count", 100), number = 0;
	json_t *said = json_object(), *refused = json_array();
	struct error why;

	while (number < count)
		add(publisher, number++, &why);
	must(publisher_flush(publisher, FLUSH_MS), "not all was told of");
	for (int i = 0; i < 2; i++)
		json_array_append_new(refused, json_string(add(publisher, number++, &why)));
	publisher_resume(publisher, SPAN("even"));
	publisher_resume(publisher, SPAN("odd"));
	for (int i = 0; i < 2; i++)
		must(!*add(publisher, number++, &why), "a key that was resumed is refused: %s", why.code);
	must(publisher_flush(publisher, FLUSH_MS), "not all was told of");
	json_object_set_new(said, "retries", json_integer((json_int_t)publisher_counts(publisher).retries));
	publisher_close(publisher);
	google_close(google);
	json_object_set_new(said, "published", json_integer(told.published));
	json_object_set_new(said, "failed", json_integer(told.failed));
	json_object_set_new(said, "codes", told.codes);
	json_object_set_new(said, "refused", refused);
	return said;
}

const struct scenario publish_scenarios[] = { { "publish", publish }, { NULL, NULL } };
