/* Credentials: files of every kind, what is sent for a token, and one token for all, with an exchange that is ours. */
#include "google/credentials_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/weir-test-XXXXXX";
static EVP_PKEY *rsa;
static char *key_pem;

static int folder_begin(void **state)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *at;
	long len;

	(void)state;
	rsa = EVP_RSA_gen(2048);
	PEM_write_bio_PrivateKey(bio, rsa, NULL, NULL, 0, NULL, NULL);
	len = BIO_get_mem_data(bio, &at);
	key_pem = memory_string_of(span_make(at, (size_t)len));
	BIO_free(bio);
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int folder_end(void **state)
{
	char command[64];

	(void)state;
	EVP_PKEY_free(rsa);
	free(key_pem);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

/*
 * An exchange that is ours: what was asked, and what is answered in turn.
 */

#define ASKED_MAX 16

struct reply {
	int status;              /* 0: no answer at all */
	const char *body;
	int64_t clock_ahead_s;   /* of the server; 0: it does not say */
	bool is_no_metadata_server;
	int64_t takes_ms;
};

struct world {
	const char *const *variables;    /* NAME, value, .., NULL */
	const struct reply *replies;     /* the last one stays */
	size_t count;
	char *urls[ASKED_MAX], *bodies[ASKED_MAX], *headers[ASKED_MAX];
	pthread_mutex_t lock;
	pthread_cond_t open;
	bool is_shut;                    /* answers wait until it is opened */
};

static const char *variable(void *context, const char *name)
{
	const struct world *world = context;

	for (const char *const *at = world->variables; at && *at; at += 2) {
		if (strcmp(*at, name) == 0)
			return at[1];
	}
	return NULL;
}

static void note(struct world *world, const struct token_request *request)
{
	OWNED(text) headers = text_new(4096);
	size_t i = world->count % ASKED_MAX;

	for (size_t h = 0; h < request->header_count; h++)
		text_add_format(headers, "%s: %s\n", request->headers[h].name, request->headers[h].value);
	free(world->urls[i]), free(world->bodies[i]), free(world->headers[i]);
	world->urls[i] = memory_string(request->url);
	world->bodies[i] = request->body ? memory_string_of(span_make((const char *)secret_look(request->body),
	                                                              secret_length(request->body))) : memory_string("");
	world->headers[i] = text_take(headers);
}

static bool exchange(void *context, const struct token_request *request, struct token_answer *out, struct error *err)
{
	struct world *world = context;
	const struct reply *reply = world->replies;
	char *copy;

	pthread_mutex_lock(&world->lock);
	for (size_t i = 0; i < world->count && reply[1].status >= 0; i++)
		reply++;
	note(world, request);
	world->count++;
	while (world->is_shut)
		pthread_cond_wait(&world->open, &world->lock);
	pthread_mutex_unlock(&world->lock);
	clock_sleep_ms(reply->takes_ms);
	if (!reply->status) {
		*err = (struct error){ ERROR_UNREACHABLE, "google_unreachable", "the host does not take connections", 0 };
		return false;
	}
	copy = memory_string(reply->body);
	*out = (struct token_answer){ .http_status = reply->status, .body = secret_take(copy, strlen(copy)),
		                      .server_utc_s = reply->clock_ahead_s ? clock_utc_us() / 1000000 + reply->clock_ahead_s : 0,
		                      .is_metadata_server = !reply->is_no_metadata_server };
	free(copy);
	return true;
}

#define END { .status = -1 }
static const struct reply fine[] = { { .status = 200, .body = "{\"access_token\":\"tok-1\",\"expires_in\":3599,\"token_type\":\"Bearer\"}" }, END };

static int world_begin(void **state)
{
	struct world *world = memory_zalloc(sizeof(*world));

	world->replies = fine;
	pthread_mutex_init(&world->lock, NULL);
	pthread_cond_init(&world->open, NULL);
	*state = world;
	return 0;
}

static int world_end(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < ASKED_MAX; i++)
		free(world->urls[i]), free(world->bodies[i]), free(world->headers[i]);
	pthread_mutex_destroy(&world->lock);
	pthread_cond_destroy(&world->open);
	free(world);
	return 0;
}

/*
 * Credentials of a text
 */

static const char *const allowed[] = { "127.0.0.1", "id.example", NULL };

static struct credentials *open_text(struct world *world, const char *text, bool wants_token_call, struct error *err)
{
	char *copy = memory_string(text);
	struct secret *content = secret_take(copy, strlen(text));
	struct credentials_setup setup = { .content = content, .content_name = "vault:test", .allowed_hosts = allowed,
		                           .wants_token_call = wants_token_call, .exchange = exchange, .context = world,
		                           .variable = variable };
	struct credentials *credentials = credentials_open(&setup, err);

	secret_free(content);
	free(copy);
	return credentials;
}

static char *service_account(const char *more)
{
	json_t *file = json_pack("{s:s, s:s, s:s, s:s}", "type", "service_account", "client_email", "weir@acme.iam", "private_key_id",
	                         "kid-1", "private_key", key_pem);
	json_t *extra = json_loads(more, 0, NULL);
	char *text;

	json_object_update(file, extra);
	text = json_dumps(file, 0);
	json_decref(extra);
	json_decref(file);
	return text;
}

/* The token, or the reason why there is none. */
static void expect_token(struct credentials *credentials, const char *wanted)
{
	struct token_lease lease = { 0 };
	struct error err = { 0 };
	char got[8192];

	if (credentials_token(credentials, &lease, &err))
		snprintf(got, sizeof(got), "%.*s", (int)secret_length(lease.value), (const char *)secret_look(lease.value));
	else
		snprintf(got, sizeof(got), "!%s", err.code);
	token_lease_free(&lease);
	assert_string_equal(got, wanted);
}

static void once(struct world *world, const char *text, const char *wanted)
{
	struct error err = { 0 };
	struct credentials *credentials = open_text(world, text, true, &err);

	if (!credentials)
		fail_msg("%s: %s", err.code, err.message);
	expect_token(credentials, wanted);
	credentials_close(credentials);
}

static void refused_file(struct world *world, const char *text, const char *code)
{
	struct error err = { 0 };

	assert_null(open_text(world, text, true, &err));
	assert_string_equal(err.code, code);
}

/*
 * What is signed
 */

static json_t *decode(struct span part)
{
	char text[4096], bytes[4096];
	size_t len = part.len;

	memcpy(text, part.at, len);
	for (size_t i = 0; i < len; i++)
		text[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	while (len % 4)
		text[len++] = '=';
	assert_true(base64_decode(span_make(text, len), bytes, &len));
	return json_loadb(bytes, len, 0, NULL);
}

static void check_signature(const char *jwt, size_t signed_len)
{
	char text[1024], bytes[1024];
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	size_t len = strlen(jwt) - signed_len - 1;

	memcpy(text, jwt + signed_len + 1, len);
	for (size_t i = 0; i < len; i++)
		text[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	while (len % 4)
		text[len++] = '=';
	assert_true(base64_decode(span_make(text, len), bytes, &len));
	assert_int_equal(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, rsa), 1);
	assert_int_equal(EVP_DigestVerify(context, (unsigned char *)bytes, len, (const unsigned char *)jwt, signed_len), 1);
	EVP_MD_CTX_free(context);
}

/* The claims of a JWT whose signature is right. */
static json_t *claims_of(const char *jwt)
{
	const char *dot = strchr(jwt, '.'), *second = strchr(dot + 1, '.');
	json_t *header = decode(span_make(jwt, (size_t)(dot - jwt)));

	check_signature(jwt, (size_t)(second - jwt));
	assert_string_equal(json_string_value(json_object_get(header, "alg")), "RS256");
	assert_string_equal(json_string_value(json_object_get(header, "kid")), "kid-1");
	json_decref(header);
	return decode(span_make(dot + 1, (size_t)(second - dot - 1)));
}

static json_int_t number(const json_t *claims, const char *name)
{
	return json_integer_value(json_object_get(claims, name));
}

static void a_service_account_signs_its_own_token(void **state)
{
	char *text = service_account("{}");
	struct credentials *credentials = open_text(*state, text, false, NULL);
	struct token_lease lease;
	json_t *claims;
	char jwt[4096];

	assert_true(credentials_token(credentials, &lease, NULL));
	snprintf(jwt, sizeof(jwt), "%.*s", (int)secret_length(lease.value), (const char *)secret_look(lease.value));
	claims = claims_of(jwt);
	assert_string_equal(json_string_value(json_object_get(claims, "iss")), "weir@acme.iam");
	assert_string_equal(json_string_value(json_object_get(claims, "sub")), "weir@acme.iam");
	assert_string_equal(json_string_value(json_object_get(claims, "scope")), SCOPE_CLOUD_PLATFORM);
	assert_int_equal(number(claims, "exp") - number(claims, "iat"), 3600);
	assert_null(json_object_get(claims, "aud"));
	assert_int_equal(((struct world *)*state)->count, 0);
	json_decref(claims);
	token_lease_free(&lease);
	credentials_close(credentials);
	free(text);
}

static const char assertion_is[] = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";

static void a_service_account_asks_the_token_server(void **state)
{
	struct world *world = *state;
	char *text = service_account("{\"token_uri\":\"https://oauth2.googleapis.com/token\"}");
	json_t *claims;

	once(world, text, "tok-1");
	assert_string_equal(world->urls[0], "https://oauth2.googleapis.com/token");
	assert_memory_equal(world->bodies[0], assertion_is, strlen(assertion_is));
	claims = claims_of(world->bodies[0] + strlen(assertion_is));
	assert_string_equal(json_string_value(json_object_get(claims, "aud")), "https://oauth2.googleapis.com/token");
	json_decref(claims);
	free(text);
}

static void a_wrong_clock_is_seen_and_put_right(void **state)
{
	static const struct reply replies[] = {
		{ .status = 400, .body = "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid JWT: iat\"}", .clock_ahead_s = 3600 },
		{ .status = 200, .body = "{\"access_token\":\"tok-2\",\"expires_in\":\"3599\"}", .clock_ahead_s = 3600 },
		END,
	};
	struct world *world = *state;
	char *text = service_account("{}");
	json_t *first, *second;

	world->replies = replies;
	once(world, text, "tok-2");
	assert_int_equal(world->count, 2);
	first = claims_of(world->bodies[0] + strlen(assertion_is));
	second = claims_of(world->bodies[1] + strlen(assertion_is));
	assert_in_range(number(second, "iat") - number(first, "iat"), 3599, 3602);
	json_decref(first);
	json_decref(second);
	free(text);
}

static void a_user_asks_with_the_refresh_token(void **state)
{
	struct world *world = *state;

	once(world, "{\"type\":\"authorized_user\",\"client_id\":\"c&1\",\"client_secret\":\"s=2\",\"refresh_token\":\"1//r\"}", "tok-1");
	assert_string_equal(world->bodies[0], "grant_type=refresh_token&refresh_token=1%2F%2Fr&client_id=c%261&client_secret=s%3D2");
	once(world, "{\"type\":\"external_account_authorized_user\",\"client_id\":\"c\",\"client_secret\":\"s\",\"refresh_token\":\"r\","
	     "\"token_url\":\"https://sts.googleapis.com/v1/oauthtoken\"}", "tok-1");
	assert_string_equal(world->bodies[1], "grant_type=refresh_token&refresh_token=r");
	assert_string_equal(world->headers[1], "Authorization: Basic Yzpz\n");
}

static void one_that_may_be_impersonated(void **state)
{
	static const struct reply replies[] = {
		{ .status = 200, .body = "{\"access_token\":\"tok-1\",\"expires_in\":3599}" },
		{ .status = 200, .body = "{\"accessToken\":\"tok-2\",\"expireTime\":\"2999-01-01T00:00:00Z\"}" },
		END,
	};
	struct world *world = *state;

	world->replies = replies;
	once(world, "{\"type\":\"impersonated_service_account\",\"delegates\":[\"d\"],\"service_account_impersonation_url\":"
	     "\"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken\",\"source_credentials\":"
	     "{\"type\":\"authorized_user\",\"client_id\":\"c\",\"client_secret\":\"s\",\"refresh_token\":\"r\"}}", "tok-2");
	assert_string_equal(world->urls[1], "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken");
	assert_string_equal(world->headers[1], "Authorization: Bearer tok-1\n");
	assert_string_equal(world->bodies[1], "{\"scope\":[\"" SCOPE_CLOUD_PLATFORM "\"],\"lifetime\":\"3600s\",\"delegates\":[\"d\"]}");
}

static void write_file(const char *path, const char *text)
{
	assert_true(file_replace(path, span_of(text), NULL));
}

static void a_foreign_identity_of_a_file(void **state)
{
	struct world *world = *state;

	write_file("subject", "\n foreign-1 \n");
	once(world, "{\"type\":\"external_account\",\"audience\":\"//iam/p\",\"subject_token_type\":\"urn:ietf:params:oauth:token-type:jwt\","
	     "\"credential_source\":{\"file\":\"subject\"}}", "tok-1");
	assert_string_equal(world->urls[0], "https://sts.googleapis.com/v1/token");
	assert_non_null(strstr(world->bodies[0], "&subject_token=foreign-1&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt"));
	assert_non_null(strstr(world->bodies[0], "audience=%2F%2Fiam%2Fp&"));
	write_file("subject", "{\"id\":\"foreign-2\"}");
	once(world, "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\",\"workforce_pool_user_project\":\"p\","
	     "\"credential_source\":{\"file\":\"subject\",\"format\":{\"type\":\"json\",\"subject_token_field_name\":\"id\"}}}", "tok-1");
	assert_non_null(strstr(world->bodies[1], "&subject_token=foreign-2&"));
	assert_non_null(strstr(world->bodies[1], "&options=%257B%2522userProject%2522%253A%2522p%2522%257D"));
}

static void a_foreign_identity_of_a_url(void **state)
{
	static const struct reply replies[] = {
		{ .status = 200, .body = "{\"value\":\"foreign-3\"}" },
		{ .status = 200, .body = "{\"access_token\":\"tok-sts\",\"expires_in\":3599}" },
		{ .status = 200, .body = "{\"accessToken\":\"tok-3\",\"expireTime\":\"2999-01-01T00:00:00.5Z\"}" },
		END,
	};
	struct world *world = *state;

	world->replies = replies;
	once(world, "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\",\"service_account_impersonation_url\":"
	     "\"https://iamcredentials.googleapis.com/v1/x:generateAccessToken\",\"service_account_impersonation\":{\"token_lifetime_seconds\":900},"
	     "\"credential_source\":{\"url\":\"https://id.example/token\",\"headers\":{\"Authorization\":\"Bearer q\"},"
	     "\"format\":{\"type\":\"json\",\"subject_token_field_name\":\"value\"}}}", "tok-3");
	assert_string_equal(world->urls[0], "https://id.example/token");
	assert_string_equal(world->headers[0], "Authorization: Bearer q\n");
	assert_non_null(strstr(world->bodies[1], "subject_token=foreign-3"));
	assert_string_equal(world->headers[2], "Authorization: Bearer tok-sts\n");
	assert_non_null(strstr(world->bodies[2], "\"lifetime\":\"900s\""));
}

static void files_that_are_none(void **state)
{
	static const struct {
		const char *text, *code;
	} rows[] = {
		{ "", "bad_credentials" }, { "[]", "bad_credentials" }, { "{}", "bad_credentials" }, { "{\"type\":7}", "bad_credentials" },
		{ "{\"type\":\"gdch_service_account\"}", "credentials_not_supported" },
		{ "{\"type\":\"service_account\",\"client_email\":\"a\"}", "bad_credentials" },
		{ "{\"type\":\"service_account\",\"private_key\":\"a\\u0000b\",\"client_email\":\"a\"}", "bad_credentials" },
		{ "{\"type\":\"authorized_user\",\"client_id\":\"a\",\"client_secret\":\"b\"}", "bad_credentials" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\"}", "bad_credentials" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\",\"credential_source\":{\"executable\":{\"command\":\"x\"}}}",
		  "credentials_not_supported" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\",\"credential_source\":{\"environment_id\":\"aws1\"}}",
		  "credentials_not_supported" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\",\"credential_source\":{\"file\":\"f\",\"format\":{\"type\":\"xml\"}}}",
		  "bad_credentials" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\",\"credential_source\":{\"url\":\"https://id.example/\","
		  "\"headers\":{\"A\":\"b\\r\\nc\"}}}", "bad_credentials" },
		{ "{\"type\":\"impersonated_service_account\",\"service_account_impersonation_url\":\"https://iamcredentials.googleapis.com/x\"}",
		  "bad_credentials" },
		{ "{\"type\":\"impersonated_service_account\",\"service_account_impersonation_url\":\"https://iamcredentials.googleapis.com/x\","
		  "\"source_credentials\":{\"type\":\"impersonated_service_account\",\"service_account_impersonation_url\":"
		  "\"https://iamcredentials.googleapis.com/x\",\"source_credentials\":{}}}", "credentials_not_supported" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused_file(*state, rows[i].text, rows[i].code);
}

static void hosts_are_googles_or_allowed(void **state)
{
	static const struct {
		const char *url;
		bool may_be_plain;
		const char *code;
	} rows[] = {
		{ "https://oauth2.googleapis.com/token", false, "" }, { "https://accounts.google.com/o/oauth2/token", false, "" },
		{ "https://sts.eu-west1.rep.googleapis.com/", false, "" }, { "https://ID.example:8443/x", false, "" },
		{ "http://127.0.0.1:80/x", false, "" }, { "http://id.example/x", true, "" },
		{ "https://googleapis.com.evil.org/", false, "credential_host_refused" },
		{ "https://evilgoogleapis.com/", false, "credential_host_refused" },
		{ "http://oauth2.googleapis.com/", false, "credential_host_refused" },
		{ "http://oauth2.googleapis.com/", true, "credential_host_refused" },
		{ "http://id.example/x", false, "credential_host_refused" }, { "http://127.0.0.2/x", false, "credential_host_refused" },
		{ "https://oauth2.googleapis.com@evil.org/", false, "bad_credentials" },
		{ "https://evil.org\\@oauth2.googleapis.com/", false, "bad_credentials" },
		{ "https://evil.org#.googleapis.com/", false, "credential_host_refused" },
		{ "https://evil.org?.googleapis.com", false, "credential_host_refused" },
		{ "file:///etc/passwd", false, "bad_credentials" }, { "", false, "bad_credentials" }, { "https://", false, "bad_credentials" },
		{ "https://oauth2.googleapis.com/\r\nX: y", false, "bad_credentials" }, { "https://[::1", false, "bad_credentials" },
		{ "gopher://id.example/", true, "bad_credentials" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = { 0 };
		bool is_fine = credential_host_is_fine(rows[i].url, rows[i].may_be_plain, allowed, "test", &err);

		if (strcmp(err.code, rows[i].code) != 0 || is_fine != !*rows[i].code)
			fail_msg("%s: %s instead of %s", rows[i].url, err.code, rows[i].code);
	}
}

static void a_universe_of_the_file_proves_nothing(void **state)
{
	char *text = service_account("{\"universe_domain\":\"evil.org\",\"token_uri\":\"https://oauth2.evil.org/token\"}");

	refused_file(*state, text, "credential_host_refused");
	free(text);
}

/*
 * The chain
 */

static const char user[] = "{\"type\":\"authorized_user\",\"client_id\":\"c\",\"client_secret\":\"s\",\"refresh_token\":\"r\",\"quota_project_id\":\"q\"}";

static struct credentials *open_chain(struct world *world, const char *const *variables, struct error *err)
{
	struct credentials_setup setup = { .exchange = exchange, .context = world, .variable = variable };

	world->variables = variables;
	return credentials_open(&setup, err);
}

static void expect_source(struct world *world, const char *const *variables, const char *source)
{
	struct credentials_view view = { 0 };
	struct error err = { 0 };
	struct credentials *credentials = open_chain(world, variables, &err);

	if (credentials)
		credentials_look(credentials, &view);
	assert_string_equal(credentials ? view.source : err.code, source);
	credentials_close(credentials);
}

static void the_chain_is_googles(void **state)
{
	static const char *const named[] = { "GOOGLE_APPLICATION_CREDENTIALS", "named.json", "HOME", ".", NULL };
	static const char *const config[] = { "CLOUDSDK_CONFIG", "sdk", "HOME", ".", NULL };
	static const char *const home[] = { "HOME", ".", NULL };
	static const char *const none[] = { "HOME", "/nowhere", NULL };
	static const char *const no_check[] = { "HOME", "/nowhere", "NO_GCE_CHECK", "true", NULL };

	mkdir("sdk", 0700);
	mkdir(".config", 0700);
	mkdir(".config/gcloud", 0700);
	write_file("sdk/application_default_credentials.json", user);
	write_file(".config/gcloud/application_default_credentials.json", user);
	expect_source(*state, named, "io_error");
	write_file("named.json", user);
	expect_source(*state, named, "login of a user, named.json");
	expect_source(*state, config, "login of a user, sdk/application_default_credentials.json");
	expect_source(*state, home, "login of a user, ./.config/gcloud/application_default_credentials.json");
	expect_source(*state, none, "metadata server");
	expect_source(*state, no_check, "no_credentials");
	chmod("named.json", 0644);
	expect_source(*state, named, "credentials_exposed");
	chmod("named.json", 0600);
	write_file("named.json", "{");
	expect_source(*state, named, "bad_credentials");
}

static void the_metadata_server(void **state)
{
	static const char *const variables[] = { "HOME", "/nowhere", "GCE_METADATA_HOST", "127.0.0.1:99", NULL };
	static const struct reply gone[] = { { .status = 0 }, END };
	static const struct reply other[] = { { .status = 200, .body = "{\"access_token\":\"x\",\"expires_in\":9}", .is_no_metadata_server = true }, END };
	struct world *world = *state;
	struct credentials *credentials = open_chain(world, variables, NULL);

	expect_token(credentials, "tok-1");
	credentials_close(credentials);
	assert_string_equal(world->urls[0], "http://127.0.0.1:99/computeMetadata/v1/instance/service-accounts/default/token?scopes="
	                    "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform");
	assert_string_equal(world->headers[0], "Metadata-Flavor: Google\n");

	world->replies = other;
	credentials = open_chain(world, variables, NULL);
	expect_token(credentials, "!google_bad_answer");
	credentials_close(credentials);

	world->replies = gone;
	credentials = open_chain(world, variables, NULL);
	expect_token(credentials, "!no_credentials");
	credentials_close(credentials);
}

/* A gap of the server is no lack of credentials, once it has given a token. */
static void a_metadata_server_that_went_is_said_as_that(void **state)
{
	static const char *const variables[] = { "HOME", "/nowhere", NULL };
	static const struct reply gone[] = { { .status = 0 }, END };
	struct world *world = *state;
	struct credentials *credentials = open_chain(world, variables, NULL);

	expect_token(credentials, "tok-1");
	world->replies = gone;
	credentials->ends_ms = 0;
	expect_token(credentials, "!google_unreachable");
	credentials_close(credentials);
}

static void a_file_that_was_replaced_is_taken(void **state)
{
	static const char *const variables[] = { "GOOGLE_APPLICATION_CREDENTIALS", "login.json", NULL };
	struct world *world = *state;
	struct credentials *credentials;

	write_file("login.json", user);
	credentials = open_chain(world, variables, NULL);
	assert_string_equal(credentials_quota_project(credentials), "q");
	expect_token(credentials, "tok-1");
	write_file("login.json", "{\"type\":\"authorized_user\",\"client_id\":\"other\",\"client_secret\":\"s\",\"refresh_token\":\"r\"}");
	credentials->ends_ms = 0;
	expect_token(credentials, "tok-1");
	assert_non_null(strstr(world->bodies[1], "client_id=other"));
	credentials_close(credentials);
}

/*
 * One token for all
 */

#define CALLERS 64

static void *take(void *credentials)
{
	expect_token(credentials, "tok-1");
	return NULL;
}

static void many_at_once_fetch_once(void **state)
{
	struct world *world = *state;
	struct credentials *credentials = open_text(world, user, true, NULL);
	pthread_t threads[CALLERS];

	world->is_shut = true;
	for (int i = 0; i < CALLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take, credentials), 0);
	pthread_mutex_lock(&world->lock);
	world->is_shut = false;
	pthread_cond_broadcast(&world->open);
	pthread_mutex_unlock(&world->lock);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(world->count, 1);
	credentials_close(credentials);
}

static void renewal_comes_early_and_keeps_the_old_one(void **state)
{
	static const struct reply replies[] = {
		{ .status = 200, .body = "{\"access_token\":\"tok-1\",\"expires_in\":3600}" },
		{ .status = 400, .body = "{\"error\":\"invalid_grant\"}" },
		{ .status = 200, .body = "{\"access_token\":\"tok-2\",\"expires_in\":3600}" },
		END,
	};
	struct world *world = *state;
	struct credentials *credentials = open_text(world, user, true, NULL);
	struct credentials_view view;

	world->replies = replies;
	expect_token(credentials, "tok-1");
	credentials_look(credentials, &view);
	assert_in_range(view.left_ms - view.renew_ms, 225000, 300000);
	credentials->renew_ms = clock_mono_ms() - 1;
	expect_token(credentials, "tok-1"); /* the fetch fails, the old one is good */
	credentials_look(credentials, &view);
	assert_true(view.has_failed && view.has_token);
	expect_token(credentials, "tok-1"); /* and it is not tried at once again */
	assert_int_equal(world->count, 2);
	credentials->try_after_ms = 0;
	expect_token(credentials, "tok-2");
	credentials_look(credentials, &view);
	assert_false(view.has_failed);
	credentials_close(credentials);
}

static void without_a_token_failures_are_quick(void **state)
{
	static const struct reply replies[] = { { .status = 401, .body = "{\"error\":\"invalid_client\"}" }, END };
	struct world *world = *state;
	struct credentials *credentials = open_text(world, user, true, NULL);
	struct credentials_view view;
	OWNED(text) sentence = text_new(1000);

	world->replies = replies;
	expect_token(credentials, "!auth_failed");
	expect_token(credentials, "!auth_failed");
	assert_int_equal(world->count, 1);
	credentials_look(credentials, &view);
	assert_true(credentials_sentence(&view, sentence));
	assert_non_null(strstr(sentence->at, "auth failed since "));
	assert_non_null(strstr(sentence->at, "the client of the login is not known"));
	credentials_close(credentials);
}

static uint64_t lease_number(struct credentials *credentials)
{
	struct token_lease lease;
	struct error err = { 0 };
	uint64_t lease_is;

	if (!credentials_token(credentials, &lease, &err))
		fail_msg("%s", err.message);
	lease_is = lease.number;
	token_lease_free(&lease);
	return lease_is;
}

static void what_is_refused_is_fetched_again_once(void **state)
{
	struct world *world = *state;
	struct credentials *credentials = open_text(world, user, true, NULL);
	struct credentials_view view;
	uint64_t first = lease_number(credentials), second;

	assert_true(credentials_refused(credentials, first, 0));
	second = lease_number(credentials);
	assert_int_not_equal(second, first);
	assert_int_equal(world->count, 2);
	assert_true(credentials_refused(credentials, first, 0)); /* another connection's old news */
	assert_int_equal(lease_number(credentials), second);
	assert_false(credentials_refused(credentials, second, 0));
	expect_token(credentials, "!auth_failed");
	assert_int_equal(world->count, 2);
	credentials->try_after_ms = 0;
	first = lease_number(credentials);
	credentials_look(credentials, &view);
	assert_true(view.has_failed); /* until a server takes it */
	credentials_accepted(credentials, first);
	credentials_look(credentials, &view);
	assert_false(view.has_failed);
	credentials_close(credentials);
}

static void trouble_of_the_token_server_is_tried_again(void **state)
{
	static const struct reply replies[] = {
		{ .status = 503, .body = "<html>" }, { .status = 200, .body = "{\"access_token\":\"bad token\",\"expires_in\":5}" }, END,
	};
	struct world *world = *state;

	world->replies = replies;
	once(world, user, "!google_bad_answer");
	assert_int_equal(world->count, 2);
}

static void a_token_that_is_over_when_it_comes(void **state)
{
	static const struct reply slow[] = {
		{ .status = 200, .body = "{\"access_token\":\"tok-1\",\"expires_in\":1}", .takes_ms = 1100 }, END,
	};
	struct world *world = *state;
	struct credentials *credentials = open_text(world, user, true, NULL);

	world->replies = slow;
	expect_token(credentials, "!google_bad_answer");
	expect_token(credentials, "!google_bad_answer");
	assert_int_equal(world->count, 1); /* not again and again */
	credentials_close(credentials);
}

/* What was learned of a wrong clock is forgotten when a server of the same time refuses what was signed by it. */
static void a_clock_that_was_put_right(void **state)
{
	char *text = service_account("{}");
	struct credentials *credentials = open_text(*state, text, false, NULL);
	int64_t now_s = clock_utc_us() / 1000000;

	assert_true(credentials_refused(credentials, lease_number(credentials), now_s + 7200));
	assert_in_range(credentials->clock_behind_s, 7100, 7300);
	credentials_refused(credentials, lease_number(credentials), 0); /* it does not say */
	assert_in_range(credentials->clock_behind_s, 7100, 7300);
	credentials->try_after_ms = 0;
	credentials_refused(credentials, lease_number(credentials), now_s);
	assert_int_equal(credentials->clock_behind_s, 0);
	credentials_close(credentials);
	free(text);
}

static void lives_are_bounded(void **state)
{
	static const char *const lives[] = { "1e300", "9223372036854775807", "43201" };

	(void)state;
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		char text[100];
		struct token token = { 0 };
		struct secret *body;

		snprintf(text, sizeof(text), "{\"access_token\":\"a\",\"expires_in\":%s}", lives[i]);
		body = secret_take(text, strlen(text));
		assert_true(token_of_answer(body, 1700000000, "test", &token, NULL));
		assert_int_equal(token.life_ms, 43200000);
		secret_free(token.value);
		secret_free(body);
	}
}

static void answers_that_are_none(void **state)
{
	static const char *const bodies[] = {
		"", "{", "[]", "{}", "{\"access_token\":\"\",\"expires_in\":5}", "{\"access_token\":\"a\"}", "{\"access_token\":\"a\",\"expires_in\":0}",
		"{\"access_token\":\"a\",\"expires_in\":-5}", "{\"access_token\":\"a\",\"expires_in\":\"x\"}", "{\"access_token\":\"a\\nb\",\"expires_in\":5}",
		"{\"access_token\":7,\"expires_in\":5}", "{\"accessToken\":\"a\",\"expireTime\":\"yesterday\"}",
		"{\"accessToken\":\"a\",\"expireTime\":\"1999-01-01T00:00:00Z\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		char *copy = memory_string(bodies[i]);
		struct secret *body = secret_take(copy, strlen(copy));
		struct token token = { 0 };
		struct error err = { 0 };

		assert_false(token_of_answer(body, 1700000000, "test", &token, &err));
		assert_string_equal(err.code, "google_bad_answer");
		secret_free(body);
		free(copy);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_begin, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_service_account_signs_its_own_token),
		TEST(a_service_account_asks_the_token_server),
		TEST(a_wrong_clock_is_seen_and_put_right),
		TEST(a_user_asks_with_the_refresh_token),
		TEST(one_that_may_be_impersonated),
		TEST(a_foreign_identity_of_a_file),
		TEST(a_foreign_identity_of_a_url),
		TEST(files_that_are_none),
		TEST(hosts_are_googles_or_allowed),
		TEST(a_universe_of_the_file_proves_nothing),
		TEST(the_chain_is_googles),
		TEST(the_metadata_server),
		TEST(a_metadata_server_that_went_is_said_as_that),
		TEST(a_file_that_was_replaced_is_taken),
		TEST(many_at_once_fetch_once),
		TEST(renewal_comes_early_and_keeps_the_old_one),
		TEST(without_a_token_failures_are_quick),
		TEST(what_is_refused_is_fetched_again_once),
		TEST(trouble_of_the_token_server_is_tried_again),
		TEST(a_token_that_is_over_when_it_comes),
		TEST(a_clock_that_was_put_right),
		TEST(lives_are_bounded),
		TEST(answers_that_are_none),
	};

	return cmocka_run_group_tests(tests, folder_begin, folder_end);
}
