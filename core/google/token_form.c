/* Forms as token servers take them, and texts that hold secrets for a moment. */
#include "google/credentials_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define FORM "application/x-www-form-urlencoded"

void add_escaped(struct text *out, const char *at, size_t len)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";

	for (size_t i = 0; i < len; i++) {
		if (at[i] && strchr(plain, at[i]))
			text_add_char(out, at[i]);
		else
			text_add_format(out, "%%%02X", (unsigned char)at[i]);
	}
}

void form_add_bytes(struct text *out, const char *name, const char *at, size_t len)
{
	text_add_format(out, "%s%s=", out->len ? "&" : "", name);
	add_escaped(out, at, len);
}

void form_add(struct text *out, const char *name, const char *value)
{
	if (value)
		form_add_bytes(out, name, value, strlen(value));
}

/* Everything that was added, as a secret; the text is empty then. NULL: it was too long. */
static struct secret *text_secret(struct text *text, struct error *err)
{
	struct secret *secret = NULL;

	if (text->is_full)
		fail(err, ERROR_CONFIG, "bad_credentials", "what would be sent to the token server is longer than %d bytes",
		     FORM_BYTES_MAX);
	else
		secret = secret_take(text->at, text->len);
	sodium_memzero(text->at, text->len);
	text_clear(text);
	return secret;
}

bool post_form(struct fetcher *fetcher, const char *url, struct text *form, const struct token_header *headers,
                      size_t header_count, struct token *out, struct error *err)
{
	struct secret *body = text_secret(form, err);
	struct token_request request = { .url = url, .content_type = FORM, .body = body, .headers = headers,
		                         .header_count = header_count };
	struct token_answer answer;
	bool is_fine = body && token_call(fetcher, &request, "the token server", &answer, err);

	secret_free(body);
	if (!is_fine)
		return false;
	is_fine = token_of_answer(answer.body, clock_utc_us() / 1000000 + fetcher->clock_behind_s, "the token server", out, err);
	secret_free(answer.body);
	return is_fine;
}

/* RFC 6749 2.3.1: HTTP Basic. The caller frees; a header's value. */
char *basic_of(const struct credential *credential)
{
	OWNED(text) pair = text_new(8192);
	char *header;
	size_t at = strlen("Basic ");

	add_escaped(pair, credential->client_id, strlen(credential->client_id));
	text_add_char(pair, ':');
	add_escaped(pair, credential->client_secret, strlen(credential->client_secret));
	header = memory_zalloc(at + base64_room(pair->len) + 1);
	memcpy(header, "Basic ", at);
	base64_encode(text_span(pair), header + at);
	sodium_memzero(pair->at, pair->len);
	return header;
}

void free_secret_text(char *text)
{
	if (text)
		sodium_memzero(text, strlen(text));
	free(text);
}
