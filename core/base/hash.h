/* SHA-256 (libsodium), and a fast hash that never leaves the process. */
#ifndef WEIR_BASE_HASH_H
#define WEIR_BASE_HASH_H

#include "base/span.h"

#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_TEXT_BYTES 65

void sha256(struct span data, unsigned char out[SHA256_BYTES]);
void sha256_text(const unsigned char hash[SHA256_BYTES], char out[SHA256_TEXT_BYTES]);

uint64_t hash_bytes(struct span data);

/* base64, standard alphabet with padding, strict: no white space, no missing
 * padding, no other alphabet. Room needed: len / 4 * 3. */
bool base64_decode(struct span text, char *out, size_t *out_len);
size_t base64_room(size_t bytes); /* of the text, without NUL */
size_t base64_encode(struct span bytes, char *out);

#endif
