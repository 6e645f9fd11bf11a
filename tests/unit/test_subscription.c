/* Names of Pub/Sub, and what GetSubscription says. */
#include "base/text.h"
#include "google/proto.h"
#include "source/subscription.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail

static bool full(enum pubsub_kind kind, const char *given, const char *project, char out[PUBSUB_NAME_BYTES])
{
	struct error err = { 0 };

	return pubsub_full_name(kind, span_of(given), project, out, &err);
}

static void test_short_names_get_the_project(void **state)
{
	char name[PUBSUB_NAME_BYTES];

	(void)state;
	assert_true(full(PUBSUB_SUBSCRIPTION, "orders-sub", "acme", name));
	assert_string_equal(name, "projects/acme/subscriptions/orders-sub");
	assert_true(full(PUBSUB_TOPIC, "orders", "example.com:shop", name));
	assert_string_equal(name, "projects/example.com:shop/topics/orders");
	assert_true(full(PUBSUB_SUBSCRIPTION, "projects/other/subscriptions/a.b~c+d%25", "acme", name));
	assert_string_equal(name, "projects/other/subscriptions/a.b~c+d%25");
}

static void test_what_pubsub_refuses_is_refused_here(void **state)
{
	static const char *const wrong[] = { "", "ab", "1abc", "goog-orders", "a b c", "orders/sub", "orders\xc3\xa9",
		                                 "projects/acme/topics/orders", "projects//subscriptions/orders",
		                                 "projects/a/b/subscriptions/orders", "projects/acme/subscriptions/" };
	char name[PUBSUB_NAME_BYTES], longest[258];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(full(PUBSUB_SUBSCRIPTION, wrong[i], "acme", name));
	memset(longest, 'a', sizeof(longest));
	longest[256] = '\0';
	assert_false(full(PUBSUB_SUBSCRIPTION, longest, "acme", name));
	longest[255] = '\0';
	assert_true(full(PUBSUB_SUBSCRIPTION, longest, "acme", name));
	assert_string_equal(pubsub_short_name(name), longest);
}

static void test_a_short_name_without_a_project_says_so(void **state)
{
	char name[PUBSUB_NAME_BYTES];
	struct error err = { 0 };

	(void)state;
	assert_false(pubsub_full_name(PUBSUB_SUBSCRIPTION, SPAN("orders"), NULL, name, &err));
	assert_string_equal(err.code, "project_missing");
	assert_true(full(PUBSUB_SUBSCRIPTION, "projects/acme/subscriptions/orders", NULL, name));
}

static void test_lists_are_read_whole_or_refused(void **state)
{
	struct pubsub_names names = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_true(pubsub_names_read(PUBSUB_SUBSCRIPTION, "one, projects/b/subscriptions/two ,six", "acme", &names, &err));
	assert_int_equal(names.count, 3);
	assert_string_equal(names.items[0], "projects/acme/subscriptions/one");
	assert_string_equal(names.items[1], "projects/b/subscriptions/two");
	assert_string_equal(names.items[2], "projects/acme/subscriptions/six");
	pubsub_names_free(&names);
	assert_false(pubsub_names_read(PUBSUB_SUBSCRIPTION, "one,projects/acme/subscriptions/one", "acme", &names, &err));
	assert_non_null(strstr(err.message, "twice"));
	assert_false(pubsub_names_read(PUBSUB_SUBSCRIPTION, "one,,two", "acme", &names, &err));
	assert_int_equal(names.count, 0);
	assert_true(pubsub_names_read(PUBSUB_SUBSCRIPTION, NULL, "acme", &names, &err));
	assert_int_equal(names.count, 0);
}

static void test_names_are_shown_short_in_their_own_project(void **state)
{
	OWNED(text) params = text_new(1000);

	(void)state;
	assert_string_equal(pubsub_shown_name("projects/acme/topics/orders", "acme"), "orders");
	assert_string_equal(pubsub_shown_name("projects/acme/topics/orders", "acm"), "projects/acme/topics/orders");
	assert_true(span_is(pubsub_project("projects/acme/topics/orders"), "acme"));
	assert_int_equal(pubsub_project("orders").len, 0);
	assert_true(pubsub_params(params, "topic", "projects/acme/topics/a+b%c"));
	assert_string_equal(params->at, "topic=projects/acme/topics/a%2Bb%25c");
}

static void put_duration(struct text *out, uint32_t number, int64_t seconds)
{
	size_t mark = proto_begin(out, number);

	proto_put_int(out, 1, seconds);
	proto_end(out, mark);
}

static void test_a_subscription_is_read_whole(void **state)
{
	OWNED(text) bytes = text_new(8192);
	struct subscription s;
	size_t mark;

	(void)state;
	proto_put_text(bytes, 1, "projects/acme/subscriptions/orders");
	proto_put_text(bytes, 2, "projects/acme/topics/orders");
	proto_put_int(bytes, 5, 60);
	proto_put_bool(bytes, 7, true);
	put_duration(bytes, 8, 600);
	proto_put_bool(bytes, 10, true);
	mark = proto_begin(bytes, 11);
	put_duration(bytes, 1, 86400);
	proto_end(bytes, mark);
	proto_put_text(bytes, 12, "attributes:table");
	mark = proto_begin(bytes, 13);
	proto_put_text(bytes, 1, "projects/acme/topics/dead");
	proto_end(bytes, mark);
	mark = proto_begin(bytes, 14);
	put_duration(bytes, 2, 60);
	proto_end(bytes, mark);
	proto_put_bool(bytes, 16, true);
	put_duration(bytes, 17, 3600);
	proto_put_int(bytes, 19, 2);
	assert_true(subscription_read(text_span(bytes), &s));
	assert_string_equal(s.name, "projects/acme/subscriptions/orders");
	assert_string_equal(s.topic, "projects/acme/topics/orders");
	assert_int_equal(s.ack_deadline_ms, 60000);
	assert_int_equal(s.retention_ms, 600000);
	assert_int_equal(s.topic_retention_ms, 3600000);
	assert_true(s.keeps_acked && s.is_ordered && s.is_exactly_once && s.has_retry_policy && !s.never_expires);
	assert_int_equal(s.expires_after_ms, 86400000);
	assert_string_equal(s.filter, "attributes:table");
	assert_string_equal(s.dead_letter_topic, "projects/acme/topics/dead");
	assert_int_equal(s.delivery_attempts_max, 5);
	assert_int_equal(s.retry_least_ms, 10000);
	assert_int_equal(s.retry_most_ms, 60000);
	assert_int_equal(s.state, SUBSCRIPTION_RESOURCE_ERROR);
	assert_true(subscription_can_pull(&s, NULL));
}

static void test_what_is_not_said_has_its_defaults(void **state)
{
	OWNED(text) bytes = text_new(64);
	struct subscription s;

	(void)state;
	assert_true(subscription_read(span_make("", 0), &s));
	assert_int_equal(s.ack_deadline_ms, 10000);
	assert_int_equal(s.retention_ms, 7 * INT64_C(86400000));
	assert_int_equal(s.expires_after_ms, 31 * INT64_C(86400000));
	assert_int_equal(s.topic_retention_ms, -1);
	assert_false(s.has_retry_policy || s.never_expires);
	proto_end(bytes, proto_begin(bytes, 11)); /* a policy without a time: never */
	assert_true(subscription_read(text_span(bytes), &s));
	assert_true(s.never_expires);
	assert_false(subscription_read(SPAN("\x0a\x7f"), &s));
}

static void test_what_delivers_itself_cannot_be_pulled(void **state)
{
	static const uint32_t numbers[] = { 4, 18, 22, 27 };
	struct subscription s;
	struct error err = { 0 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		OWNED(text) bytes = text_new(256);
		size_t mark = proto_begin(bytes, numbers[i]);

		proto_put_text(bytes, 1, "https://example.com/in");
		proto_end(bytes, mark);
		assert_true(subscription_read(text_span(bytes), &s));
		assert_false(subscription_can_pull(&s, &err));
		assert_string_equal(err.code, "subscription_not_pull");
		assert_non_null(strstr(err.message, "https://example.com/in"));
	}
	{
		OWNED(text) bytes = text_new(64);

		/* An empty push config is a pull subscription. */
		proto_end(bytes, proto_begin(bytes, 4));
		proto_put_bool(bytes, 15, true);
		assert_true(subscription_read(text_span(bytes), &s));
		assert_int_equal(s.delivery, DELIVERY_PULL);
		assert_false(subscription_can_pull(&s, &err));
		assert_string_equal(err.code, "subscription_detached");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_names_get_the_project),
		cmocka_unit_test(test_what_pubsub_refuses_is_refused_here),
		cmocka_unit_test(test_a_short_name_without_a_project_says_so),
		cmocka_unit_test(test_lists_are_read_whole_or_refused),
		cmocka_unit_test(test_names_are_shown_short_in_their_own_project),
		cmocka_unit_test(test_a_subscription_is_read_whole),
		cmocka_unit_test(test_what_is_not_said_has_its_defaults),
		cmocka_unit_test(test_what_delivers_itself_cannot_be_pulled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
