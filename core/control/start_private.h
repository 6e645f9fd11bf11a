/* Shared by start.c, detach.c and unit.c: ways to an engine. */
#ifndef WEIR_CONTROL_START_PRIVATE_H
#define WEIR_CONTROL_START_PRIVATE_H

#include "base/error.h"
#include "options/options.h"

/* Starts `program` detached and waits for its word. False with the engine's own reason (`engine_running` when another has
 * the home), or `engine_not_started`. */
bool engine_detach(const char *program, int64_t until_ms, struct error *err);

/* True: systemd has started the user's weird.service, which has this home. */
bool unit_start(const struct home *home);
/* False: the unit has ended again. */
bool unit_is_active(void);
/* True: at logout logind will end the engine that we start ourselves. */
bool logind_ends_us(void);

#endif
