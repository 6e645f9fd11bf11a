/*
 * What happens to a message on its way: it becomes records, or is filtered, or
 * refused. A transform never fails as a whole: a message that it does not
 * understand is refused with a reason.
 */
#ifndef WEIR_TRANSFORM_TRANSFORM_H
#define WEIR_TRANSFORM_TRANSFORM_H

#include "options/options.h"
#include "record/batch.h"
#include "record/fit.h"

struct google;

struct transform {
	const struct transform_ops *ops;
};

struct transform_setup {
	const struct job_options *options;
	const struct table_schema *const *tables; /* known from earlier runs; index = table number */
	size_t table_count;
	struct span logs;                         /* source_position.logs of the last commit */
	bool wants_proto;                         /* fill record->proto with Storage Write bytes */
	bool wants_json;                          /* fill record->full_record: the local warehouse stores it */
	struct google *google;                    /* lent until close; NULL: the job asks nothing of Google */
	const char *kept_schema;                  /* where the schema file in force is kept; NULL: nowhere */
};

struct transform_ops {
	const char *name;
	const char *help;

	struct transform *(*open)(const struct transform_setup *, struct error *);
	/* Adds the message's records, schema changes and notes to the batch, or sets its fate. */
	void (*apply)(struct transform *, struct batch *, struct message *);
	/* Behind the last message of a batch: sets batch->end.logs where there is more to remember. May be NULL. */
	void (*finish)(struct transform *, struct batch *);
	void (*close)(struct transform *);
};

extern const struct transform_ops transform_debezium;
/* PubSub_CDC_to_BigQuery: the message is the row. Its records are INSERTs of tables whose schema names the dataset; with
 * wants_proto record->proto is the row alone, column i as field i + 1. */
extern const struct transform_ops transform_mapped;

/* Writes rows of transform_mapped again, for tables whose columns are somebody else's. For one thread at a time, which need
 * not be the transform's. */
struct row_fitter *mapped_fitter_open(const struct job_options *, struct error *);

const struct transform_ops *transform_choose(const struct job_options *, struct error *);

/* A time as RFC 3339 has it. */
bool publish_parse(struct span text, int64_t *out_us);
/* A message's publish time, as a number that its source has or by its text. False: it has none, or not as it should be. */
bool message_published(const struct message *message, int64_t *out_us);

#endif
