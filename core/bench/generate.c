/*
 * The generator of feeds. Everything random in a line comes from (seed, number),
 * so that lines can be made in any order and again.
 */
#include "base/arena.h"
#include "bench/generate_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_TEXT_MAX (16u << 10)
#define WRITE_BYTES (1u << 20)
#define FIRST_UTC_US INT64_C(1796000000000000)
#define NOTE_WORDS 30          /* brings a message to 0.86 KB */
#define STEP_US 1000           /* a message a millisecond */
#define FIRST_LSN UINT64_C(96264488)
#define STEP_LSN 168
#define YEAR_US UINT64_C(31556952000000)

static const char *const words[] = {
	"harbour", "slow", "cotton", "paper", "silver", "garden", "winter", "red", "letter", "north", "quiet", "stone",
	"window", "river", "amber", "field",
};
static const char *const states[] = { "placed", "paid", "packed", "shipped", "delivered", "returned", "lost", "held" };
static const char *const currencies[] = { "EUR", "USD", "GBP", "JPY" };

/* One message being made. */
struct draft {
	uint64_t number, random;
	uint64_t row;
	const char *table;
	int64_t utc_us;
	uint64_t lsn;
	int words;             /* of its note */
};

/* splitmix64: good bits from a counter. */
static uint64_t draw(struct draft *draft)
{
	uint64_t x = draft->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

struct generator *generator_new(const struct generator_setup *setup)
{
	struct generator *generator = memory_zalloc(sizeof(*generator));

	generator->setup = *setup;
	for (size_t i = 0; i < GENERATE_TABLES; i++) {
		generator->blocks[i] = text_new(BLOCK_TEXT_MAX);
		generator->key_blocks[i] = text_new(BLOCK_TEXT_MAX);
		schema_block_make(generate_tables[i], generator->blocks[i]);
		schema_key_block_make(generate_tables[i], generator->key_blocks[i]);
	}
	return generator;
}

void generator_free(struct generator *generator)
{
	if (!generator)
		return;
	for (size_t i = 0; i < GENERATE_TABLES; i++) {
		text_free(generator->blocks[i]);
		text_free(generator->key_blocks[i]);
	}
	free(generator);
}

/* Mostly plain words; now and then a quotation mark that must be escaped, or letters beyond ASCII. */
static char *put_note(char *at, struct draft *draft)
{
	uint64_t random = 0;

	for (int i = 0; i < draft->words; i++, random >>= 4) {
		if (i % 16 == 0)
			random = draw(draft);
		at = put(put(at, i ? " " : ""), words[random % 16]);
	}
	if (random % 8 == 0)
		at = put(at, " \\\"caf\\u00e9\\\"");
	else if (random % 8 == 1)
		at = put(at, " gr\xc3\xbc\xc3\x9f" "e");
	return at;
}

static char *put_cents(char *at, uint64_t number, int digits, uint64_t one)
{
	at = put_number(at, number / one);
	*at++ = '.';
	return put_digits(at, number % one, digits);
}

static char *put_after(char *at, struct draft *draft)
{
	uint64_t random = draw(draft);

	at = put_number(put(at, "{\"id\":"), draft->row);
	at = put_number(put(at, ",\"customer_id\":"), random % 200000 + 1);
	at = put(put(at, ",\"status\":\""), states[(random >> 20) % 8]);
	at = put_cents(put(at, "\",\"total\":\""), (random >> 24) % 1000000000, 4, 10000);
	at = put(put(at, "\",\"currency\":\""), currencies[(random >> 60) % 4]);
	random = draw(draft);
	at = put_utc(put(at, "\",\"placed_at\":\""), FIRST_UTC_US - (int64_t)(random % (5 * YEAR_US)));
	at = put_number(put(at, "\",\"touched\":"), (uint64_t)draft->utc_us - draw(draft) % YEAR_US);
	random = draw(draft);
	at = put_number(put(at, ",\"ship_on\":"), 18000 + random % 3000);
	at = put(put(at, ",\"paid\":"), (random >> 16) % 2 ? "true" : "false");
	at = put(put(at, ",\"weight\":"), (random >> 17) % 4 ? "" : "-");
	at = put_cents(at, (random >> 20) % 10000000 | 1, 5, 100000);
	at = put_number(put(at, ",\"quantity\":"), (random >> 50) % 500);
	at = put_note(put(at, ",\"note\":\""), draft);
	return put(at, "\"}");
}

static char *put_source(char *at, const struct draft *draft)
{
	at = put(at, "{\"version\":\"3.6.1.Final\",\"connector\":\"postgresql\",\"name\":\"bench\",\"ts_ms\":");
	at = put_number(at, (uint64_t)draft->utc_us / 1000);
	at = put_number(put(at, ",\"snapshot\":\"false\",\"db\":\"bench\",\"sequence\":\"[\\\""), draft->lsn - STEP_LSN);
	at = put_number(put(at, "\\\",\\\""), draft->lsn);
	at = put_number(put(at, "\\\"]\",\"ts_us\":"), (uint64_t)draft->utc_us);
	at = put_number(put(at, ",\"ts_ns\":"), (uint64_t)draft->utc_us * 1000);
	at = put(put(at, ",\"schema\":\"public\",\"table\":\""), draft->table);
	at = put_number(put(at, "\",\"txId\":"), 4900 + draft->number);
	at = put_number(put(at, ",\"lsn\":"), draft->lsn);
	return put(at, ",\"xmin\":null,\"origin\":null,\"origin_lsn\":null}");
}

static char *put_change(char *at, struct draft *draft, bool is_insert)
{
	uint64_t seen_us = (uint64_t)draft->utc_us + 200000 + draw(draft) % 100000;

	at = put_after(put(at, "{\"before\":null,\"after\":"), draft);
	at = put_source(put(at, ",\"source\":"), draft);
	at = put(put(at, ",\"transaction\":null,\"op\":\""), is_insert ? "c" : "u");
	at = put_number(put(at, "\",\"ts_ms\":"), seen_us / 1000);
	at = put_number(put(at, ",\"ts_us\":"), seen_us);
	at = put_number(put(at, ",\"ts_ns\":"), seen_us * 1000 + draw(draft) % 1000);
	return put(at, "}");
}

static char *put_key(char *at, const struct draft *draft, const struct text *key_block)
{
	if (key_block)
		at = put(put_text(put(at, "{\\\"schema\\\":"), key_block), ",\\\"payload\\\":");
	at = put_number(put(at, "{\\\"id\\\":"), draft->row);
	return put(at, key_block ? "}}" : "}");
}

static uint64_t row_updated(const struct generator_setup *setup, uint64_t random)
{
	uint64_t rows = setup->rows ? setup->rows : 1;

	return setup->youngest && setup->youngest < rows ? rows - random % setup->youngest : random % rows + 1;
}

size_t generator_line(const struct generator *generator, uint64_t number, char out[GENERATE_LINE_BYTES])
{
	const struct generator_setup *setup = &generator->setup;
	struct draft draft = {
		.number = number,
		.random = setup->seed ^ (number + 1) * UINT64_C(0xd1342543de82ef95),
		.utc_us = FIRST_UTC_US + (int64_t)number * STEP_US,
		.lsn = FIRST_LSN + number * STEP_LSN,
		.words = NOTE_WORDS + setup->more_words,
	};
	bool is_insert = number < setup->rows;
	size_t table = setup->has_schema ? draw(&draft) % GENERATE_TABLES : 0;
	char *at = put_number(put(out, "{\"id\":\""), number + 1);

	draft.table = generate_tables[table];
	draft.row = is_insert ? number + 1 : row_updated(setup, draw(&draft));
	at = put_key(put(at, "\",\"key\":\""), &draft, setup->has_schema ? generator->key_blocks[table] : NULL);
	at = put_utc(put(at, "\",\"attrs\":{},\"publish\":\""), draft.utc_us + 300000);
	at = put(at, "\",\"data\":");
	if (setup->has_schema)
		at = put(put_text(put(at, "{\"schema\":"), generator->blocks[table]), ",\"payload\":");
	at = setup->is_flat ? put_after(at, &draft) : put_change(at, &draft, is_insert);
	at = put(at, setup->has_schema ? "}}\n" : "}\n");
	return (size_t)(at - out);
}

static bool write_all(int fd, const char *at, size_t len)
{
	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool write_lines(const struct generator *generator, int fd, const struct generator_span *span)
{
	char *block = memory_alloc(WRITE_BYTES);
	size_t len = 0;
	bool is_fine = true;

	for (uint64_t i = 0; i < span->count && is_fine; i++) {
		if (len > WRITE_BYTES - GENERATE_LINE_BYTES) {
			is_fine = write_all(fd, block, len) && !atomic_load(span->is_cancelled);
			len = 0;
		}
		len += generator_line(generator, span->first + i, block + len);
	}
	is_fine = is_fine && write_all(fd, block, len);
	free(block);
	return is_fine;
}

bool generator_append(const struct generator *generator, const char *path, const struct generator_span *span,
                      struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail_errno(err, errno, "cannot make feed '%s'", path);
	bool is_fine = write_lines(generator, fd, span) && fsync(fd) == 0;
	int number = errno;

	close(fd);
	if (!is_fine && atomic_load(span->is_cancelled))
		return fail(err, ERROR_CANCELLED, "cancelled", "the measurement was interrupted");
	return is_fine || fail_errno(err, number, "cannot write feed '%s'", path);
}
