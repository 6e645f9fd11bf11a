/* The command line: one function a command that weir answers itself, one printer a command that the engine answers. */
#ifndef WEIR_TUI_CLI_CLI_H
#define WEIR_TUI_CLI_CLI_H

#include "control/control.h"

int cli_main(int argc, char **argv);
/* Says the error as a command without options would, and gives its exit status. */
int cli_fail(const struct error *err);

#endif
