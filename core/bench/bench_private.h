/* What the rooms of the benchmarks share. */
#ifndef WEIR_BENCH_BENCH_PRIVATE_H
#define WEIR_BENCH_BENCH_PRIVATE_H

#include "base/error.h"
#include "base/text.h"
#include "bench/generate.h"
#include "options/options.h"
#include "record/batch.h"
#include "sink/sink.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define BENCH_MESSAGES UINT64_C(1000000)

/* Messages a second and CPU seconds a million of gRPC's echo: ours, and grpc-go's client. */
struct bench_echo {
	bool is_measured;
	double rate, go_rate, cpu, go_cpu;
};

/* The same of StreamingPull, and of a job that writes what it pulls into the local changelog. */
struct bench_pubsub {
	struct bench_echo pull;
	double changelog_rate, changelog_cpu;
};

/* Messages a second and CPU seconds a million from Pub/Sub into BigQuery, and Google's client that only receives. At half
 * of that rate: from a message's receipt until it is safe. */
struct bench_through {
	bool is_measured;
	double rate, go_rate, cpu, go_cpu;
	double peak_mib, half_rate, p99_ms;
	uint64_t rows;             /* of both runs */
};

/* Rows a second and CPU seconds a million into BigQuery: ours, and managedwriter. */
struct bench_bigquery {
	bool is_measured;
	double rate, go_rate, cpu, go_cpu;
	double row_bytes;          /* of ours, on the way */
	json_t *feed;              /* what a given feed is, or NULL */
};

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
	atomic_int wish;           /* enum run_wish: ^C drains the job under way */
	atomic_bool is_over;
	struct bench_echo echo;
	struct bench_pubsub pubsub;
	struct bench_bigquery bigquery;
	struct bench_through through, flat; /* changes of a database; rows as they are */
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
	const char *also;          /* a second row that is said when this one is named, or NULL */
	uint64_t rows;             /* of the table, where that matters */
	bool has_schema;
	bool is_flat;              /* messages are rows, for PubSub_CDC_to_BigQuery */
	bool is_pulled;            /* the job reads a subscription, whose server has the feed */
	int more_words;            /* of the feed's rows, where they are to be longer */
	bool has_young;            /* also measured: keys among the youngest rows, there and in a small table */
	bool (*run)(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
};

bool bench_encode(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_changelog(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_replica(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_feed_memory(struct bench *bench, const struct bench_row *row, struct bench_result *out,
                       struct error *err);
bool bench_idle_jobs(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_idle_jobs_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_grpc_echo(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_grpc_echo_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_pubsub(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_pubsub_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_bigquery(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_bigquery_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_pubsub_bigquery(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_pubsub_bigquery_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_console_start(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_console_rest_cpu(struct bench *bench, const struct bench_row *row, struct bench_result *out,
                            struct error *err);
bool bench_console_rest_bytes(struct bench *bench, const struct bench_row *row, struct bench_result *out,
                              struct error *err);
bool bench_dlq_groups(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);
bool bench_dlq_filter(struct bench *bench, const struct bench_row *row, struct bench_result *out, struct error *err);

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
double bench_middle(double *values, size_t count); /* sorts them */

/*
 * Engines of their own (bench_process.c), with the folder as their home.
 */
/* `arguments` are weird's, ended by NULL. The caller waits for it. */
bool bench_spawn(const struct bench *bench, char *const *arguments, pid_t *out_pid, struct error *err);
/* The number behind `name` in one of /proc's small texts, or 0. */
uint64_t bench_proc_number(const char *path, const char *name);

/* User and system time of a process so far (bench_engine.c). */
double bench_cpu_of_s(pid_t pid);
/* So many seconds in which this process does nothing; false after ^C. */
bool bench_rest(const struct bench *bench, double seconds, struct error *err);

/*
 * An engine that serves a socket in the folder (bench_engine.c).
 */
struct client;
struct bench_job;
struct bench_engine {
	pid_t pid;
	struct client *client;     /* NULL: closed by its user */
};
bool bench_engine_start(const struct bench *bench, struct bench_engine *out, struct error *err);
/* Makes and starts job `bench-NUMBER` on the feed of `job`, with datasets of its own, as jobs have. */
bool bench_engine_job(const struct bench *bench, struct bench_engine *engine, const struct bench_job *job, int number,
                      struct error *err);
/* Drained, since its files are removed next; killed when it does not end. */
void bench_engine_end(struct bench_engine *engine);

/*
 * Programs that stand beside weird, spoken to over pipes (bench_talker.c).
 */
struct bench_talker {
	pid_t pid;
	int in, out;
};
/* The environment with our folder as $WEIR_HOME (bench_process.c). */
char **bench_environment(const struct bench *bench);
void bench_environment_free(char **names);
char *bench_program(const char *name); /* its path; owned */
/* `names` is its environment. */
bool bench_talker_start(char *const *arguments, char *const *names, struct bench_talker *out, struct error *err);
/* One line of JSON; NULL after ^C and when there was none. */
json_t *bench_talker_answer(const struct bench *bench, struct bench_talker *talker, struct error *err);
/* Closes its standard input: a server says its last line then. */
void bench_talker_hush(struct bench_talker *talker);
/* Waits for its end, or kills it; the seconds of processor that it took. */
double bench_talker_end(struct bench_talker *talker, bool is_patient);
/* A client that says {"messages","wall_s","cpu_s"} at its end: messages a second, CPU seconds a million. */
bool bench_client_run(const struct bench *bench, char *const *arguments, double *out_rate, double *out_cpu, struct error *err);

/*
 * Servers of BigQuery (bigquery.c), found by whoever looks for it meanwhile: tables at the Go stand-in, rows counted by ours.
 */
struct bench_warehouse {
	struct bench_talker tables, rows;
};
bool bench_warehouse_start(const struct bench *bench, struct bench_warehouse *out, struct error *err);
bool bench_warehouse_end(const struct bench *bench, struct bench_warehouse *warehouse, bool is_fine, uint64_t *out_rows,
                         struct error *err);

/*
 * A server of Pub/Sub with BENCH_MESSAGES messages (pubsub.c): the lines of `feed`, or bodies of its own (NULL). It sends
 * `messages_per_s`, or as many as are taken (0).
 */
bool bench_pubsub_start(const struct bench *bench, char *feed, uint64_t messages_per_s, struct bench_talker *out, char target[40],
                        struct error *err);
/* Checks that all were acknowledged, if the work was fine. */
bool bench_pubsub_end(const struct bench *bench, struct bench_talker *server, bool is_fine, struct error *err);
/* Google's client receives and acknowledges all of them. */
bool bench_pubsub_go(const struct bench *bench, double *out_rate, double *out_cpu, struct error *err);

/*
 * A terminal of 100x30 with a program in it (bench_terminal.c).
 */
struct bench_terminal {
	pid_t pid;
	int fd;
	uint64_t bytes;            /* that the program has sent */
	unsigned synced;           /* tokens given out */
};
/* `arguments` end with NULL; the first is the program's path. The home is the benchmark's folder. */
bool bench_terminal_open(const struct bench *bench, char *const *arguments, struct bench_terminal *out,
                         struct error *err);
/* Waits until the console has answered that its questions are answered and the screen is drawn. */
bool bench_terminal_sync(struct bench_terminal *terminal, struct error *err);
/* Sends a key that changes the screen; gives the time until the first bytes of it came. */
bool bench_terminal_key(struct bench_terminal *terminal, const char *key, double *out_s, struct error *err);
/* Reads for so long, or until nothing came for `quiet_s` (0: all of the time). *out_last_s: when the last byte came. */
bool bench_terminal_read(const struct bench *bench, struct bench_terminal *terminal, double seconds, double quiet_s,
                         double *out_last_s, struct error *err);
void bench_terminal_close(struct bench_terminal *terminal);

/*
 * Feeds and jobs (bench_job.c).
 */
struct bench_job {
	char *feed;
	bool is_made;              /* the feed is ours: made by the generator */
	char *file;                /* the job file */
	struct job_options *options;
	struct google *google;     /* lent to its runs; NULL: it asks nothing of Google */
	uint64_t enough;           /* not 0: a run is drained when it has written so many messages */
};

struct bench_lines {
	uint64_t first, count;
	uint64_t youngest;         /* not 0: they update only the last so many rows */
};
#define BENCH_PROJECT "weir-bench"
#define BENCH_LOG_DATASET "bench_log"
/* A changelog at BigQuery, by the default stream; messages as rows of a table there. */
#define BENCH_MODE_BIGQUERY "bigquery"
#define BENCH_MODE_ROWS "rows"
/* The feed with those lines (or the given one) and a job on it: `mode` is a value of replicationMode, in the local warehouse,
 * or one of these two. */
bool bench_job_open(struct bench *bench, const struct bench_row *row, const char *mode,
                    const struct bench_lines *lines, struct bench_job *out, struct error *err);
/* Appends lines to the generated feed. */
bool bench_job_feed(struct bench *bench, const struct bench_row *row, const struct bench_job *job,
                    const struct bench_lines *lines, struct error *err);
void bench_job_close(struct bench_job *job);
struct sink_setup bench_sink_setup(const struct bench *bench, const struct bench_job *job);
/* Runs to the end and checks the ledger. */
struct bench_run {
	double wall_s, cpu_s;
	uint64_t messages, rows;   /* of this run */
	double peak_mib;           /* resident in this process meanwhile; 0: the kernel does not say */
	double p99_ms;             /* from a message's receipt until it was committed */
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
/* The same as further members of a result. */
bool bench_describe_feed(struct bench *bench, const struct bench_job *job, struct bench_result *out, struct error *err);

/*
 * The least that anybody must do (limits.c).
 */
/* Of one who reads, copies and scans the messages of this feed, as further members of a result; how far `value` is from that. */
bool bench_limits_encode(struct bench *bench, const struct bench_job *job, double value, json_t **out, struct error *err);
/* How long one waits for this disk; 0: it cannot be written. */
double bench_limits_sync_ms(const struct bench *bench);

/*
 * Baselines of databases (baseline.c; baseline_script.c prepares them outside the
 * timed part). What SQLite is to do is a file of steps with every value decoded; each begins
 * with its letter, numbers are as this machine has them.
 *   P file:u8 length:u32 sql     prepares the next statement (numbered from 0)
 *   B file:u8, C file:u8         begins or commits a transaction
 *   R statement:u16 count:u16    runs it with the values that follow: N, I int64, F double,
 *                                T or X length:u32 bytes (text, blob)
 */
#define BASELINE_FILES 2
struct baseline {
	char *script;
	char *files[BASELINE_FILES];       /* databases: changelog, replica */
	int64_t cache_bytes[BASELINE_FILES];
	int checkpoint_pages[BASELINE_FILES];
	size_t file_count;
	const atomic_bool *is_cancelled;
	uint64_t rows;                     /* changelog rows in the script */
};
/* The state the job's files are in now becomes the state the baseline starts from. */
bool baseline_take(struct bench *bench, const struct bench_job *job, struct baseline *out, struct error *err);
/* Makes the script from what the run has added to the changelog since baseline_take. */
bool baseline_script(struct bench *bench, struct baseline *baseline, struct error *err);
bool baseline_play(const struct baseline *baseline, struct bench_run *out, struct error *err);
void baseline_clear(struct baseline *baseline);

#endif
