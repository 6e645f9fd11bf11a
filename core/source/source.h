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

struct source_setup {
	const struct job_options *options;
	const char *big_folder;                 /* jobs/NAME.big: where bodies too long to hold go */
	const struct source_position *from;     /* NULL: from the start */
	bool is_followed;                       /* wait for more at the end instead of PULLED_END */
	const char *store;                      /* letters: the job's store, */
	int64_t run;                            /* and the replay whose claims are read */
	struct google *google;                  /* lent until close; NULL: the job asks nothing of Google */
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
};

extern const struct source_ops source_feed;
/* Dead letters as a source: what a replay has claimed, as it first came. It has no position of its own. */
extern const struct source_ops source_letters;

/* The source that these options ask for; NULL with err `not_available_yet` or `bad_parameter`. */
const struct source_ops *source_choose(const struct job_options *, struct error *);

#endif
