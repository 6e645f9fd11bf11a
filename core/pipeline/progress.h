/*
 * What a running job shows to others: its state in words, its ledger and that of
 * each table as of the last commit, how late changes are, what its threads do.
 * The job's threads write it, once a batch; anybody reads copies.
 */
#ifndef WEIR_PIPELINE_PROGRESS_H
#define WEIR_PIPELINE_PROGRESS_H

#include "base/error.h"
#include "base/histogram.h"
#include "record/batch.h"
#include "source/source.h"
#include "sink/sink.h"

struct progress;

/* Worst first; the words are those of the contract (progress_state_name). */
enum job_state {
	STATE_NEEDS_YOU,
	STATE_RETRYING,
	STATE_WAITING,
	STATE_CATCHING_UP,
	STATE_PAUSED,
	STATE_DRAINING,
	STATE_OK,
	STATE_STOPPED,
	JOB_STATES
};

struct progress_view {
	enum job_state state;
	char code[40];          /* why, or "" */
	char sentence[512];
	int64_t since_us;       /* of the state, or of the wait that is shown */
	int64_t until_us;       /* of a wait: when it is tried again; 0: none */
	struct ledger total;    /* since the job was made or --from-start */
	struct ledger this_run;
	uint64_t in_flight;     /* messages taken from the source and not yet committed */
	uint64_t queued;        /* batches they are in */
	uint64_t batches;       /* committed */
	uint64_t merges;        /* merges of a table that brought its replica up to date */
	uint64_t retries;       /* steps tried again because of something that passes */
	uint64_t bytes;         /* of message bodies, this run */
	uint64_t written_bytes; /* of those that were written */
	int64_t committed_us;   /* when the last batch was; 0: none yet */
	int64_t lag_us;         /* of it, from commit at the source to here; -1: not known */
	bool is_behind;         /* the source has had more to read for seconds on end */
	uint64_t version;       /* moves with every change */
};

struct progress *progress_new(void);
/* One more holder: it lives until as many have freed it. A follower may look longer than the job's list keeps it. */
struct progress *progress_hold(struct progress *progress);
void progress_free(struct progress *progress);

const char *progress_state_name(enum job_state state);
/* The state to show: `ok` while the source has more than can be taken is `catching up`. */
enum job_state progress_state_shown(const struct progress_view *view);

void progress_begin(struct progress *progress); /* nothing is in flight, nobody waits: a run begins, maybe again */
/* All is read, written and merged; the threads are let go until there is more. */
void progress_rest(struct progress *progress);
void progress_set_total(struct progress *progress, const struct ledger *total);
void progress_taken(struct progress *progress, uint64_t messages, uint64_t bytes);
void progress_look(struct progress *progress, struct progress_view *out);
/* The source has nothing to read at the moment. */
void progress_idle(struct progress *progress);

/* The job's own state. While it is `ok`, the worst of its threads' waits is shown instead. */
void progress_set_state(struct progress *progress, enum job_state state, const char *code, const char *sentence);

/* The destination's, where it is a service; the sink counts. Lent until progress_free. */
struct sink_figures *progress_figures(struct progress *progress);

/*
 * What the source says of itself: leases, subscriptions, what is wrong with one (source/source.h). Set while it is open.
 */
void progress_set_source(struct progress *progress, struct source *source);
/* False: there is none, or it has nothing to say (a feed). */
bool progress_source(struct progress *progress, struct source_view *out);

/*
 * Where dead letters go beside the job's store, and whether they get there: a thread each says so (runner/letters_out.c). Letters
 * that do not are in the store, and hold up nobody.
 */
enum letters_way { LETTERS_TO_TOPIC, LETTERS_TO_TABLE, LETTERS_WAYS };

struct letters_view {
	char target[2400];          /* as people name it; "": the job has no such way, or does not run */
	enum job_state state;       /* STATE_OK, STATE_WAITING (it passes), STATE_NEEDS_YOU */
	struct error failure;       /* why, or nothing */
	int64_t since_us, until_us; /* since when, and when it is tried again */
};

/* `failure` NULL: they get there. A failure that says the same again goes on since it was said first. */
void progress_set_letters(struct progress *progress, enum letters_way way, const char *target, const struct error *failure,
                          int64_t wait_ms);
/* False: the job has no such way, or does not run. */
bool progress_letters(struct progress *progress, enum letters_way way, struct letters_view *out);

/*
 * What each thread does now.
 */
enum job_thread { THREAD_READER, THREAD_WRITER, THREAD_MERGER, JOB_THREADS };

enum activity {
	ACTIVITY_NONE,
	ACTIVITY_READING,
	ACTIVITY_HANDING_ON,  /* the batch is full; the writer has no room for it yet */
	ACTIVITY_WRITING,     /* batch `number` */
	ACTIVITY_EXPECTING,   /* the next batch */
	ACTIVITY_MERGING,
	ACTIVITY_RESTING,     /* until the next merge is due */
	ACTIVITY_WATCHING,    /* the job rests until its source has more */
	ACTIVITIES
};

struct activity_view {
	enum activity what;
	uint64_t number;
	int64_t since_us;
	int64_t answered_us;  /* when a read that found something, a batch or a merge last ended; 0: none yet */
};

/* Does it ask something of others: source, warehouse, replica? */
bool activity_is_request(enum activity what);

const char *job_thread_name(enum job_thread thread);
void progress_do(struct progress *progress, enum job_thread thread, enum activity what, uint64_t number);
void progress_activity(struct progress *progress, enum job_thread thread, struct activity_view *out);
/* A thread waits for what passes (a full disk), and tries again in `wait_ms`; or it goes on. Each has its own word: one
 * that goes on hides nobody else's wait. Of two waits the older one is shown. */
void progress_wait(struct progress *progress, enum job_thread thread, const char *code, const char *sentence,
                   int64_t wait_ms);
void progress_go_on(struct progress *progress, enum job_thread thread);
/* In words: "writing batch 12"; `room` of 80 is enough. */
void activity_text(const struct activity_view *view, char *out, size_t room);

/*
 * How late changes are, leg by leg, and how long a batch takes.
 */
enum latency {
	LATENCY_PUBLISH,    /* commit at the source -> published */
	LATENCY_RECEIVE,    /* published -> received here */
	LATENCY_CHANGELOG,  /* received -> committed in the changelog */
	LATENCY_REPLICA,    /* committed in the changelog -> visible in the replica */
	LATENCY_LAG,        /* commit at the source -> committed in the changelog: LAG */
	LATENCY_BATCH,      /* first message of a batch -> its commit */
	LATENCIES
};

/* Since the job was first begun here. */
void progress_latency(struct progress *progress, enum latency which, struct histogram *out);

/* The five to ten minutes up to the newest of them: a job at rest keeps its last. `table` took longest ("DATASET.TABLE", "-"
 * for none; lent until progress_free); NULL: it has none (a batch), or nothing was measured. */
struct recent_latency {
	struct histogram histogram;
	const char *table;
};
void progress_recent(struct progress *progress, enum latency which, struct recent_latency *out);

/*
 * Tables, by their numbers; the last, progress_table_count(), is "-".
 */
struct table_progress {
	const char *name;           /* DATASET.TABLE; lent until progress_free */
	struct ledger total;
	uint64_t bytes;             /* this run */
	int64_t committed_us;       /* of the last batch with a record of it; 0: none in this run */
	int64_t lag_us;             /* its oldest change then; -1: not known */
	bool has_replica;
	uint64_t waiting_changes;   /* committed, not yet in the replica */
	int64_t waiting_since_us;   /* the oldest of them; 0: none */
	bool has_trouble;           /* nothing enters it and its messages are parked, until it passes: */
	bool needs_you;             /* it does not pass by itself */
	char code[40], sentence[512]; /* why */
	int64_t since_us, until_us; /* since when, and when it is tried again */
	uint64_t version;
};

size_t progress_table_count(struct progress *progress);
void progress_table(struct progress *progress, size_t table, struct table_progress *out);
void progress_learn_table(struct progress *progress, size_t table, const char *name, bool has_replica);
/* What the sink says of it; NULL: rows enter. */
struct sink_trouble;
void progress_set_trouble(struct progress *progress, size_t table, const struct sink_trouble *trouble);
void progress_set_table(struct progress *progress, size_t table, const struct ledger *total);
/* Counters of `count` tables and one more for "-" that have been committed. */
void progress_tables_committed(struct progress *progress, const struct ledger *added, size_t count);

/* What a committed batch told about its tables and times; see measure_private.h. */
struct latency_sample {
	enum latency which;
	size_t table;               /* its number; table_count: "-" */
	int64_t took_us;
	uint64_t weight;
};
struct batch_times {
	int64_t committed_us;
	int64_t lag_us;             /* of its oldest change; -1: not known */
	uint64_t written_bytes;     /* of bodies of messages that were written */
	const uint64_t *bytes;      /* a table each, and one for "-" */
	const int64_t *oldest_us;   /* the same: commit of its oldest change; 0: not known */
	size_t table_count;
	const struct latency_sample *samples;
	size_t sample_count;
};
/* A committed batch, all at once: who sees its messages counted sees its tables and times too. `added` has `count` tables
 * and one more for "-", `sum` is of them all. */
void progress_committed(struct progress *progress, const struct ledger *sum, const struct ledger *added, size_t count,
                        const struct batch_times *times);

/* A merge step that began at `began_us` has brought `changes` of the table "T" into its replica; `is_all`: whatever
 * waited when it began. */
void progress_merged(struct progress *progress, const char *table, uint64_t changes, int64_t began_us, bool is_all);
/* A round of such steps that began at `began_us` has ended: nothing that had been committed waits in any table. A step may
 * have taken a batch before its commit was told of (progress_committed), and would never be told of it again. */
void progress_merged_all(struct progress *progress, int64_t began_us);

#endif
