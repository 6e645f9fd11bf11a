/* Lines of commands that take something away, and lack what the box in front of them asks for: a count or a name, and why. */
#ifndef WEIR_TUI_VIEW_LOSSY_H
#define WEIR_TUI_VIEW_LOSSY_H

#include "control/control.h"

/* False: it is none, or it is confirmed already. *out_args: as far as they were given; to json_decref. */
bool lossy_read(const char *line, enum command_id *out_id, json_t **out_args);
/* The line anew, without a reason: that is typed below, and begins with what was given. To free(). */
char *lossy_line(enum command_id id, const json_t *args);
/* Which letters it is about, as the arguments of a look at them; new reference. */
json_t *lossy_choice(const json_t *args);

#endif
