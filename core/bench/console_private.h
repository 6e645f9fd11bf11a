/* The console's rows: what was measured of it and of htop beside it, and the engine with a large feed that all begin with. */
#ifndef WEIR_BENCH_CONSOLE_PRIVATE_H
#define WEIR_BENCH_CONSOLE_PRIVATE_H

#include "bench/bench_private.h"

#define LINES_A_STEP 25 /* of a feed that grows, and of one that is soon read */
#define SETTLE_S 3.0

struct rest {
	double percent, bytes_per_s, mib;
};

struct looked {
	struct rest one, job, many, idle, htop; /* job: one, on the screen of that job */
	double start_ms, key_ms, busy_ms, busy_key_ms, htop_start_ms;
	bool has_htop;
};

typedef bool console_look_fn(struct bench *bench, const struct bench_row *row, char *weir, struct bench_engine *engine,
                     const struct bench_job *job, struct looked *looked, struct error *err);

/* An engine of its own, a job of a large feed that is not begun; `look` measures. */
bool console_measure(struct bench *bench, const struct bench_row *row, console_look_fn *look, struct looked *looked,
                     struct bench_result *out, struct error *err);
/* Has the job more to read still? Else what was measured was a job at rest. */
bool console_is_at_load(struct bench_engine *engine, const struct bench_job *job, struct error *err);
/* htop in the same terminal, if it is installed: its start and its rest. */
bool console_htop(struct bench *bench, struct looked *looked, struct error *err);

#endif
