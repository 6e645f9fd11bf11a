/* A job file on its way to struct job_options. */
#ifndef WEIR_OPTIONS_JOB_FILE_PRIVATE_H
#define WEIR_OPTIONS_JOB_FILE_PRIVATE_H

#include "options/job_options_private.h"

#define JOB_FILE_MAX ((size_t)1 << 20)
#define PROBLEMS_MAX 100 /* more are counted, not listed */

struct draft {
	struct span text;
	char *base;                   /* absolute: relative paths of the file */
	char *working_folder;         /* absolute: relative paths of overrides */
	struct option_problems *problems;
	const char *syntax_code;      /* of what is no JSON */
	json_t *root;                 /* the whole file */
	json_t *mentioned;            /* set of parameters given, fine or not */
	json_t *refused;              /* set of parameters whose value is not fine */
	json_t *overridden;           /* set of parameters given as NAME=VALUE */
	struct job_options *options;
	bool has_template;
};

/* Parses `text` into `root`; false, and a problem, if it is no JSON. Members that stand twice are problems too. */
bool draft_parse(struct draft *draft);

/* A problem at the value at `spot` ("parameters.warehouse"; '@' in front: at its name; NULL: not in the
 * file). `parameter` and `fix` may be NULL. */
void problem_add(struct draft *draft, const char *code, const char *spot, const char *parameter, const char *fix,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));
void problem_add_at(struct draft *draft, const char *code, int line, int column, const char *parameter,
                    const char *fix, const char *message);
void problem_add_warning(struct draft *draft, const char *code, const char *spot, const char *parameter,
                         const char *fix, const char *message);
/* Into file order; problems that stand in no file come last. */
void problems_sort(struct option_problems *problems);

/* True if the file or an override holds a key; then nothing else is said, since
 * any other message might quote it. */
bool draft_holds_secret(struct draft *draft, const char *const *overrides, size_t override_count);

void parameters_read(struct draft *draft, const json_t *parameters);
/* Before parameters_read: what is overridden is not read from the file. */
void overrides_note(struct draft *draft, const char *const *overrides, size_t count);
void overrides_read(struct draft *draft, const char *const *overrides, size_t count);

/* The table of cross-field rules. Needs the options filled. */
void rules_apply(struct draft *draft);

#endif
