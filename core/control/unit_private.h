/* What systemd and logind do with the engine; asked only when one is to be started. */
#ifndef WEIR_CONTROL_UNIT_PRIVATE_H
#define WEIR_CONTROL_UNIT_PRIVATE_H

#include "options/options.h"

/* True: systemd has started the user's weird.service, which has this home. */
bool unit_start(const struct home *home);
/* True: at logout logind will end the engine that we start ourselves. */
bool logind_ends_us(void);

#endif
