/*
 * Tokens by way of others: another account that may be impersonated (iamcredentials.generateAccessToken), and foreign
 * identities (RFC 8693; google-auth-library-python: sts, external_account, identity_pool).
 */
#include "google/credentials_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRANT_EXCHANGE "urn:ietf:params:oauth:grant-type:token-exchange"
#define TYPE_ACCESS_TOKEN "urn:ietf:params:oauth:token-type:access_token"

/*
 * Impersonation
 */

static struct secret *impersonation_body(const json_t *delegates, const char *scope, int64_t life_s)
{
	char lifetime[32];
	json_t *body;
	char *text;
	struct secret *secret;

	snprintf(lifetime, sizeof(lifetime), "%llds", (long long)life_s);
	body = json_pack("{s:[s], s:s}", "scope", scope, "lifetime", lifetime);
	if (json_array_size(delegates))
		json_object_set(body, "delegates", (json_t *)delegates);
	text = json_dumps(body, JSON_COMPACT);
	secret = secret_take(text, strlen(text));
	free(text);
	json_decref(body);
	return secret;
}

static bool impersonate(struct fetcher *fetcher, const struct credential *credential, const struct secret *as,
                        const char *scope, struct token *out, struct error *err)
{
	struct secret *body = impersonation_body(credential->delegates, scope, credential->lifetime_s);
	size_t room = secret_length(as) + sizeof("Bearer ");
	char *bearer = memory_zalloc(room);
	struct token_header header = { "Authorization", bearer };
	struct token_request request = { .url = credential->impersonation_url, .content_type = "application/json",
		                         .body = body, .headers = &header, .header_count = 1 };
	struct token_answer answer;
	bool is_fine;

	snprintf(bearer, room, "Bearer %.*s", (int)secret_length(as), (const char *)secret_look(as));
	is_fine = token_call(fetcher, &request, "the impersonation", &answer, err);
	free_secret_text(bearer);
	secret_free(body);
	if (!is_fine)
		return false;
	is_fine = token_of_answer(answer.body, clock_utc_us() / 1000000 + fetcher->clock_behind_s, "the impersonation", out,
	                          err);
	secret_free(answer.body);
	return is_fine;
}

/* What is asked for only to ask for another one may do that and no more. */
bool fetch_impersonated(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                               struct token *out, struct error *err)
{
	struct token source = { 0 };
	bool is_fetched = credential_fetch(fetcher, credential->source, SCOPE_CLOUD_PLATFORM, &source, err) &&
	                  impersonate(fetcher, credential, source.value, scope, out, err);

	secret_free(source.value);
	return is_fetched;
}

/*
 * Foreign identities
 */

static struct secret *member_of(struct secret *body, const char *field, struct error *err)
{
	json_t *root = json_load_secret(span_make((const char *)secret_look(body), secret_length(body)), 0, NULL);
	const char *text = json_string_value(json_object_get(root, field));
	struct secret *member = NULL;

	if (text && *text)
		member = secret_take((char *)text, strlen(text));
	else
		fail(err, ERROR_CONFIG, "bad_credentials", "the foreign token has no member '%.60s'", field);
	json_wipe(root);
	secret_free(body);
	return member;
}

/* Without the white space around it. */
static struct secret *trimmed(struct secret *body, struct error *err)
{
	static const char blank[] = " \t\r\n";
	const char *at = (const char *)secret_look(body);
	size_t begin = 0, end = secret_length(body);
	struct secret *token = NULL;

	while (end && strchr(blank, at[end - 1]))
		end--;
	while (begin < end && strchr(blank, at[begin]))
		begin++;
	if (begin < end)
		token = secret_take((char *)secret_bytes(body) + begin, end - begin);
	else
		fail(err, ERROR_CONFIG, "bad_credentials", "the foreign token is empty");
	secret_free(body);
	return token;
}

static struct secret *read_subject_file(const char *path, struct error *err)
{
	int fd = fd_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct secret *content;

	if (fd < 0) {
		fail_errno(err, errno, "cannot open the foreign token '%s'", path);
		return NULL;
	}
	content = secret_read(fd, TOKEN_BODY_MAX, err);
	close(fd);
	return content;
}

static struct secret *get_subject(struct fetcher *fetcher, const struct credential *credential, struct error *err)
{
	struct token_header headers[SOURCE_HEADERS_MAX];
	struct token_request request = { .url = credential->subject_url, .headers = headers };
	struct token_answer answer;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)credential->subject_headers, name, value)
		headers[request.header_count++] = (struct token_header){ name, json_string_value(value) };
	return token_call(fetcher, &request, "the source of the foreign token", &answer, err) ? answer.body : NULL;
}

static struct secret *subject_token(struct fetcher *fetcher, const struct credential *credential, struct error *err)
{
	struct secret *body = credential->subject_file ? read_subject_file(credential->subject_file, err)
	                                               : get_subject(fetcher, credential, err);

	if (!body)
		return NULL;
	return credential->subject_field ? member_of(body, credential->subject_field, err) : trimmed(body, err);
}

static void add_workforce(struct text *form, const char *project)
{
	json_t *options = json_pack("{s:s}", "userProject", project);
	char *text = json_dumps(options, JSON_COMPACT);
	OWNED(text) escaped = text_new(4096);

	/* Quoted as a value of its own, and once more as a member of the form. */
	add_escaped(escaped, text, strlen(text));
	form_add(form, "options", escaped->at);
	free(text);
	json_decref(options);
}

static bool exchange_subject(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                             struct token *out, struct error *err)
{
	struct secret *subject = subject_token(fetcher, credential, err);
	bool has_client = credential->client_id && credential->client_secret;
	char *basic = has_client ? basic_of(credential) : NULL;
	struct token_header header = { "Authorization", basic };
	OWNED(text) form = text_new(FORM_BYTES_MAX);
	bool is_fetched = false;

	if (subject) {
		form_add(form, "grant_type", GRANT_EXCHANGE);
		form_add(form, "audience", credential->audience);
		form_add(form, "scope", scope);
		form_add(form, "requested_token_type", TYPE_ACCESS_TOKEN);
		form_add_bytes(form, "subject_token", (const char *)secret_look(subject), secret_length(subject));
		form_add(form, "subject_token_type", credential->subject_token_type);
		if (credential->workforce_project && !has_client)
			add_workforce(form, credential->workforce_project);
		secret_free(subject);
		is_fetched = post_form(fetcher, credential->token_url, form, &header, has_client ? 1 : 0, out, err);
	}
	free_secret_text(basic);
	return is_fetched;
}

bool fetch_external(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                           struct token *out, struct error *err)
{
	struct token own = { 0 };
	bool is_fetched;

	if (!credential->impersonation_url)
		return exchange_subject(fetcher, credential, scope, out, err);
	is_fetched = exchange_subject(fetcher, credential, SCOPE_CLOUD_PLATFORM, &own, err) &&
	             impersonate(fetcher, credential, own.value, scope, out, err);
	secret_free(own.value);
	return is_fetched;
}
