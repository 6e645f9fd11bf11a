/*
 * Where a service of Google is reached: its own host, another one that the job or
 * the environment names, or an emulator. An emulator gets plain text and no token,
 * and is reached on this machine only (security.md): any other address is refused
 * with `emulator_not_local` before a byte is sent, and again when its name has
 * been looked up.
 */
#ifndef WEIR_GOOGLE_ENDPOINT_H
#define WEIR_GOOGLE_ENDPOINT_H

#include "base/error.h"
#include "base/span.h"

#include <sys/socket.h>

enum google_service {
#define SERVICE(id, name, host, path, upload, variable, other) SERVICE_##id,
#include "google/services.def"
#undef SERVICE
	GOOGLE_SERVICES
};

struct endpoint {
	char host[256];       /* without brackets, as for a certificate and a look-up */
	uint16_t port;
	bool is_plain;        /* no TLS: emulators, always on this machine */
	bool is_emulator;     /* no token either; every screen shows it */
	char variable[64];    /* that named the emulator; "" none */
	char base[512];       /* of REST's calls: "https://bigquery.googleapis.com/bigquery/v2", never a slash at the end */
	char upload[512];     /* of REST's uploads; "" the service has none */
	char authority[272];  /* host, with ":port" unless it is 443 */
};

struct endpoint_wish {
	const char *override; /* host, host:port or URL that a job names; NULL: none. Wins over the environment */
	const char *universe; /* domain; NULL: googleapis.com */
	const char *(*variable)(void *context, const char *name); /* NULL: getenv */
	void *context;
};

const char *google_service_name(enum google_service service);
bool endpoint_find(enum google_service service, const struct endpoint_wish *wish, struct endpoint *out,
                   struct error *err);

/* "localhost" and names below it, 127.0.0.0/8, ::1 and the unspecified addresses, which lead here. */
bool endpoint_is_local(const char *host);
bool address_is_local(const struct sockaddr *address);

/* Is this a host of the universe, so that it may be given a token? "pubsub.googleapis.com", "x-private.p.googleapis.com". */
bool endpoint_is_google(const char *host, const char *universe);

#endif
