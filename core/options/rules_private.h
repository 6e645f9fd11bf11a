/* The conditions of the rules across parameters: rules.def names them. For rule*.c only. */
#ifndef WEIR_OPTIONS_RULES_PRIVATE_H
#define WEIR_OPTIONS_RULES_PRIVATE_H

#include "options/job_file_private.h"

#define RULE(name, ...) bool rule_##name(const struct draft *draft);
#include "options/rules.def"
#undef RULE

#endif
