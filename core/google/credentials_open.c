/* Credentials as a whole: opened from a wish, closed, and looked at. */
#include "google/credentials_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_words[CREDENTIAL_KINDS] = {
#define CREDENTIAL(id, type, words) words,
#include "google/credentials.def"
#undef CREDENTIAL
};

static const char **copy_list(const char *const *list)
{
	size_t count = 0;
	const char **copy;

	while (list && list[count])
		count++;
	copy = memory_zalloc((count + 1) * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = memory_string(list[i]);
	return copy;
}

static struct credentials_setup copy_setup(const struct credentials_setup *setup)
{
	struct credentials_setup copy = *setup;

	copy.file = memory_string(setup->file);
	copy.content = setup->content ? secret_copy(setup->content) : NULL;
	copy.content_name = memory_string(setup->content_name);
	copy.scope = memory_string(setup->scope ? setup->scope : SCOPE_CLOUD_PLATFORM);
	copy.allowed_hosts = copy_list(setup->allowed_hosts);
	return copy;
}

static void free_setup(struct credentials_setup *setup)
{
	for (size_t i = 0; setup->allowed_hosts[i]; i++)
		free((char *)setup->allowed_hosts[i]);
	free((char **)setup->allowed_hosts);
	free((char *)setup->scope);
	free((char *)setup->content_name);
	secret_free((struct secret *)setup->content);
	free((char *)setup->file);
}

void credential_describe(const struct credential *credential, const char *name, char *out, size_t room)
{
	const char *account = credential->account ? credential->account : "";

	if (credential->id == CREDENTIAL_METADATA)
		snprintf(out, room, "%s", name);
	else
		snprintf(out, room, "%s%s%s, %s", kind_words[credential->id], *account ? " " : "", account, name);
}

/* What stays for as long as these are open, whatever the file says later. */
static void keep_facts(struct credentials *credentials, const struct credential *credential)
{
	const char *quota = setup_variable(&credentials->setup, "GOOGLE_CLOUD_QUOTA_PROJECT");
	const char *project = setup_variable(&credentials->setup, "GOOGLE_CLOUD_PROJECT");
	const char *universe = setup_variable(&credentials->setup, "GOOGLE_CLOUD_UNIVERSE_DOMAIN");

	credentials->quota_project = memory_string(quota ? quota : credential->quota_project);
	credentials->project = memory_string(project ? project : credential->project);
	credentials->universe = memory_string(universe ? universe : credential->universe);
}

struct credentials *credentials_open(const struct credentials_setup *setup, struct error *err)
{
	struct credentials *credentials = memory_zalloc(sizeof(*credentials));
	struct credential *credential;
	char name[300];

	credentials->setup = copy_setup(setup);
	credentials->backoff = (struct backoff)BACKOFF(1000, 60000, 2);
	pthread_mutex_init(&credentials->lock, NULL);
	clock_cond_init(&credentials->changed);
	credential = chain_find(&credentials->setup, name, sizeof(name), err);
	if (!credential) {
		credentials_close(credentials);
		return NULL;
	}
	keep_facts(credentials, credential);
	credential_describe(credential, name, credentials->source, sizeof(credentials->source));
	credential_free(credential);
	return credentials;
}

void credentials_close(struct credentials *credentials)
{
	if (!credentials)
		return;
	secret_free(credentials->token);
	free_setup(&credentials->setup);
	free(credentials->quota_project);
	free(credentials->project);
	free(credentials->universe);
	pthread_cond_destroy(&credentials->changed);
	pthread_mutex_destroy(&credentials->lock);
	free(credentials);
}

const char *credentials_quota_project(const struct credentials *credentials)
{
	return credentials->quota_project;
}

const char *credentials_project(const struct credentials *credentials)
{
	return credentials->project;
}

const char *credentials_universe(const struct credentials *credentials)
{
	return credentials->universe;
}

void credentials_look(struct credentials *credentials, struct credentials_view *out)
{
	int64_t now_ms = clock_mono_ms();

	pthread_mutex_lock(&credentials->lock);
	*out = (struct credentials_view){
		.has_token = token_lasts(credentials, now_ms),
		.has_failed = credentials->failure.kind != ERROR_NONE,
		.left_ms = credentials->ends_ms - now_ms,
		.renew_ms = credentials->renew_ms - now_ms,
		.failed_since_us = credentials->failed_since_us,
		.failure = credentials->failure,
		.fetches = credentials->fetches,
		.clock_behind_s = credentials->clock_behind_s,
	};
	memcpy(out->source, credentials->source, sizeof(out->source));
	pthread_mutex_unlock(&credentials->lock);
}

bool credentials_sentence(const struct credentials_view *view, struct text *out)
{
	char since[CLOCK_TEXT_BYTES];

	if (view->has_failed) {
		clock_text(view->failed_since_us, since);
		return text_add_format(out, "%s since %.8sZ: %s", view->failure.kind == ERROR_UNREACHABLE || view->failure.kind ==
		                       ERROR_TRANSIENT ? "no new token" : "auth failed", since + 11, view->failure.message);
	}
	if (!view->has_token)
		return text_add_format(out, "no token was needed yet, %s", view->source);
	return text_add_format(out, "token of the %s, %lldm left, renewed in %lldm", view->source,
	                       (long long)(view->left_ms / 60000), (long long)(view->renew_ms > 0 ? view->renew_ms / 60000 : 0));
}

/* The source is a sentence of ours with the account in it. */
bool credentials_member(const struct credentials_view *view, char out[MEMBER_BYTES])
{
	const char *at = strchr(view->source, '@'), *begin = at;
	size_t len;

	if (!at)
		return false;
	while (begin > view->source && begin[-1] != ' ')
		begin--;
	len = strcspn(begin, " ,;");
	snprintf(out, MEMBER_BYTES, "%s:%.*s", strstr(begin, "gserviceaccount.com") ? "serviceAccount" : "user",
	         (int)(len < 280 ? len : 280), begin);
	return true;
}
