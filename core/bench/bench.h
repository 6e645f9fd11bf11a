/*
 * `weir bench`: speed and memory on this machine, each figure beside a baseline
 * measured in the same run. Names and units are a contract (commands.md
 * "Benchmarks"). Timed runs start from bytes in a file and run the real engine
 * with production durability.
 */
#ifndef WEIR_BENCH_BENCH_H
#define WEIR_BENCH_BENCH_H

#include "control/control.h"
#include "options/options.h"

/* Runs the row named in the arguments, or all that plain `weir bench` has. Returns the exit status. */
int bench_main(const struct home *home, const struct command_line *line);

#endif
