/*
 * A type of parameter is a struct of functions: what the file or the command
 * line may say, how the value is kept, shown and put into struct job_options.
 * The canonical form is JSON; two values mean the same if their canonical
 * forms are equal.
 */
#ifndef WEIR_OPTIONS_OPTION_TYPE_PRIVATE_H
#define WEIR_OPTIONS_OPTION_TYPE_PRIVATE_H

#include "base/text.h"
#include "options/options.h"

#define NOT_READ SIZE_MAX
#define WHY_MAX 480         /* bytes of a complaint */
#define VALUE_TEXT_MAX 4096 /* bytes of a value shown to people */

/* What accept() has to say about a value it does not take. */
struct complaint {
	const char *code;    /* a row of reasons.def */
	struct text *why;    /* what is wrong, then what is allowed */
	char *inside;        /* path of the wrong piece below the value, or NULL; owned by the complaint */
};

struct option_type {
	const char *name;    /* for the reference page */
	const char *form;    /* what is allowed, for messages: "a whole number" */
	const char *example; /* of those written as JSON, one that can be typed behind NAME=; else NULL */

	/* The canonical form of a JSON value, or of a text in Dataflow's spelling. The caller owns it.
	 * NULL: refused, and the complaint says why. `base` is the folder of relative paths. */
	json_t *(*accept)(const struct option *option, const json_t *value, const char *base,
	                  struct complaint *complaint);
	/* The canonical form as a user types it after NAME=; accept() of it gives the same value. */
	bool (*print)(const struct option *option, const json_t *canonical, struct text *out);
	/* Only called for rows that have a member (`at` is not NOT_READ). */
	void (*store)(const struct option *option, const json_t *canonical, struct job_options *options);
	/* Gives back what store() made. */
	void (*release)(const struct option *option, struct job_options *options);
	/* For types of a text: what it must look like (see option_word.c); else NULL. */
	bool (*is_word)(struct span text);
};

extern const struct option_type type_text, type_choice, type_switch, type_number, type_size, type_days;
extern const struct option_type type_path, type_feed, type_dataset, type_project, type_duration, type_timestamp;
extern const struct option_type type_subscription, type_subscriptions, type_topics, type_table_spec, type_gcs_path;
extern const struct option_type type_table_pattern, type_credentials, type_instance, type_profile, type_function;
extern const struct option_type type_changelog_fields, type_list;
extern const struct option_type type_primary_key, type_column_types, type_unrepresentable, type_record, type_labels;

/* complain() always returns NULL, so that refusing is one line. */
json_t *complain(struct complaint *complaint, const char *code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, about the piece at `inside` ("orders", "orders.0"). */
json_t *complain_inside(struct complaint *complaint, const char *inside, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A value that is not the JSON that the type wants: what is allowed, with an example that can be typed; and of a text that begins
 * like JSON what most often became of it. */
json_t *complain_json(const struct option *option, const json_t *value, struct complaint *complaint);
/* A text that begins like an object or a list and is none. */
bool is_broken_json(const json_t *value);
/* "'the value'" shortened and made harmless; lives in `room`. */
#define SHOWN_MAX 96
const char *shown(const char *value, char room[SHOWN_MAX]);
const char *json_kind(const json_t *value);

/* Shared by the types of text and of objects. */
void *member_of(const struct option *option, struct job_options *options);
json_t *text_value(const struct option *option, const json_t *value, struct complaint *complaint);
bool text_print(const struct option *option, const json_t *canonical, struct text *out);
bool object_print(const struct option *option, const json_t *canonical, struct text *out);
void text_store(const struct option *option, const json_t *canonical, struct job_options *options);
void text_release(const struct option *option, struct job_options *options);
void nothing_stored(const struct option *option, const json_t *canonical, struct job_options *options);
void nothing_released(const struct option *option, struct job_options *options);
bool is_dataset(struct span text);
bool is_bigquery_type(struct span text);
/* A JSON value that was written as text ('{"a":"b"}' after NAME=, as Dataflow does): parsed. NULL: not JSON. */
json_t *json_of_text(const json_t *value);
/* Comma list or JSON list of texts to a JSON list of trimmed, non-empty, unique texts. */
json_t *name_list(const json_t *value, const char *inside, struct complaint *complaint);
/* Below a blank, or DEL. */
bool name_has_control(struct span name);

#endif
