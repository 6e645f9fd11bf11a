/*
 * A job as its owner wrote it. One table (job_options.c) describes every
 * parameter; the reader of job files, --param, `weir check`, completion and the
 * reference page come from it.
 */
#ifndef WEIR_OPTIONS_OPTIONS_H
#define WEIR_OPTIONS_OPTIONS_H

#include "base/error.h"
#include "base/span.h"
#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define JOB_NAME_MAX 63
#define JOB_FILE_FORMAT 1

enum job_template { TEMPLATE_PUBSUB_CDC = 1, TEMPLATE_CDC = 2, TEMPLATE_BIGTABLE = 4 };
enum warehouse { WAREHOUSE_BIGQUERY, WAREHOUSE_LOCAL };
enum message_format { FORMAT_AUTO, FORMAT_DEBEZIUM_JSON, FORMAT_BEAM_ROW, FORMAT_JSON };
enum replication_mode { REPLICATION_MERGE, REPLICATION_CHANGELOG, REPLICATION_UPSERT, REPLICATION_APPEND };
enum schema_changes { SCHEMA_ADD, SCHEMA_REJECT, SCHEMA_IGNORE };
enum partition { PARTITION_NONE, PARTITION_HOUR, PARTITION_DAY, PARTITION_MONTH, PARTITION_YEAR };
enum unrepresentable { UNREPRESENTABLE_NULL, UNREPRESENTABLE_CLAMP, UNREPRESENTABLE_TEXT, UNREPRESENTABLE_DEAD_LETTER };

enum new_column_types { NEW_COLUMNS_STRING, NEW_COLUMNS_INFERRED };
enum schema_file_reading { SCHEMA_FILE_FULL, SCHEMA_FILE_ORIGINAL };
enum value_cleaning { CLEANING_MENDED, CLEANING_ORIGINAL, CLEANING_EXACT };

/* primaryKey: table "" means every table. */
struct primary_key {
	char *table;      /* as written: "events", "public.events" or "db.public.events" */
	char **columns;
	size_t count;
};

/* columnTypes: "table.column" -> type text and encoding ("", "base64", "hex"). */
struct column_override {
	char *table, *column, *type, *encoding;
};

struct job_options {
	char *name;
	enum job_template template;
	char *project;                     /* or NULL */
	json_t *parameters;                /* every parameter given, canonical form, paths absolute; owned */

	/* what the engine reads; texts NULL when not given and without default */
	enum warehouse warehouse;
	char *input_file;                  /* absolute path, or "-" */
	char *input_subscriptions, *input_topics; /* names with commas between */
	char *input_subscription;          /* one, as PubSub_CDC_to_BigQuery has it */
	enum message_format message_format;
	char *source_schema;               /* absolute path */
	char *quota_project;               /* pays for calls to Google; NULL: the one that the credentials name */
	char *credentials;                 /* "vault:NAME" or absolute path; NULL: Google's default chain */
	enum replication_mode replication_mode;
	/* Of a PubSub_CDC job, which may write to many, both name the dataset with its books: see job_home_dataset. */
	char *change_log_dataset, *replica_dataset;
	int64_t update_frequency_secs;     /* default by warehouse: 300 BigQuery, 1 local */
	struct primary_key *primary_keys;
	size_t primary_key_count;
	enum schema_changes schema_changes;
	struct column_override *column_types;
	size_t column_type_count;
	/* onUnrepresentable by kind; index is enum value_group of record/type.h: number, time, other */
	enum unrepresentable on_unrepresentable[3];
	char *unavailable_value;
	int64_t tombstone_days;            /* -1: for ever */
	char *table_name_pattern;          /* "{table}" by default */
	int64_t park_bytes;
	int64_t max_record_bytes;
	int64_t max_tables;
	int64_t local_cache_bytes;

	/* how tables of BigQuery are made */
	enum partition partition;
	char *partition_column, *clustering, *description, *location, *max_staleness; /* clustering: with commas between them */
	int64_t expiration_days;           /* -1: for ever */
	/* PubSub_CDC_to_BigQuery */
	char *output_dataset_template, *output_table_template;
	bool auto_map_tables;
	bool message_metadata;             /* templates may use the message's attributes, id and times */
	char *schema_file;                 /* absolute path or gs:// */
	enum schema_file_reading schema_file_reading;
	int64_t schema_file_interval_ms;   /* how often it is looked at */
	enum new_column_types new_column_types;
	enum value_cleaning value_cleaning;
	char *dead_letter_table;           /* PROJECT:DATASET.TABLE */
	char *dead_letter_folder;          /* absolute path or gs:// */
	bool dead_letter_metadata;
	int64_t window_ms, dead_letter_retry_ms, dead_letter_retries;
	char *output_table_spec;           /* taken, and without effect as in the original */
	int64_t thread_count;              /* the same: no order is destroyed here */

	/* how rows are written there */
	bool use_storage_write_api;        /* else insertAll */
	bool at_least_once;                /* the default stream; else committed streams with offsets */
	int64_t write_stream_count;        /* a table, exactly once; 0: one */
	int64_t write_interval_s;          /* exactly once; 0: not given */
};

/* Does outputDatasetTemplate name one dataset, whatever the message says? Then the job's books are in it. */
bool job_has_one_dataset(const struct job_options *options);

/* One problem of a job file. */
struct option_problem {
	bool is_warning;
	int line, column;          /* from 1; 0: does not stand in the file */
	char *code;                /* reasons.def */
	char *parameter;
	char *message;             /* what is wrong, what is allowed, did you mean ... */
	char *fix;                 /* or NULL */
};

struct option_problems {
	struct option_problem *items;
	size_t count, errors;
};

void option_problems_free(struct option_problems *problems);

/* Reads a job file from text. `base_folder` resolves relative paths; `overrides` are "NAME=VALUE" (relative paths there:
 * working folder). Every problem is reported, in file order. Returns the job when there is no error, else NULL; the
 * caller frees both. `path` is only for messages. */
struct job_options *job_options_read(struct span text, const char *path, const char *base_folder,
                                     const char *const *overrides, size_t override_count,
                                     struct option_problems *out_problems);
/* The same from a file: `no_such_file`, `no_permission`, `not_a_file`, `file_too_large` (1 MiB) as problems. */
struct job_options *job_options_load(const char *path, const char *const *overrides, size_t override_count,
                                     struct option_problems *out_problems);
void job_options_free(struct job_options *options);

/* The first error of `problems` as err: one problem whole, and how many more. Always false. */
bool option_problems_error(const struct option_problems *problems, const char *path, struct error *err);

/* One line for people: `file:line:column: parameter: what is wrong, what is allowed, did you mean ...`. */
bool option_problem_line(const struct option_problem *problem, const char *path, struct text *out);
/* The form of `weir check --json` (commands.md): {"level","code","file","line","column","parameter","message","fix"}. */
bool option_problem_json(const struct option_problem *problem, const char *path, struct text *out);

/* What the engine cannot do yet: false with `not_available_yet` naming the parameter and value. Also what must exist to
 * start: feed there, schema file readable. Shared by `run`, `start` and `check`. */
bool job_options_startable(const struct job_options *options, struct error *err);

/* Does the job need Google for anything: a subscription, a topic, BigQuery? */
bool job_options_ask_google(const struct job_options *options);
/* A schema file or a dead-letter folder on Cloud Storage? */
bool job_options_ask_storage(const struct job_options *options);
/* inputSubscriptions or inputSubscription, as it was given; NULL: none. Lent. */
const char *job_options_subscriptions(const struct job_options *options);
/* The table where dead letters also go: deadLetters.table, else outputDeadletterTable; NULL: none. Lent. It is where the
 * warehouse is: in BigQuery, or a dataset of the local warehouse. */
const char *job_options_letter_table(const struct job_options *options);
struct dead_letter_place {
	struct span project, dataset; /* project: empty where none is named */
	const char *table;
};
bool job_options_letter_place(const struct job_options *options, struct dead_letter_place *out);
/* deadLetters.topic, as it was given; NULL: none. Lent. */
const char *job_options_letter_topic(const struct job_options *options);

/* The registered form: whole job file text, members sorted, defaults left out; equal text = same job. Caller frees. */
char *job_options_text(const struct job_options *options);
/* Human difference of two registered forms, a line a parameter ("updateFrequencySecs: 300 -> 60"). Caller frees. */
char *job_options_difference(const char *old_text, const char *new_text);

/*
 * The table, for whoever makes something from it.
 */
struct option {
	const char *name;          /* JSON key = template parameter */
	const char *label;
	const char *help;          /* first sentence is the summary; ends with a full stop */
	const struct option_type *type;
	const char *const *choices; /* NULL-terminated, or NULL */
	const char *fallback;      /* default as the user would type it; NULL: none */
	int64_t least, most;       /* range of numbers */
	unsigned applies_to;       /* enum job_template bits */
	unsigned required_for;     /* templates whose metadata requires it */
	bool is_ours;              /* not a parameter of the template: left out when launching */
	bool is_available;         /* the engine does something with it already */
	size_t at;                 /* offset in struct job_options, or SIZE_MAX: only kept in `parameters` */
};

/* A column that is known: its table as the source or a file names it ("orders" or more), and its own name. */
struct known_column {
	const char *table, *column;
};
/* False: what columnTypes names is none of them, and the sentence says so, with the nearest name. */
bool column_override_known(const struct column_override *override, const struct known_column *known, size_t count,
                           struct text *out_sentence);
/* Tells of each name in columnTypes that sourceSchema does not have; of none where there is no such file. */
void job_options_column_names(const struct job_options *options, void (*on_unknown)(void *context, const char *sentence),
                              void *context);

extern const struct option job_option_table[];
extern const size_t job_option_count;
const struct option *option_find(const char *name); /* NULL: no such parameter */
/* A value of job_options.parameters as the user would type it behind NAME=. */
bool option_print(const struct option *option, const json_t *canonical, struct text *out);
const char *option_type_name(const struct option *option);
const char *job_template_name(enum job_template template);
/* What a value may be, in words: choices, or the type's form and its range. */
bool option_allowed(const struct option *option, struct text *out);
/* The chapters of a reference page; every parameter is in one. */
struct option_section {
	const char *title, *intro;
	bool (*holds)(const struct option *option);
};
extern const struct option_section option_sections[];
extern const size_t option_section_count;
/* The reference page of all parameters, as markdown. */
bool job_options_explain(struct text *out);

/* Where state lives (commands.md "Files"). All absolute, caller frees with home_free. */
struct home {
	char *config;      /* folder of config.json and jobs/NAME.json */
	char *state;       /* folder of jobs/NAME.db, warehouse/, logs/ ... */
	char *jobs_config; /* config/jobs */
	char *jobs_state;  /* state/jobs */
	char *warehouse;   /* state/warehouse */
	char *socket;      /* weird.sock */
	char *lock;        /* weird.lock */
	bool is_temporary; /* the socket's folder lies in the temporary folder, where strangers may write */
};
struct home *home_find(struct error *err);   /* from WEIR_HOME, XDG_*; socket_path_too_long, folder not ours */
void home_free(struct home *home);
bool home_make(const struct home *home, struct error *err); /* folders 0700 */
bool home_make_socket_folder(const struct home *home, struct error *err); /* the socket's alone */

#endif
