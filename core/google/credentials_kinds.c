/*
 * How each kind of credentials gets its token. Sources: RFC 7523 (JWT bearer), RFC 6749 (refresh),
 * google-auth-library-python (service_account, credentials, _metadata).
 */
#include "google/credentials_private.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define JWT_AUDIENCE "https://oauth2.googleapis.com/token"
#define METADATA_WAIT_MS 3000
#define GRANT_JWT "urn:ietf:params:oauth:grant-type:jwt-bearer"

/*
 * Service account
 */

static struct secret *assertion(const struct fetcher *fetcher, const struct credential *credential, const char *scope,
                                bool for_token_server, struct error *err)
{
	int64_t now_s = clock_utc_us() / 1000000 + fetcher->clock_behind_s;
	json_t *claims = json_pack("{s:s, s:s, s:I, s:I}", "iss", credential->account, "scope", scope, "iat", (json_int_t)now_s,
	                           "exp", (json_int_t)(now_s + TOKEN_LIFE_S));

	if (for_token_server)
		json_object_set_new(claims, "aud", json_string(JWT_AUDIENCE));
	else
		json_object_set_new(claims, "sub", json_string(credential->account));
	return jwt_sign(credential->private_key, credential->key_id, claims, err);
}

static bool ask_with_assertion(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                               struct token *out, struct error *err)
{
	struct secret *jwt = assertion(fetcher, credential, scope, true, err);
	OWNED(text) form = text_new(FORM_BYTES_MAX);

	if (!jwt)
		return false;
	form_add(form, "grant_type", GRANT_JWT);
	form_add_bytes(form, "assertion", (const char *)secret_look(jwt), secret_length(jwt));
	secret_free(jwt);
	return post_form(fetcher, credential->token_url, form, NULL, 0, out, err);
}

static bool fetch_service_account(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                                  struct token *out, struct error *err)
{
	bool is_fetched;

	if (!fetcher->setup->wants_token_call) {
		out->value = assertion(fetcher, credential, scope, false, err);
		out->life_ms = TOKEN_LIFE_S * 1000;
		return out->value != NULL;
	}
	is_fetched = ask_with_assertion(fetcher, credential, scope, out, err);
	/* Signed by a clock that is wrong, which the refusal has told. */
	if (!is_fetched && fetcher->has_learned_clock)
		is_fetched = ask_with_assertion(fetcher, credential, scope, out, err);
	return is_fetched;
}

/*
 * Users
 */

static bool fetch_user(struct fetcher *fetcher, const struct credential *credential, const char *scope, struct token *out,
                       struct error *err)
{
	bool is_foreign = credential->id == CREDENTIAL_EXTERNAL_USER;
	char *basic = is_foreign ? basic_of(credential) : NULL;
	struct token_header header = { "Authorization", basic };
	OWNED(text) form = text_new(FORM_BYTES_MAX);
	bool is_fetched;

	(void)scope; /* what a login may is settled when it is made */
	form_add(form, "grant_type", "refresh_token");
	form_add(form, "refresh_token", credential->refresh_token);
	if (!is_foreign) {
		form_add(form, "client_id", credential->client_id);
		form_add(form, "client_secret", credential->client_secret);
	}
	is_fetched = post_form(fetcher, credential->token_url, form, &header, is_foreign ? 1 : 0, out, err);
	free_secret_text(basic);
	return is_fetched;
}

/*
 * Metadata server
 */

static const char *metadata_host(const struct fetcher *fetcher)
{
	static const char *const names[] = { "GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *host = setup_variable(fetcher->setup, names[i]);

		if (host && *host && !strpbrk(host, "/@ ?#"))
			return host;
	}
	return "metadata.google.internal";
}

static bool fetch_metadata(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                           struct token *out, struct error *err)
{
	static const struct token_header flavor = { "Metadata-Flavor", "Google" };
	OWNED(text) url = text_new(4096);
	struct token_request request = { .headers = &flavor, .header_count = 1, .is_direct = true,
		                         .wait_ms = METADATA_WAIT_MS };
	struct token_answer answer;
	bool is_fine;

	(void)credential;
	text_add_format(url, "http://%s/computeMetadata/v1/instance/service-accounts/default/token?scopes=",
	                metadata_host(fetcher));
	add_escaped(url, scope, strlen(scope));
	request.url = url->at;
	if (!token_call(fetcher, &request, "the metadata server", &answer, err))
		return false;
	is_fine = answer.is_metadata_server ||
	          fail(err, ERROR_CONFIG, "google_bad_answer", "what answers in the metadata server's place is none");
	is_fine = is_fine && token_of_answer(answer.body, clock_utc_us() / 1000000, "the metadata server", out, err);
	secret_free(answer.body);
	return is_fine;
}

/* It goes into commands that people paste. */
static bool is_account(struct span name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("@.-_", c)))
			return false;
	}
	return name.len > 2 && name.len < ACCOUNT_BYTES && memchr(name.at, '@', name.len);
}

bool metadata_account(struct fetcher *fetcher, char out[ACCOUNT_BYTES])
{
	static const struct token_header flavor = { "Metadata-Flavor", "Google" };
	OWNED(text) url = text_new(4096);
	struct token_request request = { .headers = &flavor, .header_count = 1, .is_direct = true, .wait_ms = METADATA_WAIT_MS };
	struct token_answer answer = { 0 };
	struct error ignored = { 0 };
	bool is_fine;

	text_add_format(url, "http://%s/computeMetadata/v1/instance/service-accounts/default/email", metadata_host(fetcher));
	request.url = url->at;
	if (!fetcher->exchange(fetcher->context, &request, &answer, &ignored))
		return false;
	struct span name = { (const char *)secret_bytes(answer.body), secret_length(answer.body) };

	while (name.len && strchr("\r\n ", name.at[name.len - 1]))
		name.len--;
	is_fine = answer.http_status == 200 && answer.is_metadata_server && is_account(name);
	if (is_fine)
		snprintf(out, ACCOUNT_BYTES, "%.*s", SPAN_ARG(name));
	secret_free(answer.body);
	return is_fine;
}

typedef bool (*fetch_kind)(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                           struct token *out, struct error *err);

bool credential_fetch(struct fetcher *fetcher, const struct credential *credential, const char *scope, struct token *out,
                      struct error *err)
{
	static const fetch_kind kinds[CREDENTIAL_KINDS] = {
		[CREDENTIAL_SERVICE_ACCOUNT] = fetch_service_account, [CREDENTIAL_AUTHORIZED_USER] = fetch_user,
		[CREDENTIAL_EXTERNAL_ACCOUNT] = fetch_external,       [CREDENTIAL_EXTERNAL_USER] = fetch_user,
		[CREDENTIAL_IMPERSONATED] = fetch_impersonated,       [CREDENTIAL_METADATA] = fetch_metadata,
	};

	return kinds[credential->id](fetcher, credential, scope, out, err);
}
