/*
 * Rows for a table that somebody else has made. The sink learns which columns it
 * has; the transform, which alone knows what a message's values mean, writes the
 * row anew for them. They meet here, on the sink's thread.
 */
#ifndef WEIR_RECORD_FIT_H
#define WEIR_RECORD_FIT_H

#include "record/batch.h"

/* A table's columns as they are at the destination. */
struct fit_table {
	const struct table_schema *schema; /* the transform's, but for the types: those that the columns have there */
	const bool *is_absent;             /* a column each: it is not there, and must not be added */
	uint64_t version;                  /* another number: other columns */
};

struct row_fitter {
	/* Fills record->proto for these columns from the record's message. False: the row is refused, the verdict is set. */
	bool (*fit)(struct row_fitter *fitter, struct batch *batch, struct record *record, const struct fit_table *table);
	void (*close)(struct row_fitter *fitter);
};

#endif
