/* What the rooms of the benchmarks share. */
#ifndef WEIR_BENCH_BENCH_PRIVATE_H
#define WEIR_BENCH_BENCH_PRIVATE_H

#include "base/error.h"
#include "base/text.h"
#include "bench/generate.h"
#include "options/options.h"
#include "sink/sink.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define BENCH_MESSAGES UINT64_C(1000000)

/* One call of `weir bench`. Everything it makes lies in `folder`, which is empty before and gone afterwards. */
struct bench {
	const char *feed;          /* --feed: absolute path, or NULL */
	bool is_json;
	char *folder;              /* $WEIR_HOME/bench */
	struct home *home;         /* of the jobs it runs: the folder itself */
	int lock;
	pthread_t watcher;
	sigset_t signals;
	atomic_bool is_cancelled;  /* ^C */
	atomic_bool is_over;
};

struct bench_result {
	double value;
	double baseline_value;     /* 0: none */
	bool is_skipped;           /* said already why */
	json_t *more;              /* further members, or NULL; owned */
};

enum bench_order { LESS_IS_BETTER, MORE_IS_BETTER };

struct bench_row {
	const char *name;
	const char *unit;
	const char *baseline;      /* or NULL */
	enum bench_order order;
	bool is_only_named;        /* left out by plain `weir bench` */
	uint64_t rows;             /* of the table, where that matters */
	bool has_schema;
	bool (*run)(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
	const char *note;
};

bool bench_encode(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_changelog(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_replica(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_feed_memory(struct bench *bench, const struct bench_row *row, struct bench_result *out,
                       struct error *err);

/*
 * The folder, the disk, the signals (bench_place.c).
 */
bool bench_open(struct bench *bench, const struct home *home, struct error *err);
void bench_close(struct bench *bench);
/* Removes what a row has left; databases and feeds are large. */
void bench_clear(struct bench *bench);
bool bench_cancelled(const struct bench *bench, struct error *err); /* false and `cancelled` after ^C */
/* Is there that much room? If not, it is said on standard error. */
bool bench_has_room(const struct bench *bench, const struct bench_row *row, uint64_t bytes);
void bench_settle(void); /* what earlier work has left unwritten must not slow the next */
double bench_now_s(void);
double bench_cpu_s(void); /* of this process, user and system */

/*
 * Feeds and jobs (bench_job.c).
 */
struct bench_job {
	char *feed;
	bool is_made;              /* the feed is ours: made by the generator */
	char *file;                /* the job file */
	struct job_options *options;
};

/* Appends lines to the generated feed of this row. */
bool bench_feed(struct bench *bench, const struct bench_row *row, const char *path, uint64_t first, uint64_t count,
                struct error *err);
/* Writes and reads the job: `mode` is a value of replicationMode. */
bool bench_job_open(struct bench *bench, const struct bench_row *row, const char *mode, struct bench_job *out,
                    struct error *err);
void bench_job_close(struct bench_job *job);
struct sink_setup bench_sink_setup(const struct bench *bench, const struct bench_job *job);
/* Runs to the end and checks the ledger. */
struct bench_run {
	double wall_s, cpu_s;
	uint64_t messages, rows;   /* of this run */
};
bool bench_job_run(struct bench *bench, const struct bench_job *job, struct bench_run *out, struct error *err);
bool bench_job_verify(struct bench *bench, const struct bench_job *job, struct error *err);

/*
 * One pass over a feed: source and transform, without a sink (bench_pass.c).
 */
struct pass {
	struct bench *bench;
	const struct job_options *options;
	void (*on_batch)(void *context, const struct batch *batch);
	void *context;
	uint64_t messages, records; /* out */
};
bool pass_encode(struct pass *pass, struct error *err); /* records have their Storage Write bytes */
bool pass_read(struct pass *pass, struct error *err);   /* the source only */
/* "messages" and "checksum" of the feed. */
bool pass_checksum(struct bench *bench, const struct job_options *options, json_t **out, struct error *err);

/*
 * Baselines (baseline.c, baseline_rows.c).
 */
bool baseline_jansson(struct bench *bench, const struct job_options *options, double *out_cpu_s, struct error *err);

struct baseline {
	char *rows;                /* file of decoded rows, in the order they are written */
	char *changelog, *replica; /* databases to write to; replica NULL: none */
	int64_t cache_bytes;       /* of one connection's share */
};
/* The state the job's files are in now becomes the state the baseline starts from. */
bool baseline_take(struct bench *bench, const struct bench_job *job, struct baseline *out, struct error *err);
/* Reads back what the run has added to the changelog since baseline_take. */
bool baseline_rows(struct bench *bench, const struct bench_job *job, struct baseline *baseline, struct error *err);
bool baseline_sqlite(const struct baseline *baseline, double *out_wall_s, struct error *err);
void baseline_clear(struct baseline *baseline);

#endif
