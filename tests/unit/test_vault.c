/* The vault: what was put comes back, and nothing else ever does. */
#include "vault/vault.h"

#include "base/arena.h"
#include "base/file.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/weir-test-XXXXXX";

static int folder_begin(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int folder_end(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

static int vault_begin(void **state)
{
	unlink("vault");
	unlink("vault.key");
	*state = vault_new("vault", "vault.key");
	return 0;
}

static int vault_end(void **state)
{
	vault_free(*state);
	return 0;
}

static struct secret *secret_of(const char *text)
{
	char *copy = memory_string(text);
	struct secret *secret = secret_take(copy, strlen(text));

	free(copy);
	return secret;
}

static int64_t put(struct vault *vault, const char *name, const char *value)
{
	struct secret *secret = secret_of(value);
	struct error err = { 0 };
	int64_t version = 0;

	if (!vault_put(vault, name, secret, &version, &err))
		fail_msg("%s", err.message);
	secret_free(secret);
	return version;
}

/* The value, or the reason why there is none. */
static void expect(struct vault *vault, const char *name, const char *wanted)
{
	struct error err = { 0 };
	struct secret *value = vault_get(vault, name, &err);
	char got[200] = "";

	if (value)
		snprintf(got, sizeof(got), "%.*s", (int)secret_length(value), (const char *)secret_look(value));
	else
		snprintf(got, sizeof(got), "!%s", err.code);
	assert_string_equal(got, wanted);
	secret_free(value);
}

static const char *unlock(struct vault *vault, const char *passphrase)
{
	static struct error err;
	struct secret *secret = secret_of(passphrase);

	err = (struct error){ 0 };
	vault_unlock(vault, secret, &err);
	secret_free(secret);
	return err.code;
}

static const char *seal(struct vault *vault, const char *passphrase)
{
	static struct error err;
	struct secret *secret = passphrase ? secret_of(passphrase) : NULL;

	err = (struct error){ 0 };
	vault_seal(vault, secret, &err);
	secret_free(secret);
	return err.code;
}

static json_t *load(void)
{
	return json_load_file("vault", 0, NULL);
}

static void store(json_t *file)
{
	assert_int_equal(json_dump_file(file, "vault", 0), 0);
	chmod("vault", 0600);
	json_decref(file);
}

static void what_was_put_comes_back(void **state)
{
	expect(*state, "a", "!secret_unknown");
	assert_int_equal(put(*state, "a", "one"), 1);
	assert_int_equal(put(*state, "b.c-d_9", "two"), 1);
	assert_int_equal(put(*state, "a", "three"), 2);
	expect(*state, "a", "three");
	expect(*state, "b.c-d_9", "two");
	assert_true(vault_delete(*state, "a", NULL));
	expect(*state, "a", "!secret_unknown");
	expect(*state, "b.c-d_9", "two");
}

static void another_process_reads_the_same(void **state)
{
	struct vault *other = vault_new("vault", "vault.key");

	put(*state, "a", "one");
	expect(other, "a", "one");
	vault_free(other);
}

static void names_and_sizes_have_limits(void **state)
{
	static const char *const bad[] = { "", "-a", ".a", "_a", "a b", "a/b", "\xc3\xa4", "a\n",
		                           "a1234567890123456789012345678901234567890123456789012345678901234" };
	struct secret *none = secret_new(0), *most = secret_new(SECRET_BYTES_MAX), *more = secret_new(SECRET_BYTES_MAX + 1);
	struct error err = { 0 };
	int64_t version;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(vault_put(*state, bad[i], most, &version, &err));
		assert_string_equal(err.code, "bad_secret_name");
	}
	assert_false(vault_put(*state, "a", none, &version, &err));
	assert_string_equal(err.code, "secret_empty");
	assert_false(vault_put(*state, "a", more, &version, &err));
	assert_string_equal(err.code, "secret_too_large");
	assert_int_not_equal(access("vault", F_OK), 0);
	assert_true(vault_put(*state, "a", most, &version, &err));
	secret_free(none);
	secret_free(most);
	secret_free(more);
}

static void a_box_opens_in_its_place_alone(void **state)
{
	json_t *file, *old, *secrets;

	put(*state, "a", "one");
	put(*state, "b", "two");
	file = load();
	secrets = json_object_get(file, "secrets");
	old = json_deep_copy(json_object_get(secrets, "a"));
	json_object_set(secrets, "b", json_object_get(secrets, "a"));
	store(file);
	expect(*state, "b", "!vault_damaged");
	expect(*state, "a", "one");

	put(*state, "a", "newer");
	file = load();
	json_object_set_new(old, "version", json_integer(2));
	json_object_set_new(json_object_get(file, "secrets"), "a", old);
	store(file);
	expect(*state, "a", "!vault_damaged");
}

static void overwrite(const char *path, const char *bytes, size_t len)
{
	FILE *file = fopen(path, "r+");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

/* Whatever bit of the file or the key turns: the value, or a reason; never another value. */
static void try_flip(struct vault *vault, const char *path, const char *bytes, size_t len, size_t bit)
{
	char *turned = memory_alloc(len);
	struct error err = { 0 };
	struct secret *value;

	memcpy(turned, bytes, len);
	turned[bit / 8] = (char)(turned[bit / 8] ^ (1 << bit % 8));
	overwrite(path, turned, len);
	value = vault_get(vault, "a", &err);
	if (value)
		assert_memory_equal(secret_look(value), "one", 3);
	else
		assert_true(*err.code);
	secret_free(value);
	free(turned);
}

static void a_turned_bit_gives_no_other_value(void **state)
{
	static const char *const paths[] = { "vault", "vault.key" };

	put(*state, "a", "one");
	for (size_t i = 0; i < 2; i++) {
		char *bytes;
		size_t len;

		assert_true(file_read(paths[i], 4096, &bytes, &len, NULL));
		for (size_t bit = 0; bit < 8 * len; bit += 3)
			try_flip(*state, paths[i], bytes, len, bit);
		assert_true(file_replace(paths[i], span_make(bytes, len), NULL));
		free(bytes);
	}
	expect(*state, "a", "one");
}

static void half_a_file_is_said_and_not_overwritten(void **state)
{
	struct secret *value = secret_of("two");
	struct error err = { 0 };
	char *bytes, *after;
	int64_t version;
	size_t len, after_len;

	put(*state, "a", "one");
	assert_true(file_read("vault", 4096, &bytes, &len, NULL));
	assert_true(file_replace("vault", span_make(bytes, len / 2), NULL));
	assert_false(vault_put(*state, "b", value, &version, &err));
	assert_string_equal(err.code, "vault_damaged");
	assert_true(file_read("vault", 4096, &after, &after_len, NULL));
	assert_int_equal(after_len, len / 2);
	free(bytes);
	free(after);
	secret_free(value);
}

static void others_may_not_read_it(void **state)
{
	put(*state, "a", "one");
	chmod("vault.key", 0640);
	expect(*state, "a", "!vault_exposed");
	chmod("vault.key", 0600);
	chmod("vault", 0604);
	expect(*state, "a", "!vault_exposed");
	chmod("vault", 0600);
	expect(*state, "a", "one");
	rename("vault.key", "elsewhere");
	expect(*state, "a", "!vault_key_missing");
	assert_int_equal(symlink("elsewhere", "vault.key"), 0);
	expect(*state, "a", "!not_a_file");
	unlink("vault.key");
	rename("elsewhere", "vault.key");
	expect(*state, "a", "one");
}

/* Figures that no vault of ours has are refused before anything is counted or shown. */
static void try_entry(struct vault *vault, const char *member, json_t *value)
{
	json_t *file = load();

	json_object_set_new(json_object_get(json_object_get(file, "secrets"), "a"), member, value);
	store(file);
	expect(vault, "a", "!vault_damaged");
}

static void versions_and_times_that_are_none(void **state)
{
	struct secret *value = secret_of("two");
	struct error err = { 0 };
	int64_t version;
	char *bytes;
	size_t len;

	put(*state, "a", "one");
	assert_true(file_read("vault", 4096, &bytes, &len, NULL));
	try_entry(*state, "version", json_integer(INT64_MAX));
	assert_false(vault_put(*state, "a", value, &version, &err));
	assert_string_equal(err.code, "vault_damaged");
	assert_true(file_replace("vault", span_make(bytes, len), NULL));
	try_entry(*state, "version", json_integer(0));
	assert_true(file_replace("vault", span_make(bytes, len), NULL));
	try_entry(*state, "changed", json_string("2026-01-01T00:00:00.000000Z, and whatever else one likes"));
	assert_true(file_replace("vault", span_make(bytes, len), NULL));
	try_entry(*state, "version", json_integer(INT64_C(1) << 53)); /* the last there can be */
	assert_false(vault_put(*state, "a", value, &version, &err));
	assert_string_equal(err.code, "vault_full");
	assert_true(file_replace("vault", span_make(bytes, len), NULL));
	expect(*state, "a", "one");
	secret_free(value);
	free(bytes);
}

static void a_seal_with_half_a_salt_opens_for_nobody(void **state)
{
	json_t *file;

	put(*state, "a", "one");
	assert_string_equal(seal(*state, "long enough"), "");
	file = load();
	json_object_set_new(json_object_get(file, "seal"), "salt", json_string("AAAA"));
	store(file);
	expect(*state, "a", "!vault_locked");
	assert_string_equal(unlock(*state, "long enough"), "vault_damaged");
}

static void try_figure(struct vault *vault, const char *member, json_t *value)
{
	json_t *file = load();

	json_object_set_new(json_object_get(file, "seal"), member, value);
	store(file);
	assert_string_equal(unlock(vault, "long enough"), "vault_damaged");
}

static void a_seal_does_not_ask_for_more_than_a_moment(void **state)
{
	char *bytes;
	size_t len;

	put(*state, "a", "one");
	assert_string_equal(seal(*state, "long enough"), "");
	assert_true(file_read("vault", 4096, &bytes, &len, NULL));
	try_figure(*state, "operations", json_integer(9));
	try_figure(*state, "operations", json_integer(-1));
	assert_true(file_replace("vault", span_make(bytes, len), NULL));
	try_figure(*state, "memory_bytes", json_integer((256 << 20) + 1));
	try_figure(*state, "memory_bytes", json_string("67108864"));
	assert_true(file_replace("vault", span_make(bytes, len), NULL));
	assert_string_equal(unlock(*state, "long enough"), "");
	free(bytes);
}

static void a_passphrase_locks_each_new_process(void **state)
{
	struct vault *next = vault_new("vault", "vault.key");
	struct vault_facts facts;
	struct error why = { 0 };

	put(*state, "a", "one");
	assert_string_equal(seal(*state, "short"), "passphrase_too_short");
	assert_string_equal(seal(*state, "long enough"), "");
	expect(*state, "a", "one");

	expect(next, "a", "!vault_locked");
	vault_look(next, &facts, &why);
	assert_int_equal(facts.state, VAULT_LOCKED);
	assert_int_equal(json_array_size(facts.secrets), 1);
	json_decref(facts.secrets);
	assert_string_equal(seal(next, NULL), "vault_locked");
	assert_string_equal(unlock(next, "long enouGh"), "wrong_passphrase");
	expect(next, "a", "!vault_locked");
	assert_string_equal(unlock(next, "long enough"), "");
	assert_string_equal(unlock(next, "wrong again"), "wrong_passphrase");
	expect(next, "a", "one"); /* a wrong word later locks nothing */

	assert_string_equal(seal(next, NULL), "");
	expect(*state, "a", "one"); /* the key file opens it for everybody */
	vault_free(next);
}

/* A disk that is full after so many bytes of a file. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void a_seal_that_was_not_written_leaves_the_old_one(void **state)
{
	put(*state, "a", "one");
	assert_string_equal(seal(*state, "long enough"), "");
	limit_files(16);
	assert_string_not_equal(seal(*state, "quite another"), "");
	limit_files(RLIM_INFINITY);
	expect(*state, "a", "one");
}

static void *put_many(void *vault)
{
	char name[16];

	snprintf(name, sizeof(name), "n%lx", (unsigned long)pthread_self() & 0xffffff);
	for (int i = 0; i < 20; i++)
		put(vault, name, name);
	expect(vault, name, name);
	return NULL;
}

static void two_at_once_lose_nothing(void **state)
{
	struct vault_facts facts;
	struct error why = { 0 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_many, *state), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	vault_look(*state, &facts, &why);
	assert_int_equal(json_array_size(facts.secrets), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(json_integer_value(json_object_get(json_array_get(facts.secrets, i), "version")), 20);
	json_decref(facts.secrets);
}

static void boxes_open_for_their_engine_alone(void **state)
{
	struct vault_box *box = vault_box_new();
	struct error err = { 0 };

	(void)state;
	assert_null(vault_box_open(box, "", &err));
	assert_string_equal(err.code, "bad_secret_box");
	assert_null(vault_box_open(box, "no base64", &err));
	assert_null(vault_box_open(box, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", &err));
	vault_box_free(box);
}

static void a_process_with_secrets_is_not_dumpable(void **state)
{
	struct rlimit core;

	put(*state, "a", "one");
	getrlimit(RLIMIT_CORE, &core);
	assert_int_equal(core.rlim_max, 0);
	assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, vault_begin, vault_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_put_comes_back),
		TEST(another_process_reads_the_same),
		TEST(names_and_sizes_have_limits),
		TEST(a_box_opens_in_its_place_alone),
		TEST(a_turned_bit_gives_no_other_value),
		TEST(half_a_file_is_said_and_not_overwritten),
		TEST(others_may_not_read_it),
		TEST(versions_and_times_that_are_none),
		TEST(a_seal_with_half_a_salt_opens_for_nobody),
		TEST(a_seal_does_not_ask_for_more_than_a_moment),
		TEST(a_passphrase_locks_each_new_process),
		TEST(a_seal_that_was_not_written_leaves_the_old_one),
		TEST(two_at_once_lose_nothing),
		TEST(boxes_open_for_their_engine_alone),
		TEST(a_process_with_secrets_is_not_dumpable),
	};

	return cmocka_run_group_tests(tests, folder_begin, folder_end);
}
