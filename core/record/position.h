/*
 * Where a change stands in its source's log: epoch, A, B, C (spec/types.md 8) as
 * four big-endian numbers and one ordinal inside the event. Bytes compare as the
 * order, per key only: log positions are not in stream order.
 */
#ifndef WEIR_RECORD_POSITION_H
#define WEIR_RECORD_POSITION_H

#include "base/span.h"
#include "record/json.h"

#define POSITION_BYTES 33

struct position {
	uint64_t epoch, a, b, c;
	uint8_t ordinal;
};

void position_pack(const struct position *p, unsigned char out[POSITION_BYTES]);
void position_unpack(const unsigned char in[POSITION_BYTES], struct position *out);
int position_compare(const struct position *x, const struct position *y);

/* "E/A/B/C" in upper-case hexadecimal: BigQuery's _CHANGE_SEQUENCE_NUMBER. */
#define POSITION_TEXT_BYTES 68
void position_text(const struct position *p, char out[POSITION_TEXT_BYTES]);

/* 123 of "binlog.000123": the number behind the last dot of a MySQL log file. */
bool position_file_number(struct span file, uint64_t *out);

enum position_kind {
	POSITION_LOG,      /* from the source's log */
	POSITION_BY_TIME,  /* publish time: the table says order_by_time */
	POSITION_BY_LINE,  /* place in the feed: the table says order_by_line */
};

#endif
