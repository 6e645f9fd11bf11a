/* JSON Web Tokens, signed with RSASSA-PKCS1-v1_5 and SHA-256 (RFC 7515, 7518, 7519), by OpenSSL. */
#include "google/credentials_private.h"

#include "base/arena.h"
#include "base/hash.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sodium.h>
#include <stdlib.h>

#define JWT_BYTES_MAX 16384

/* base64 in the alphabet for URLs and without padding. */
static void add_url_base64(struct text *out, struct span bytes)
{
	char *text = memory_alloc(base64_room(bytes.len) + 1);
	size_t len = base64_encode(bytes, text);

	while (len && text[len - 1] == '=')
		len--;
	for (size_t i = 0; i < len; i++)
		text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
	text_add_span(out, span_make(text, len));
	free(text);
}

static void add_part(struct text *out, const json_t *object)
{
	char *json = json_dumps(object, JSON_COMPACT);

	add_url_base64(out, span_of(json ? json : ""));
	free(json);
}

static bool add_signature(struct text *out, EVP_PKEY *key)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	unsigned char signature[1024];
	size_t len = sizeof(signature);
	bool is_signed;

	is_signed = context && EVP_PKEY_get_size(key) <= (int)sizeof(signature) &&
	            EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
	            EVP_DigestSign(context, signature, &len, (const unsigned char *)out->at, out->len) == 1;
	EVP_MD_CTX_free(context);
	if (!is_signed)
		return false;
	text_add_char(out, '.');
	add_url_base64(out, span_make((const char *)signature, len));
	return !out->is_full;
}

/* A key that asks for a password is none of ours: nobody may be asked on a terminal. */
static int no_password(char *room, int size, int is_writing, void *context)
{
	(void)room, (void)size, (void)is_writing, (void)context;
	return -1;
}

static EVP_PKEY *read_key(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;

	BIO_free(bio);
	ERR_clear_error();
	if (key && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA)
		return key;
	EVP_PKEY_free(key);
	return NULL;
}

struct secret *jwt_sign(const char *private_key_pem, const char *key_id, json_t *claims, struct error *err)
{
	json_t *header = json_pack("{s:s, s:s, s:s*}", "alg", "RS256", "typ", "JWT", "kid", key_id);
	OWNED(text) jwt = text_new(JWT_BYTES_MAX);
	EVP_PKEY *key = read_key(private_key_pem);
	struct secret *token = NULL;

	add_part(jwt, header);
	text_add_char(jwt, '.');
	add_part(jwt, claims);
	if (!key)
		fail(err, ERROR_CONFIG, "bad_credentials", "private_key is no RSA key in PEM form without a password");
	else if (!add_signature(jwt, key))
		fail(err, ERROR_CONFIG, "bad_credentials", "private_key does not sign");
	else
		token = secret_take(jwt->at, jwt->len);
	EVP_PKEY_free(key);
	json_decref(header);
	json_decref(claims);
	return token;
}
