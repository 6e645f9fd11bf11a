/* The health lines of the engine. */
#ifndef WEIR_ENGINE_HEALTH_PRIVATE_H
#define WEIR_ENGINE_HEALTH_PRIVATE_H

#include "engine/engine.h"

struct call;

/* {"level":"ok|warning|fails","what","now"}, a line each. */
bool health_lines(struct call *call, struct error *err);

/* What the job of a status line does now (run_status.c). */
void status_add_live(struct call *call, json_t *line);

#endif
