/*
 * What the books' rows were when they were written. SQLite has no checksums: a bit
 * that a disk turns in a number makes another number, from which messages would be
 * passed over or counted twice. Rows of older versions have no digest until they are
 * written again.
 */
#include "sink/local_sink_private.h"

#include "base/hash.h"

#include <inttypes.h>

#define DIGESTED_MAX (16u << 20)

static void finish(struct text *text, unsigned char out[DIGEST_BYTES])
{
	unsigned char whole[SHA256_BYTES];

	sha256(text_span(text), whole);
	memcpy(out, whole, DIGEST_BYTES);
	text_free(text);
}

/* With its length, so that no two rows are written alike. */
static void add(struct text *text, struct span piece)
{
	text_add_format(text, " %zu:", piece.len);
	text_add_span(text, piece);
}

void digest_position(const char *job, const char *incarnation, const struct source_position *position, int64_t commits,
                     unsigned char out[DIGEST_BYTES])
{
	struct text *text = text_new(DIGESTED_MAX);

	text_add_format(text, "position %" PRIu64 " %" PRIu64 " %" PRId64, position->offset, position->line, commits);
	add(text, span_of(job));
	add(text, span_of(incarnation));
	add(text, position->identity);
	add(text, position->unparked);
	finish(text, out);
}

void digest_ledger(const char *job, int64_t number, struct span table, const uint64_t *counters, size_t count,
                   unsigned char out[DIGEST_BYTES])
{
	struct text *text = text_new(DIGESTED_MAX);

	text_add_format(text, "ledger %" PRId64, number);
	for (size_t i = 0; i < count; i++)
		text_add_format(text, " %" PRIu64, counters[i]);
	add(text, span_of(job));
	add(text, table);
	finish(text, out);
}

bool digest_is(struct span stored, const unsigned char made[DIGEST_BYTES])
{
	return !stored.len || (stored.len == DIGEST_BYTES && memcmp(stored.at, made, DIGEST_BYTES) == 0);
}
