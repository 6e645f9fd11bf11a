/*
 * Files of credentials: read by the table of kinds, what is needed checked, hosts held to Google's own. Nothing of a
 * value stands in a message.
 */
#include "google/credentials_private.h"

#include "base/arena.h"
#include "base/file.h"
#include "google/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_URL "https://oauth2.googleapis.com/token"
#define STS_URL "https://sts.googleapis.com/v1/token"
#define OLD_TOKEN_HOST "accounts.google.com" /* in keys of before 2017 */
#define UNIVERSE "googleapis.com"

static const struct {
	const char *type, *words;
} kinds[CREDENTIAL_KINDS] = {
#define CREDENTIAL(id, type, words) { type, words },
#include "google/credentials.def"
#undef CREDENTIAL
};

static const char *text_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	const char *text = json_string_value(value);

	return text && *text && strlen(text) == json_string_length(value) ? text : NULL;
}

struct reading {
	struct credential *credential;
	const char *name;
	const char *const *allowed_hosts;
	struct error *err;
};

static bool needs(const struct reading *reading, const char *member, const char *value)
{
	return value || fail(reading->err, ERROR_CONFIG, "bad_credentials", "%s lacks '%s'", reading->name, member);
}

static bool host_is_fine(const struct reading *reading, const char *url)
{
	return credential_host_is_fine(url, false, reading->allowed_hosts, reading->name, reading->err);
}

static bool read_service_account(struct reading *reading)
{
	struct credential *credential = reading->credential;

	credential->account = text_of(credential->root, "client_email");
	credential->private_key = text_of(credential->root, "private_key");
	credential->key_id = text_of(credential->root, "private_key_id");
	if (!credential->token_url)
		credential->token_url = TOKEN_URL;
	return needs(reading, "client_email", credential->account) && needs(reading, "private_key", credential->private_key) &&
	       host_is_fine(reading, credential->token_url);
}

static bool read_user(struct reading *reading)
{
	struct credential *credential = reading->credential;

	if (!credential->token_url)
		credential->token_url = credential->id == CREDENTIAL_AUTHORIZED_USER ? TOKEN_URL : NULL;
	return needs(reading, "client_id", credential->client_id) && needs(reading, "client_secret", credential->client_secret) &&
	       needs(reading, "refresh_token", credential->refresh_token) && needs(reading, "token_url", credential->token_url) &&
	       host_is_fine(reading, credential->token_url);
}

/* "text", or a member of a JSON object. */
static bool read_format(const struct reading *reading, const json_t *source)
{
	const json_t *format = json_object_get(source, "format");
	const char *type = text_of(format, "type");

	if (!type || strcmp(type, "text") == 0)
		return true;
	reading->credential->subject_field = text_of(format, "subject_token_field_name");
	if (strcmp(type, "json") != 0)
		return fail(reading->err, ERROR_CONFIG, "bad_credentials", "%s: the format of credential_source is text or json",
		            reading->name);
	return needs(reading, "subject_token_field_name", reading->credential->subject_field);
}

static bool headers_are_fine(const struct reading *reading, const json_t *headers)
{
	const char *name;
	json_t *value;

	if (json_object_size(headers) > SOURCE_HEADERS_MAX)
		return fail(reading->err, ERROR_CONFIG, "bad_credentials", "%s: credential_source has more than %d headers",
		            reading->name, SOURCE_HEADERS_MAX);
	json_object_foreach((json_t *)headers, name, value) {
		const char *text = json_string_value(value);

		if (!*name || strpbrk(name, ":\r\n ") || !text || strpbrk(text, "\r\n"))
			return fail(reading->err, ERROR_CONFIG, "bad_credentials", "%s: a header of credential_source is none",
			            reading->name);
	}
	return true;
}

/* Programs would run with the engine's rights, and AWS needs signatures of its own. */
static bool read_source(struct reading *reading)
{
	const json_t *source = json_object_get(reading->credential->root, "credential_source");
	struct credential *credential = reading->credential;

	credential->subject_file = text_of(source, "file");
	credential->subject_url = text_of(source, "url");
	credential->subject_headers = json_object_get(source, "headers");
	if (json_object_get(source, "executable"))
		return fail(reading->err, ERROR_CONFIG, "credentials_not_supported",
		            "%s gets its token from a program, which is not allowed", reading->name);
	if (json_object_get(source, "environment_id") || json_object_get(source, "certificate"))
		return fail(reading->err, ERROR_CONFIG, "credentials_not_supported",
		            "%s gets its token from AWS or a certificate; only file and url are supported", reading->name);
	if (!credential->subject_file && !credential->subject_url)
		return needs(reading, "credential_source.file", NULL);
	return read_format(reading, source) && headers_are_fine(reading, credential->subject_headers) &&
	       (!credential->subject_url || credential_host_is_fine(credential->subject_url, true, reading->allowed_hosts,
	                                                            reading->name, reading->err));
}

static bool read_external(struct reading *reading)
{
	struct credential *credential = reading->credential;
	const json_t *options = json_object_get(credential->root, "service_account_impersonation");

	credential->audience = text_of(credential->root, "audience");
	credential->subject_token_type = text_of(credential->root, "subject_token_type");
	credential->workforce_project = text_of(credential->root, "workforce_pool_user_project");
	credential->impersonation_url = text_of(credential->root, "service_account_impersonation_url");
	if (json_is_integer(json_object_get(options, "token_lifetime_seconds")))
		credential->lifetime_s = json_integer_value(json_object_get(options, "token_lifetime_seconds"));
	if (!credential->token_url)
		credential->token_url = STS_URL;
	return needs(reading, "audience", credential->audience) &&
	       needs(reading, "subject_token_type", credential->subject_token_type) &&
	       host_is_fine(reading, credential->token_url) &&
	       (!credential->impersonation_url || host_is_fine(reading, credential->impersonation_url)) && read_source(reading);
}

static struct credential *read_object(json_t *root, const char *name, const char *const *allowed_hosts, bool may_nest,
                                      struct error *err);

static bool read_impersonated(struct reading *reading, bool may_nest)
{
	struct credential *credential = reading->credential;
	json_t *source = json_object_get(credential->root, "source_credentials");

	credential->impersonation_url = text_of(credential->root, "service_account_impersonation_url");
	credential->delegates = json_object_get(credential->root, "delegates");
	if (json_array_size(credential->delegates) > DELEGATES_MAX)
		return fail(reading->err, ERROR_CONFIG, "bad_credentials", "%s has more than %d delegates", reading->name,
		            DELEGATES_MAX);
	if (!needs(reading, "service_account_impersonation_url", credential->impersonation_url) ||
	    !needs(reading, "source_credentials", source ? "" : NULL) || !host_is_fine(reading, credential->impersonation_url))
		return false;
	if (!may_nest)
		return fail(reading->err, ERROR_CONFIG, "credentials_not_supported",
		            "%s impersonates as one that impersonates itself; use delegates", reading->name);
	credential->source = read_object(json_incref(source), reading->name, reading->allowed_hosts, false, reading->err);
	return credential->source != NULL;
}

static bool read_kind(struct reading *reading, bool may_nest)
{
	switch (reading->credential->id) {
	case CREDENTIAL_SERVICE_ACCOUNT: return read_service_account(reading);
	case CREDENTIAL_AUTHORIZED_USER:
	case CREDENTIAL_EXTERNAL_USER: return read_user(reading);
	case CREDENTIAL_EXTERNAL_ACCOUNT: return read_external(reading);
	case CREDENTIAL_IMPERSONATED: return read_impersonated(reading, may_nest);
	case CREDENTIAL_METADATA:
	case CREDENTIAL_KINDS: break;
	}
	return false;
}

static bool find_kind(struct reading *reading)
{
	const char *type = text_of(reading->credential->root, "type");
	OWNED(text) known = text_new(512);

	for (int i = 0; type && i < CREDENTIAL_KINDS; i++) {
		reading->credential->id = (enum credential_id)i;
		if (*kinds[i].type && strcmp(kinds[i].type, type) == 0)
			return true;
	}
	for (int i = 0; i < CREDENTIAL_KINDS; i++)
		text_add_format(known, "%s%s", i && *kinds[i].type ? ", " : "", kinds[i].type);
	if (!type)
		return needs(reading, "type", NULL);
	return fail(reading->err, ERROR_CONFIG, "credentials_not_supported", "%s is of type '%.60s'; supported are %s",
	            reading->name, type, known->at);
}

/* Takes the reference. */
static struct credential *read_object(json_t *root, const char *name, const char *const *allowed_hosts, bool may_nest,
                                      struct error *err)
{
	struct credential *credential = memory_zalloc(sizeof(*credential));
	struct reading reading = { credential, name, allowed_hosts, err };

	credential->root = root;
	credential->lifetime_s = TOKEN_LIFE_S;
	credential->token_url = text_of(root, "token_uri") ? text_of(root, "token_uri") : text_of(root, "token_url");
	credential->client_id = text_of(root, "client_id");
	credential->client_secret = text_of(root, "client_secret");
	credential->refresh_token = text_of(root, "refresh_token");
	credential->quota_project = text_of(root, "quota_project_id");
	credential->project = text_of(root, "project_id");
	credential->universe = text_of(root, "universe_domain") ? text_of(root, "universe_domain") : UNIVERSE;
	if (find_kind(&reading) && read_kind(&reading, may_nest))
		return credential;
	credential_free(credential);
	return NULL;
}

struct credential *credential_read(struct span text, const char *name, const char *const *allowed_hosts,
                                   struct error *err)
{
	json_error_t where;
	json_t *root = json_load_secret(text, JSON_REJECT_DUPLICATES, &where);

	if (json_is_object(root))
		return read_object(root, name, allowed_hosts, true, err);
	json_wipe(root);
	fail(err, ERROR_CONFIG, "bad_credentials", "%s is no JSON object (line %d)", name, root ? 1 : where.line);
	return NULL;
}

/* What others may read is said by the caller who knows whether that matters; what others may write is not trusted. */
static bool file_is_ours(int fd, const char *path, struct error *err)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return fail_errno(err, errno, "cannot look at '%s'", path);
	if (!S_ISREG(info.st_mode))
		return fail(err, ERROR_CONFIG, "not_a_file", "'%s' is no regular file", path);
	if (info.st_mode & (S_IWGRP | S_IWOTH | S_IROTH))
		return fail(err, ERROR_ACCESS, "credentials_exposed", "'%s' has mode %04o: others may read or change it", path,
		            (unsigned)(info.st_mode & 07777));
	return true;
}

struct credential *credential_load(const char *path, const char *const *allowed_hosts, struct error *err)
{
	struct credential *credential = NULL;
	struct secret *content = NULL;
	char name[300];
	int fd = fd_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	snprintf(name, sizeof(name), "'%.280s'", path);
	if (fd < 0)
		fail_errno(err, errno, "cannot open the credentials '%s'", path);
	else if (file_is_ours(fd, path, err) && (content = secret_read(fd, CREDENTIAL_FILE_MAX, err)))
		credential = credential_read(span_make((const char *)secret_look(content), secret_length(content)), name,
		                             allowed_hosts, err);
	if (fd >= 0)
		close(fd);
	secret_free(content);
	return credential;
}

struct credential *credential_of_metadata(void)
{
	struct credential *credential = memory_zalloc(sizeof(*credential));

	credential->id = CREDENTIAL_METADATA;
	credential->universe = UNIVERSE;
	return credential;
}

void credential_free(struct credential *credential)
{
	if (!credential)
		return;
	credential_free(credential->source);
	json_wipe(credential->root);
	free(credential);
}

static bool is_allowed(struct span host, const char *const *allowed_hosts)
{
	for (; allowed_hosts && *allowed_hosts; allowed_hosts++) {
		if (strlen(*allowed_hosts) == host.len && strncasecmp(*allowed_hosts, host.at, host.len) == 0)
			return true;
	}
	return false;
}

/* The host of a URL without user, port and brackets; empty if it is none. */
static struct span host_of(const char *url, bool *out_is_plain)
{
	const char *at = strstr(url, "://"), *end;

	*out_is_plain = strncmp(url, "http://", 7) == 0;
	if (!at || (!*out_is_plain && strncmp(url, "https://", 8) != 0))
		return span_make("", 0);
	at += 3;
	end = at + strcspn(at, "/?#");
	if (memchr(at, '@', (size_t)(end - at)) || memchr(at, '\\', (size_t)(end - at)))
		return span_make("", 0);
	if (*at == '[')
		return memchr(at, ']', (size_t)(end - at)) ? span_make(at + 1, strcspn(at, "]") - 1) : span_make("", 0);
	return span_make(at, strcspn(at, ":/?#"));
}

/* The universe is always Google's own here: what the file itself says of that proves nothing. */
bool credential_host_is_fine(const char *url, bool may_be_plain, const char *const *allowed_hosts, const char *name,
                             struct error *err)
{
	bool is_plain;
	struct span host = host_of(url, &is_plain);
	char text[256];

	if (!host.len || host.len >= sizeof(text) || strpbrk(url, " \t\r\n"))
		return fail(err, ERROR_CONFIG, "bad_credentials", "%s names a host by something that is no http or https URL", name);
	snprintf(text, sizeof(text), "%.*s", (int)host.len, host.at);
	if (is_plain && !may_be_plain && !endpoint_is_local(text))
		return fail(err, ERROR_CONFIG, "credential_host_refused", "%s would send credentials to '%s' without encryption", name,
		            text);
	if (is_allowed(host, allowed_hosts) ||
	    (!is_plain && (endpoint_is_google(text, UNIVERSE) || strcasecmp(text, OLD_TOKEN_HOST) == 0)))
		return true;
	return fail(err, ERROR_CONFIG, "credential_host_refused",
	            "%s would turn to '%s', which is not Google's and not allowed by name", name, text);
}
