/* What a column that DDL defines is at the destination, and what rows have in it that were there before it. */
#ifndef WEIR_TRANSFORM_DDL_VALUE_H
#define WEIR_TRANSFORM_DDL_VALUE_H

#include "record/type.h"
#include "transform/ddl.h"

/* How its values will come: with a schema block, so that dates are dates, or as the plain numbers that Debezium's
 * default time modes give. False: nobody can tell of such a type. */
bool ddl_column_type(const struct ddl_column *column, bool has_blocks, struct arena *arena, struct bq_type *out);

/* The value of rows that were there when the column was added, as JSON for a column of type `to`; "null" is one.
 * False: only the source knows it, and *out_why says why. `when_ms` is the statement's own time. */
bool ddl_column_fill(const struct ddl_column *column, const struct bq_type *to, int64_t when_ms, struct arena *arena,
                     struct span *out_json, const char **out_why);

/* A column before a statement gives it another type: at the destination, and as the newest row's schema block told it. */
struct ddl_was {
	enum bq_kind kind;
	bool is_told;
	bool is_single;  /* a float of four bytes */
	bool is_list;    /* ENUM, SET */
	int32_t scale;   /* of a decimal; below 0: not told */
	bool is_mariadb;
};

/* What becomes of its values: the steps of a cast for the sink; empty: they stay as they are. NULL: the source does the
 * same; else why older rows may hold something else than at the source. */
const char *ddl_convert(const struct ddl_was *was, const struct ddl_column *to, struct arena *arena, struct span *out_spec);

/* Does every value stay as it is, unless the server lets pass what does not fit? */
bool ddl_keeps_keys(const struct ddl_was *was, const struct ddl_column *to);

#endif
