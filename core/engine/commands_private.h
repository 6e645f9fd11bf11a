/* One function a row of control/commands.def that the engine answers. */
#ifndef WEIR_ENGINE_COMMANDS_PRIVATE_H
#define WEIR_ENGINE_COMMANDS_PRIVATE_H

#include "engine/engine.h"

#define DECLARE_HERE(id)
#define DECLARE_ENGINE_PROGRAM(id)
#define DECLARE_ENGINE(id) bool run_##id(struct call *call, struct error *err);
#define COMMAND(id, name, args, access, place, help) DECLARE_##place(id)
#include "control/commands.def"
#undef COMMAND

/* Texts of the repeated option --param; returns how many (at most 256). Lent by the call. */
size_t call_params(struct call *call, const char *out[256]);
/* Notes of the names in columnTypes that fit no column of the job's tables. */
void column_names_tell(struct call *call, const struct job_options *options);
/* A job as `job list` and `status` show it; new reference. */
json_t *job_line(struct call *call, const struct job_options *options, bool with_options, struct error *err);

#endif
