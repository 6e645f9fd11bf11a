/*
 * Where records come from. One file implements one source.
 */
#ifndef WEIR_SOURCE_SOURCE_H
#define WEIR_SOURCE_SOURCE_H

#include "base/error.h"
#include "options/options.h"
#include "record/batch.h"

struct google;

struct source {
	const struct source_ops *ops; /* first member of every source */
};

enum pulled {
	PULLED_MESSAGE, /* one message was added to the batch */
	PULLED_NOTHING, /* nothing new until the time given */
	PULLED_END,     /* there will never be more (a feed that is not followed, stdin closed) */
	PULLED_FAILED,  /* err is set; the batch is_last if there is nothing to wait for: what failed cannot be had again */
};

/*
 * What a source that reads from several places (subscriptions) shows of them. Copies, from any thread.
 */
#define SOURCE_CHANNELS_SHOWN 16

struct source_channel {
	char name[256];          /* as people read it, cut */
	char full_name[400];     /* projects/P/subscriptions/S */
	bool is_read;            /* a stream is open, and it works */
	struct error failure;    /* why not, or why nothing is acknowledged; kind NONE: it is */
	int64_t failed_us;       /* since when; 0: it has not */
	int64_t answered_us;     /* last answer; 0: none yet */
	bool is_exactly_once, has_dead_letters;
	int64_t lease_ms;        /* that is asked for */
	uint64_t received, redelivered, acknowledged;
	uint64_t refused_acks;   /* acknowledgements that the server did not take: the message comes again */
	uint64_t restarts;       /* streams that ended and were opened again */
	int64_t backlog;         /* messages not acknowledged, by Monitoring; -1: not known */
	int64_t backlog_oldest_s; /* age of the oldest of them; -1 */
	int64_t backlog_us;      /* the moment the two are of; 0: none */
};

struct source_view {
	uint64_t outstanding;    /* messages that are ours and not yet acknowledged */
	uint64_t outstanding_bytes;
	int64_t oldest_ms;       /* how long the oldest of them has been held; 0: none */
	uint64_t expired;        /* leases that ran out */
	int64_t extend_p99_ms;   /* how long calls that extend leases take; 0: none yet */
	uint64_t received, redelivered, acknowledged, refused_acks, restarts; /* of all channels */
	int64_t backlog, backlog_oldest_s, backlog_us; /* as of a channel, of all */
	struct error backlog_failure; /* why Monitoring gave nothing; kind NONE: it did, or was not asked */
	bool is_emulated;
	size_t channel_count;    /* there may be more than are shown */
	struct source_channel channels[SOURCE_CHANNELS_SHOWN];
};

struct source_setup {
	const struct job_options *options;
	const char *big_folder;                 /* jobs/NAME.big: where bodies too long to hold go */
	const struct source_position *from;     /* NULL: from the start */
	bool is_followed;                       /* wait for more at the end instead of PULLED_END */
	const char *store;                      /* letters: the job's store, */
	int64_t run;                            /* and the replay whose claims are read */
	struct google *google;                  /* lent until close; NULL: the job asks nothing of Google */
	const char *incarnation;                /* random identity of the job's store; NULL */
	/* Something that is worth a line in the journal, until close and from any thread; NULL: nobody wants to know. */
	void (*on_event)(void *event_context, const char *table, const char *code, const char *sentence);
	void *event_context;
	bool was_killed;                        /* the last run: what it held is still leased to it */
	/* From a thread of the source's own: it has news (has_news), also when nobody pulls. NULL: nobody wants to know. */
	void (*on_news)(void *context);
	void *context;
};

struct source_ops {
	const char *name;
	const char *help;

	struct source *(*open)(const struct source_setup *, struct error *);

	/* Adds at most one message to the batch: its bytes lie in the batch's arena, its `json` is lent until the
	 * next pull. Waits at most until the monotonic time `until_ms`. */
	enum pulled (*pull)(struct source *, struct batch *into, int64_t until_ms, struct error *);

	/* Fills batch->end: behind the last message pulled into it. */
	void (*mark)(struct source *, struct batch *);

	/* Everything before `position` is safe elsewhere; the source may forget it. */
	bool (*confirm)(struct source *, const struct source_position *, struct error *);

	/* Something to report once at the end of a run (a last line that was cut off), or false. */
	bool (*note)(struct source *, struct error *out_note);

	void (*close)(struct source *);

	/* Both or none: a source that can be left alone while it has nothing new. Without waiting or reading: would a pull
	 * find something (more, an end, a failure)? */
	bool (*has_news)(struct source *);
	/* The file whose changes are worth that look, lent; NULL: this one cannot be left alone. */
	const char *(*watched)(struct source *);
	/* May be NULL: it is left alone now, and gives back what it can make again at the next pull. */
	void (*rest)(struct source *);
	/* Of such a source that has no file: it says itself when it has news (on_news). */
	bool rings;

	/* `confirm` may be called by any thread, so it is as soon as a batch is committed; else it is the reader's. */
	bool confirms_at_once;
	/* The places that it reads from, by message.channel: letters are kept under their names. Lent until close. NULL: there
	 * is only one, and `mark` names it. */
	const char *(*channel)(struct source *, size_t index);
	/* What is wrong with one of them while others go on (kind, code, sentence); false: nothing. NULL: a pull says it. */
	bool (*trouble)(struct source *, struct error *out);
	void (*look)(struct source *, struct source_view *out);
};

extern const struct source_ops source_feed;
/* Subscriptions of Pub/Sub, by StreamingPull. */
extern const struct source_ops source_pubsub;
/* Dead letters as a source: what a replay has claimed, as it first came. It has no position of its own. */
extern const struct source_ops source_letters;

/* The source that these options ask for; NULL with err `not_available_yet` or `bad_parameter`. */
const struct source_ops *source_choose(const struct job_options *, struct error *);

#endif
