/*
 * Hashes and base64. SHA-256 is libsodium's; the fast hash only has to spread
 * keys over a table of this process, so its values may change with any version.
 */
#include "base/hash.h"

#include <sodium/crypto_hash_sha256.h>

void sha256(struct span data, unsigned char out[SHA256_BYTES])
{
	crypto_hash_sha256(out, (const unsigned char *)data.at, data.len);
}

void sha256_text(const unsigned char hash[SHA256_BYTES], char out[SHA256_TEXT_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_BYTES; i++) {
		out[2 * i] = digits[hash[i] >> 4];
		out[2 * i + 1] = digits[hash[i] & 15];
	}
	out[2 * SHA256_BYTES] = '\0';
}

/* Odd constants without structure: the first digits of e, pi and the golden ratio. */
#define MIX_A UINT64_C(0xb7e151628aed2a6b)
#define MIX_B UINT64_C(0x243f6a8885a308d3)
#define MIX_C UINT64_C(0x9e3779b97f4a7c15)

__extension__ typedef unsigned __int128 wide_product;

/* Both halves of the product count, so every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	wide_product product = (wide_product)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load_64(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline uint64_t load_32(const char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* All of 1 to 7 bytes as one number; pieces may overlap, the length is mixed in elsewhere. */
static inline uint64_t load_short(const char *at, size_t len)
{
	if (len >= 4)
		return load_32(at) << 32 | load_32(at + len - 4);
	return (uint64_t)(unsigned char)at[0] << 16 | (uint64_t)(unsigned char)at[len / 2] << 8 |
	       (unsigned char)at[len - 1];
}

uint64_t hash_bytes(struct span data)
{
	uint64_t hash = MIX_A ^ data.len * MIX_C;
	const char *at = data.at;
	size_t left = data.len;

	for (; left >= 8; at += 8, left -= 8)
		hash = hash_mix(hash ^ load_64(at), MIX_B) + MIX_C;
	if (left) {
		/* The last 8 bytes again cost less than a tail of its own. */
		uint64_t tail = data.len >= 8 ? load_64(at + left - 8) : load_short(at, left);

		hash = hash_mix(hash ^ tail, MIX_B) + MIX_C;
	}
	return hash_mix(hash, MIX_A);
}
