/*
 * What the rooms of the JSON transform (PubSub_CDC_to_BigQuery) share. It stands on
 * the tables, columns, shapes and rows of the Debezium transform: mapped_place.c finds
 * the destination, mapped_columns.c chooses types, mapped_values.c cleans values.
 */
#ifndef WEIR_TRANSFORM_MAPPED_PRIVATE_H
#define WEIR_TRANSFORM_MAPPED_PRIVATE_H

#include "transform/debezium_private.h"

#define DATASETS_MAX 20

/* schema_file.c */
struct file_column {
	struct span name;
	struct bq_type type;
	bool is_required;
	bool has_required_inside; /* a field of it is, however deep */
};

struct schema_file;
/* `path` is for messages. NULL with err: `bad_schema_file`. */
struct schema_file *schema_file_parse(const char *path, struct span text, enum schema_file_reading reading, struct error *err);
void schema_file_free(struct schema_file *file);
/* What it says of a column; NULL: nothing. */
const struct file_column *schema_file_column(const struct schema_file *file, struct span name, bool is_original);

/*
 * schema_watch.c: reads the file, from a disk or from Cloud Storage, and again when it has changed. Its thread begins with the first
 * look for news.
 */
struct schema_watch;
/* NULL with err: it cannot be read, or not as what it should be, and none is kept of before. */
struct schema_watch *schema_watch_open(const struct transform_setup *setup, struct schema_file **out_file, struct error *err);
void schema_watch_close(struct schema_watch *watch);
/* True: there is news, either why the changed file is not taken, or that it is: another one (the caller's), or NULL if it was taken
 * when the job opened. Costs next to nothing. */
bool schema_watch_news(struct schema_watch *watch, struct schema_file **out_file, struct error *out_failure);

struct mapping {
	const struct job_options *options;
	struct schema_file *file;                /* or NULL */
	struct schema_watch *watch;              /* of the file */
	struct span datasets[DATASETS_MAX];      /* that tables of the job are in */
	size_t dataset_count;
	struct dead_letter_place letters;        /* the job's own table of letters; empty: none that a message could name */
	bool is_first_row;                       /* the table has no column yet: those of this row are there when it is made */
	bool has_lines;                          /* a message without an id has been met: mapped_finish has work */
};

/* mapped_columns.c: another schema file is in force: which columns of known tables are REQUIRED. Their types stay. */
void mapped_columns_again(struct debezium *d);
/* A REQUIRED field of a row's records that has no value, with where it stands in the message; false: none. */
bool mapped_lacks_inside(const struct row *row, struct arena *arena, int32_t *out_column, const char **out_path);

/* mapped_fields.c: every member of an object that goes into a record has its field; false: the row is refused. */
bool mapped_fields_known(struct debezium *d, struct event *e, int column, const struct json_doc *doc, uint32_t token);

/* mapped_partition.c: of a name that is a partition's the table, and its day into e->partition; others stay. False: it is refused. */
bool mapped_take_partition(struct debezium *d, struct event *e, struct span *inout_name);

/* mapped_place.c: the row's table; false: the row is refused. */
bool mapped_find_table(struct debezium *d, struct event *e);
/* One of the job's datasets, from now on at least; datasets of earlier runs count too. False: it would be one too many. */
bool mapped_dataset_is_known(struct debezium *d, struct span dataset);

/* mapped_letters.c: the job's dead-letter table, where messages could name it. */
void mapped_letters_find(struct mapping *mapping);
bool mapped_is_letters(const struct mapping *mapping, struct span dataset, struct span table);

/* mapped.c: the message's text into e->doc; false: it is refused. */
bool mapped_parse(struct debezium *d, struct event *e);

/* mapped_clean.c: what the original makes of a value, without or with its faults; pure functions of text. */
/* Of a DATE: the text without a midnight behind it. */
struct span clean_date(struct span text, bool is_original, struct arena *arena);
/* Of a DATETIME: without one Z at its end. */
struct span clean_datetime(struct span text);
/* Of STRING: an object or list as compact JSON, members that are null left out, <>&'= escaped. */
struct span clean_nested(const struct json_doc *doc, uint32_t token, bool is_original, struct arena *arena);
/* A number as the original's language writes its doubles; whole numbers as they are. */
struct span clean_number(struct span text, struct arena *arena);

#endif
