/* What the rooms of this folder know of the option table. */
#ifndef WEIR_OPTIONS_JOB_OPTIONS_PRIVATE_H
#define WEIR_OPTIONS_JOB_OPTIONS_PRIVATE_H

#include "options/option_type_private.h"

#define JOB_TEMPLATES 3

struct template_row {
	enum job_template template;
	const char *name;
	const char *help;
};

extern const struct template_row job_templates[JOB_TEMPLATES];

/* accept() of the row's type, for any JSON value. */
json_t *option_accept(const struct option *option, const json_t *value, const char *base,
                      struct complaint *complaint);

/* The default of this parameter in this job, as the user would type it; NULL: none.
 * Without a job (NULL) the one that the table names. */
const char *option_default(const struct option *option, const struct job_options *options);
json_t *option_default_value(const struct option *option, const struct job_options *options);

#endif
