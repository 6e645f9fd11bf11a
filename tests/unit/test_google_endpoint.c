/* Where services are reached, and that a token never leaves for an emulator. */
#include "google/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct expectation {
	enum google_service service;
	const char *override, *variable, *value; /* one variable of the environment, or NULL */
	const char *host;                        /* NULL: refused, and `base` is the code */
	uint16_t port;
	bool is_emulator;
	const char *base;
} expectations[] = {
	{ SERVICE_PUBSUB, NULL, NULL, NULL, "pubsub.googleapis.com", 443, false, "https://pubsub.googleapis.com/v1" },
	{ SERVICE_BIGQUERY, NULL, NULL, NULL, "bigquery.googleapis.com", 443, false,
	  "https://bigquery.googleapis.com/bigquery/v2" },
	{ SERVICE_BIGQUERY_STORAGE, NULL, NULL, NULL, "bigquerystorage.googleapis.com", 443, false,
	  "https://bigquerystorage.googleapis.com/v1" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "localhost:8085", "localhost", 8085, true, "http://localhost:8085/v1" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "http://localhost:8085/", "localhost", 8085, true,
	  "http://localhost:8085/v1" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "[::1]:8085", "::1", 8085, true, "http://[::1]:8085/v1" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "::1", "::1", 80, true, "http://[::1]/v1" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "0.0.0.0:8085", "127.0.0.1", 8085, true, "http://127.0.0.1:8085/v1" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "127.0.0.2", "127.0.0.2", 80, true, "http://127.0.0.2/v1" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "", "pubsub.googleapis.com", 443, false, "https://pubsub.googleapis.com/v1" },
	{ SERVICE_BIGQUERY, NULL, "PUBSUB_EMULATOR_HOST", "localhost:8085", "bigquery.googleapis.com", 443, false,
	  "https://bigquery.googleapis.com/bigquery/v2" },
	{ SERVICE_BIGQUERY, NULL, "BIGQUERY_EMULATOR_HOST", "http://127.0.0.1:9050", "127.0.0.1", 9050, true,
	  "http://127.0.0.1:9050/bigquery/v2" },
	{ SERVICE_BIGQUERY, NULL, "BIGQUERY_EMULATOR_HOST", "http://127.0.0.1:9050/bigquery/v2/", "127.0.0.1", 9050, true,
	  "http://127.0.0.1:9050/bigquery/v2" },
	{ SERVICE_BIGQUERY, NULL, "BIGQUERY_EMULATOR_HOST", "127.0.0.1:9050/own", "127.0.0.1", 9050, true,
	  "http://127.0.0.1:9050/own" },
	{ SERVICE_BIGQUERY_STORAGE, NULL, "BIGQUERY_EMULATOR_HOST", "http://127.0.0.1:9050", "127.0.0.1", 9050, true,
	  "http://127.0.0.1:9050/v1" },
	{ SERVICE_BIGQUERY_STORAGE, NULL, "BIGQUERY_STORAGE_EMULATOR_HOST", "127.0.0.1:9060", "127.0.0.1", 9060, true,
	  "http://127.0.0.1:9060/v1" },
	{ SERVICE_BIGTABLE, NULL, "BIGTABLE_EMULATOR_HOST", "localhost:8086", "localhost", 8086, true, "http://localhost:8086/v2" },
	{ SERVICE_BIGTABLE_ADMIN, NULL, "BIGTABLE_EMULATOR_HOST", "localhost:8086", "localhost", 8086, true,
	  "http://localhost:8086/v2" },
	{ SERVICE_STORAGE, NULL, "STORAGE_EMULATOR_HOST", "localhost:4443", "localhost", 4443, true,
	  "http://localhost:4443/storage/v1" },
	{ SERVICE_STORAGE, NULL, "STORAGE_EMULATOR_HOST", "http://x.localhost:4443", "x.localhost", 4443, true,
	  "http://x.localhost:4443/storage/v1" },
	{ SERVICE_PUBSUB, NULL, "CLOUDSDK_API_ENDPOINT_OVERRIDES_PUBSUB", "https://europe-west1-pubsub.googleapis.com/",
	  "europe-west1-pubsub.googleapis.com", 443, false, "https://europe-west1-pubsub.googleapis.com/v1" },
	{ SERVICE_PUBSUB, NULL, "CLOUDSDK_API_ENDPOINT_OVERRIDES_PUBSUB", "http://localhost:8085/", "localhost", 8085, true,
	  "http://localhost:8085/v1" },
	{ SERVICE_PUBSUB, "us-east1-pubsub.googleapis.com:443", "PUBSUB_EMULATOR_HOST", "localhost:8085",
	  "us-east1-pubsub.googleapis.com", 443, false, "https://us-east1-pubsub.googleapis.com/v1" },
	{ SERVICE_BIGQUERY, "https://bigquery-own.p.googleapis.com:8443", NULL, NULL, "bigquery-own.p.googleapis.com", 8443, false,
	  "https://bigquery-own.p.googleapis.com:8443/bigquery/v2" },

	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "emulator:8085", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "10.0.0.1:8085", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "localhost.evil.example:8085", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "[::ffff:10.0.0.1]:8085", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "2130706433:8085", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_BIGQUERY, NULL, "BIGQUERY_EMULATOR_HOST", "http://192.0.2.1:9050", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_BIGTABLE, NULL, "BIGTABLE_EMULATOR_HOST", "example.com", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_STORAGE, NULL, "STORAGE_EMULATOR_HOST", "http://storage.googleapis.com", NULL, 0, false, "emulator_not_local" },
	{ SERVICE_PUBSUB, "http://pubsub.example.com", NULL, NULL, NULL, 0, false, "emulator_not_local" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "https://localhost:8085", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "ftp://localhost", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "localhost:0", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "localhost:65536", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "localhost:", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "localhost:80x", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", ":8085", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "[::1", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "http://", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "user:word@localhost:1", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "local host:1", NULL, 0, false, "bad_endpoint" },
	{ SERVICE_PUBSUB, NULL, "PUBSUB_EMULATOR_HOST", "localhost:1/a?b=c", NULL, 0, false, "bad_endpoint" },
};

static const char *one_variable(void *context, const char *name)
{
	const struct expectation *e = context;

	return e->variable && strcmp(e->variable, name) == 0 ? e->value : NULL;
}

static void services_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		struct expectation e = expectations[i];
		struct endpoint_wish wish = { .override = e.override, .variable = one_variable, .context = &e };
		struct endpoint found = { 0 };
		struct error err = { 0 };
		bool is_found = endpoint_find(e.service, &wish, &found, &err);

		if (is_found != (e.host != NULL))
			fail_msg("case %zu ('%s'): %s", i, e.value ? e.value : "", err.message);
		if (!is_found) {
			assert_string_equal(err.code, e.base);
			assert_int_equal(err.kind, ERROR_CONFIG);
			continue;
		}
		assert_string_equal(found.host, e.host);
		assert_int_equal(found.port, e.port);
		assert_string_equal(found.base, e.base);
		assert_int_equal(found.is_emulator, e.is_emulator);
		assert_int_equal(found.is_plain, e.is_emulator);
		assert_string_equal(found.variable, e.is_emulator ? e.variable : "");
	}
}

static void another_universe_has_its_own_hosts(void **state)
{
	struct expectation none = { 0 };
	struct endpoint_wish wish = { .universe = "example.cloud", .variable = one_variable, .context = &none };
	struct endpoint found;
	struct error err;

	(void)state;
	assert_true(endpoint_find(SERVICE_STORAGE, &wish, &found, &err));
	assert_string_equal(found.base, "https://storage.example.cloud/storage/v1");
	assert_string_equal(found.upload, "https://storage.example.cloud/upload/storage/v1");
	assert_string_equal(found.authority, "storage.example.cloud");
	assert_true(endpoint_is_google("storage.googleapis.com", NULL));
	assert_true(endpoint_is_google("x.p.GoogleApis.com", NULL));
	assert_true(endpoint_is_google("storage.example.cloud", "example.cloud"));
	assert_false(endpoint_is_google("googleapis.com", NULL));
	assert_false(endpoint_is_google("storage.googleapis.com.example", NULL));
	assert_false(endpoint_is_google("notgoogleapis.com", NULL));
	assert_false(endpoint_is_google("storage.googleapis.com", "example.cloud"));
}

static void addresses_of_this_machine_are_known(void **state)
{
	static const struct { const char *text; bool is_local; } cases[] = {
		{ "127.0.0.1", true }, { "127.255.255.254", true }, { "0.0.0.0", true }, { "128.0.0.1", false }, { "10.1.1.1", false },
		{ "::1", true }, { "::", true }, { "::ffff:127.0.0.1", true }, { "::ffff:8.8.8.8", false }, { "fe80::1", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sockaddr_in v4 = { .sin_family = AF_INET };
		struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
		bool is_v4 = inet_pton(AF_INET, cases[i].text, &v4.sin_addr) == 1;

		if (!is_v4)
			assert_int_equal(inet_pton(AF_INET6, cases[i].text, &v6.sin6_addr), 1);
		assert_int_equal(address_is_local(is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6), cases[i].is_local);
		assert_int_equal(endpoint_is_local(cases[i].text), cases[i].is_local);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(services_are_found),
		cmocka_unit_test(another_universe_has_its_own_hosts),
		cmocka_unit_test(addresses_of_this_machine_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
