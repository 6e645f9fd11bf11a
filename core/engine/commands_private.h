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

#endif
