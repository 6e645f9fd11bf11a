/* Tokens by REST: what credentials_setup.exchange is in the engine. */
#ifndef WEIR_GOOGLE_TOKEN_REST_H
#define WEIR_GOOGLE_TOKEN_REST_H

#include "google/credentials.h"

/* The context; lent for as long as the credentials are open. */
struct token_rest {
	const char *ca_file; /* PEM: trusted instead of the system's; NULL */
	const char *proxy;   /* NULL: the environment's; "": none. Never for the metadata server */
};

bool token_exchange_rest(void *context, const struct token_request *request, struct token_answer *out, struct error *err);

#endif
