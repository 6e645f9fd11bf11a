/* Finding a service: the job's word, then the emulator's variable, then gcloud's, then Google's own host. */
#include "google/endpoint.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <strings.h>

#define UNIVERSE "googleapis.com"

static const struct service {
	const char *name, *host, *path, *upload;
	const char *variables[2];
} services[] = {
#define SERVICE(id, name, host, path, upload, variable, other) { name, host, path, upload, { variable, other } },
#include "google/services.def"
#undef SERVICE
};

/* What somebody wrote, taken apart. */
struct address {
	char scheme[8]; /* "" none was given */
	char host[256];
	uint16_t port;  /* 0: none was given */
	char path[256]; /* without a slash at the end; "" none */
};

const char *google_service_name(enum google_service service)
{
	return services[service].name;
}

static const char *variable_of(const struct endpoint_wish *wish, const char *name)
{
	const char *value = wish->variable ? wish->variable(wish->context, name) : getenv(name);

	return value && *value ? value : NULL;
}

static bool bad(struct error *err, const char *where, const char *why)
{
	return fail(err, ERROR_CONFIG, "bad_endpoint", "the address in %s cannot be used: %s", where, why);
}

static bool take_scheme(struct span *text, struct address *out)
{
	static const char *const schemes[] = { "https", "http" };

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(schemes[i]);

		if (text->len < len + 3 || strncasecmp(text->at, schemes[i], len) != 0 || memcmp(text->at + len, "://", 3) != 0)
			continue;
		snprintf(out->scheme, sizeof(out->scheme), "%s", schemes[i]);
		*text = span_make(text->at + len + 3, text->len - len - 3);
		return true;
	}
	/* Another scheme is none of ours; a colon alone is the one before a port. */
	return !memmem(text->at, text->len, "://", 3);
}

static bool host_is_fine(struct span host)
{
	for (size_t i = 0; i < host.len; i++) {
		unsigned char c = (unsigned char)host.at[i];

		if (!isalnum(c) && !strchr(".-_:%", c))
			return false;
	}
	return host.len > 0 && host.len < sizeof(((struct address *)NULL)->host);
}

/* "[::1]", "::1" and "name". *text stays at what is behind: a port or nothing. */
static bool take_host(struct span *text, struct address *out)
{
	size_t colons = 0, len = 0;
	struct span host;

	if (text->len && text->at[0] == '[') {
		const char *end = memchr(text->at, ']', text->len);

		if (!end)
			return false;
		host = span_make(text->at + 1, (size_t)(end - text->at) - 1);
		*text = span_make(end + 1, text->len - host.len - 2);
	} else {
		for (size_t i = 0; i < text->len; i++)
			colons += text->at[i] == ':';
		while (len < text->len && (colons > 1 || text->at[len] != ':'))
			len++;
		host = span_make(text->at, len);
		*text = span_make(text->at + len, text->len - len);
	}
	if (!host_is_fine(host))
		return false;
	memcpy(out->host, host.at, host.len);
	out->host[host.len] = '\0';
	return true;
}

static bool take_port(struct span text, struct address *out)
{
	unsigned long port = 0;

	if (!text.len)
		return true;
	if (text.at[0] != ':' || text.len < 2 || text.len > 6)
		return false;
	for (size_t i = 1; i < text.len; i++) {
		if (!isdigit((unsigned char)text.at[i]))
			return false;
		port = port * 10 + (unsigned long)(text.at[i] - '0');
	}
	out->port = (uint16_t)port;
	return port > 0 && port <= 65535;
}

static bool path_is_fine(struct span path)
{
	for (size_t i = 0; i < path.len; i++) {
		unsigned char c = (unsigned char)path.at[i];

		if (!isalnum(c) && !strchr("/-._~", c))
			return false;
	}
	return path.len < sizeof(((struct address *)NULL)->path);
}

/* [scheme://]host[:port][/path]. `where` is who said it, for the error. */
static bool address_read(const char *written, const char *where, struct address *out, struct error *err)
{
	struct address made = { 0 };
	struct span text = span_of(written), path = { 0 };
	const char *slash;

	if (!take_scheme(&text, &made))
		return bad(err, where, "only http and https are known");
	slash = text.len ? memchr(text.at, '/', text.len) : NULL;
	if (slash) {
		path = span_make(slash, text.len - (size_t)(slash - text.at));
		text.len = (size_t)(slash - text.at);
	}
	while (path.len && path.at[path.len - 1] == '/')
		path.len--;
	if (text.len && memchr(text.at, '@', text.len))
		return bad(err, where, "a name and password have no place in it");
	if (!take_host(&text, &made))
		return bad(err, where, "a host is missing or has odd characters");
	if (!take_port(text, &made))
		return bad(err, where, "the port is no number from 1 to 65535");
	if (!path_is_fine(path))
		return bad(err, where, "the path has odd characters");
	if (path.len)
		memcpy(made.path, path.at, path.len);
	*out = made;
	return true;
}

/* The unspecified address of an emulator ("0.0.0.0:8085", as it prints where it listens) leads to this machine. */
static void host_settle(struct endpoint *out)
{
	if (strcmp(out->host, "0.0.0.0") == 0)
		snprintf(out->host, sizeof(out->host), "127.0.0.1");
	else if (strcmp(out->host, "::") == 0)
		snprintf(out->host, sizeof(out->host), "::1");
}

/* A path that somebody wrote replaces the service's version path; Node's clients take it so. */
static void endpoint_fill(struct endpoint *out, const struct service *service, const struct address *address)
{
	bool is_v6;

	snprintf(out->host, sizeof(out->host), "%s", address->host);
	out->port = address->port ? address->port : out->is_plain ? 80 : 443;
	if (out->is_emulator)
		host_settle(out);
	is_v6 = strchr(out->host, ':') != NULL;
	snprintf(out->authority, sizeof(out->authority), is_v6 ? "[%s]" : "%s", out->host);
	if (out->port != (out->is_plain ? 80 : 443)) {
		size_t len = strlen(out->authority);

		snprintf(out->authority + len, sizeof(out->authority) - len, ":%u", (unsigned)out->port);
	}
	snprintf(out->base, sizeof(out->base), "%s://%s%.200s", out->is_plain ? "http" : "https", out->authority,
	         address->path[0] ? address->path : service->path);
	if (service->upload[0])
		snprintf(out->upload, sizeof(out->upload), "%s://%s%s", out->is_plain ? "http" : "https", out->authority,
		         service->upload);
}

static bool emulator_find(const struct service *service, const char *variable, const char *value, struct endpoint *out,
                          struct error *err)
{
	struct endpoint made = { .is_plain = true, .is_emulator = true };
	struct address address;

	if (!address_read(value, variable, &address, err))
		return false;
	if (!endpoint_is_local(address.host))
		return fail(err, ERROR_CONFIG, "emulator_not_local", "%s names '%s', which is not this machine", variable,
		            address.host);
	if (strcmp(address.scheme, "https") == 0)
		return bad(err, variable, "emulators are reached without encryption: write http, or no scheme");
	snprintf(made.variable, sizeof(made.variable), "%s", variable);
	endpoint_fill(&made, service, &address);
	*out = made;
	return true;
}

/* Tokens go there, so it is encrypted; plain text only on this machine, where it is an emulator. */
static bool override_find(const struct service *service, const char *where, const char *value, struct endpoint *out,
                          struct error *err)
{
	struct endpoint made = { 0 };
	struct address address;

	if (!address_read(value, where, &address, err))
		return false;
	if (strcmp(address.scheme, "http") == 0)
		return emulator_find(service, where, value, out, err);
	endpoint_fill(&made, service, &address);
	*out = made;
	return true;
}

static void gcloud_variable(const struct service *service, char *out, size_t room)
{
	snprintf(out, room, "CLOUDSDK_API_ENDPOINT_OVERRIDES_%s", service->name);
	for (char *at = out; *at; at++)
		*at = (char)toupper((unsigned char)*at);
}

bool endpoint_find(enum google_service which, const struct endpoint_wish *wish, struct endpoint *out, struct error *err)
{
	const struct service *service = &services[which];
	char name[64], host[256];
	const char *value;

	if (wish->override && *wish->override)
		return override_find(service, "the job", wish->override, out, err);
	for (size_t i = 0; i < 2; i++) {
		value = service->variables[i] ? variable_of(wish, service->variables[i]) : NULL;
		if (value)
			return emulator_find(service, service->variables[i], value, out, err);
	}
	gcloud_variable(service, name, sizeof(name));
	value = variable_of(wish, name);
	if (value)
		return override_find(service, name, value, out, err);
	snprintf(host, sizeof(host), "%s.%s", service->host, wish->universe && *wish->universe ? wish->universe : UNIVERSE);
	return override_find(service, "the universe", host, out, err);
}
