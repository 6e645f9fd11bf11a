/* A secret on its way to the engine: in a box that only that process can open. */
#include "base/arena.h"
#include "base/hash.h"
#include "control/control.h"

#include <sodium.h>
#include <stdlib.h>

struct address {
	unsigned char key[crypto_box_PUBLICKEYBYTES];
	bool is_there;
};

static void take_address(void *context, const json_t *line)
{
	struct address *address = context;
	const char *text = json_string_value(json_object_get(line, "seal_to"));
	char bytes[128];
	size_t len;

	if (!text || strlen(text) >= sizeof(bytes) || !base64_decode(span_of(text), bytes, &len) ||
	    len != sizeof(address->key))
		return;
	memcpy(address->key, bytes, len);
	address->is_there = true;
}

/* The engine's key of this moment: it is made anew with each engine. */
static bool ask_address(struct client *client, struct address *out, struct error *err)
{
	struct client_hooks hooks = { .on_line = take_address, .context = out };
	int status;

	if (!client_call(client, "secret_list", json_object(), &hooks, &status, err))
		return false;
	return out->is_there || fail(err, ERROR_BUG, "bad_answer", "the engine did not say how a secret is sealed for it");
}

json_t *client_seal(struct client *client, const struct secret *secret, struct error *err)
{
	struct address address = { 0 };
	size_t len = secret_length(secret) + crypto_box_SEALBYTES;
	unsigned char *box;
	json_t *sealed = NULL;
	char *text;

	if (!ask_address(client, &address, err))
		return NULL;
	box = memory_alloc(len);
	text = memory_alloc(base64_room(len));
	/* There are points that are no key: nothing is in the box then. */
	if (crypto_box_seal(box, secret_look(secret), secret_length(secret), address.key) == 0)
		sealed = json_stringn(text, base64_encode(span_make((const char *)box, len), text));
	else
		fail(err, ERROR_BUG, "bad_answer", "what the engine named to seal a secret for is no key");
	free(text);
	free(box);
	return sealed;
}
