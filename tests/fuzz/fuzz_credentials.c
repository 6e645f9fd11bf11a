/*
 * Any bytes as a file of credentials and as the answer of a token server: read or refused with a reason that
 * the table has, and nothing of a value in the message. Reaches core/google (credentials_file.c, token_call.c).
 */
#include "base/reason.h"
#include "google/credentials_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_error(const struct error *err)
{
	assert(err->kind != ERROR_NONE && *err->message && reason_find(err->code));
}

static void read_file(struct span text)
{
	static const char *const allowed[] = { "id.example", NULL };
	struct error err = { 0 };
	struct credential *credential = credential_read(text, "the secret", allowed, &err);

	if (!credential)
		check_error(&err);
	else
		assert(credential->id != CREDENTIAL_METADATA && credential->universe);
	credential_free(credential);
}

static void read_answer(struct secret *body)
{
	struct token token = { 0 };
	struct error err = { 0 };

	if (token_of_answer(body, 1700000000, "the token server", &token, &err))
		assert(token.life_ms > 0 && secret_length(token.value));
	else
		check_error(&err);
	secret_free(token.value);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *copy = malloc(size + 1);
	struct secret *body;

	if (size > CREDENTIAL_FILE_MAX)
		size = CREDENTIAL_FILE_MAX;
	if (size)
		memcpy(copy, data, size);
	read_file(span_make(copy, size));
	body = secret_take(copy, size);
	read_answer(body);
	secret_free(body);
	free(copy);
	return 0;
}
