/* SHA-256, the fast hash and base64. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void sha256_is_the_known_one(void **state)
{
	unsigned char hash[SHA256_BYTES];
	char text[SHA256_TEXT_BYTES];

	(void)state;
	sha256(SPAN("abc"), hash);
	sha256_text(hash, text);
	assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256(span_make(NULL, 0), hash);
	sha256_text(hash, text);
	assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static int number_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

#define KEYS 100000

static void different_keys_have_different_hashes(void **state)
{
	uint64_t *hashes = malloc(KEYS * sizeof(*hashes));

	(void)state;
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = hash_bytes(span_make((const char *)&i, sizeof(i)));
	qsort(hashes, KEYS, sizeof(*hashes), number_compare);
	for (size_t i = 1; i < KEYS; i++)
		assert_true(hashes[i] != hashes[i - 1]);
	free(hashes);
}

/* Tables take some bits of the hash: low ones and high ones must both spread. */
static void hashes_spread_over_a_table(void **state)
{
	static unsigned low[1024], high[1024];

	(void)state;
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t hash = hash_bytes(span_make((const char *)&i, sizeof(i)));

		low[hash & 1023]++;
		high[hash >> 54]++;
	}
	for (size_t i = 0; i < 1024; i++) {
		assert_in_range(low[i], 40, 170);
		assert_in_range(high[i], 40, 170);
	}
}

static void zero_bytes_and_lengths_count(void **state)
{
	static const char zeros[64];
	uint64_t hashes[65];

	(void)state;
	for (size_t len = 0; len <= 64; len++)
		hashes[len] = hash_bytes(span_make(len ? zeros : NULL, len));
	qsort(hashes, 65, sizeof(hashes[0]), number_compare);
	for (size_t i = 1; i < 65; i++)
		assert_true(hashes[i] != hashes[i - 1]);
}

static void every_bit_of_a_key_counts(void **state)
{
	(void)state;
	for (size_t len = 1; len <= 40; len++) {
		char *key = calloc(1, len);
		uint64_t zero = hash_bytes(span_make(key, len));

		for (size_t bit = 0; bit < 8 * len; bit++) {
			key[bit / 8] = (char)(1 << bit % 8);
			assert_true(hash_bytes(span_make(key, len)) != zero);
			key[bit / 8] = 0;
		}
		free(key);
	}
}

/* Each text in a buffer of its own size, so that the sanitizer sees a step too far. */
static bool decode(const char *text, char *out, size_t *out_len)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);

	memcpy(copy, text, len);
	bool is_fine = base64_decode(span_make(copy, len), out, out_len);
	free(copy);
	return is_fine;
}

static void base64_reads_what_an_encoder_writes(void **state)
{
	static const struct {
		const char *text, *bytes;
	} rows[] = {
		{ "", "" },         { "Zg==", "f" },        { "Zm8=", "fo" },         { "Zm9v", "foo" },
		{ "Zm9vYg==", "foob" }, { "Zm9vYmE=", "fooba" }, { "Zm9vYmFy", "foobar" }, { "+/+/", "\xfb\xff\xbf" },
		{ "Zh==", "f" }, /* bits behind the last byte, as Java takes them */
		{ "Zm9=", "fo" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char out[16];
		size_t len = 99;

		assert_true(decode(rows[i].text, out, &len));
		assert_true(span_equal(span_make(out, len), span_of(rows[i].bytes)));
	}
}

static void base64_refuses_everything_else(void **state)
{
	static const char *const texts[] = {
		"Z", "Zg", "Zg=", "Zm8", "Zm9vYg", "Zg===", "====", "Z===", "=", "Zg==Zg==", "Zm8=Zm9v", "Z=g=", "Zm=v",
		" Zg==", "Zg== ", "Zg==\n", "Zm9v\r\nYg==", "Zm 9", "-_-_", "Zm9*", "Zm9\xc3", "Zg=\x3d\x3d\x3d\x3d",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char out[16];
		size_t len = 99;

		assert_false(decode(texts[i], out, &len));
		assert_int_equal(len, 99);
	}
	char out[4];
	size_t len = 99;

	assert_false(base64_decode(span_make("Zm\0v", 4), out, &len));
}

static void base64_round_trips(void **state)
{
	char bytes[64], text[96], again[72];

	(void)state;
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		size_t again_len = 0;

		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)(i * 37 + len * 11);
		size_t text_len = base64_encode(span_make(bytes, len), text);

		assert_int_equal(text_len, base64_room(len));
		assert_true(base64_decode(span_make(text, text_len), again, &again_len));
		assert_true(span_equal(span_make(again, again_len), span_make(bytes, len)));
		/* and in place */
		assert_true(base64_decode(span_make(text, text_len), text, &again_len));
		assert_true(span_equal(span_make(text, again_len), span_make(bytes, len)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_is_the_known_one),
		cmocka_unit_test(different_keys_have_different_hashes),
		cmocka_unit_test(hashes_spread_over_a_table),
		cmocka_unit_test(zero_bytes_and_lengths_count),
		cmocka_unit_test(every_bit_of_a_key_counts),
		cmocka_unit_test(base64_reads_what_an_encoder_writes),
		cmocka_unit_test(base64_refuses_everything_else),
		cmocka_unit_test(base64_round_trips),
	};

	return cmocka_run_group_tests_name("base_hash", tests, NULL, NULL);
}
