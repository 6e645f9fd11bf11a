/* The box in which a secret comes over the socket: its key lives as long as the process, and nowhere else. */
#include "vault/vault_private.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct vault_box {
	unsigned char public_key[crypto_box_PUBLICKEYBYTES];
	struct secret *secret_key;
	char address[64]; /* base64 of the public key */
};

struct vault_box *vault_box_new(void)
{
	struct vault_box *box = memory_zalloc(sizeof(*box));

	box->secret_key = secret_new(crypto_box_SECRETKEYBYTES);
	crypto_box_keypair(box->public_key, secret_bytes(box->secret_key));
	box->address[base64_encode(span_make((const char *)box->public_key, sizeof(box->public_key)), box->address)] = '\0';
	return box;
}

void vault_box_free(struct vault_box *box)
{
	if (!box)
		return;
	secret_free(box->secret_key);
	free(box);
}

const char *vault_box_address(const struct vault_box *box)
{
	return box->address;
}

static struct secret *open_sealed(struct vault_box *box, const unsigned char *sealed, size_t len)
{
	struct secret *value = secret_new(len - crypto_box_SEALBYTES);

	if (crypto_box_seal_open(secret_bytes(value), sealed, len, box->public_key, secret_look(box->secret_key)) == 0)
		return value;
	secret_free(value);
	return NULL;
}

struct secret *vault_box_open(struct vault_box *box, const char *sealed, struct error *err)
{
	size_t len = strlen(sealed);
	char *bytes = memory_alloc(len + 4);
	struct secret *value = NULL;

	if (len <= base64_room(SECRET_BYTES_MAX + crypto_box_SEALBYTES) && base64_decode(span_make(sealed, len), bytes, &len) &&
	    len >= crypto_box_SEALBYTES)
		value = open_sealed(box, (const unsigned char *)bytes, len);
	free(bytes);
	if (!value)
		fail(err, ERROR_USAGE, "bad_secret_box", "the secret did not come in a box for this engine");
	return value;
}
