/*
 * Decimals as digits and a scale: exact at any length, without floating point.
 */
#ifndef WEIR_RECORD_TYPE_DECIMAL_PRIVATE_H
#define WEIR_RECORD_TYPE_DECIMAL_PRIVATE_H

#include "record/type_private.h"

/* The value is digits x 10^-scale. No zeros at either end; nothing at all for 0. */
struct decimal {
	const char *digits;
	size_t count;
	int64_t scale;
	bool is_negative;
};

/* "-12.30", "1e3"; a digit must be there. False: no number. */
bool decimal_parse(struct span text, struct arena *arena, struct decimal *out);
/* Big-endian two's complement; false if longer than DECIMAL_BYTES_MAX. */
#define DECIMAL_BYTES_MAX 65536
bool decimal_from_bytes(struct span bytes, int64_t scale, struct arena *arena, struct decimal *out);
/* Plain notation without trailing zeros; false if it would be absurdly long. */
#define DECIMAL_TEXT_MAX 400000
bool decimal_print(const struct decimal *decimal, struct arena *arena, struct span *out);
/* NUMERIC or BIGNUMERIC can hold it exactly. */
bool decimal_fits(const struct decimal *decimal, enum bq_kind kind);
/* Whole and within 64 bits. */
bool decimal_int64(const struct decimal *decimal, int64_t *out);

/* Canonical but for zeros at the end, and within NUMERIC's digits: then the text is its own answer. */
bool decimal_is_plain(struct span text, struct span *out);

/* Into r->to if that is a decimal, else into canonical text. */
enum convert_result reading_decimal(struct reading *r, const struct decimal *decimal, struct cell *out);
/* Plain text straight into a decimal column: no copy where it is canonical already. */
enum convert_result reading_decimal_text(struct reading *r, struct span text, struct cell *out);

#endif
