/*
 * The post of a job: letters to its dead-letter table and folder, and entries of
 * the folder back into the job. All of it is the writer's; what touches the folder
 * itself is done by its carrier meanwhile.
 */
#ifndef WEIR_PIPELINE_POST_PRIVATE_H
#define WEIR_PIPELINE_POST_PRIVATE_H

#include "dlq/dlq.h"
#include "google/wait.h"
#include "pipeline/folder_private.h"
#include "pipeline/pipeline.h"
#include "pipeline/post.h"

/* When a duty that has failed may be tried again: later each time. */
struct post_rest {
	int64_t again_ms;
	struct backoff backoff;
};

struct post {
	const struct job_options *options;
	struct dlq *dlq;
	const char *warehouse;
	char *dataset, *table;     /* of outputDeadletterTable; NULL: none */
	char *folder;              /* without a slash at its end; NULL: none */
	char *scratch;             /* where files lie until they have their names */
	struct carrier *carrier;   /* of the folder; NULL: none */
	struct errand *leaving;    /* files that were taken and are to be removed; NULL: none */
	struct post_rest placing, looking;
	int64_t looked_ms;         /* when the folder was looked through last; 0: never */
	bool has_asked;            /* for a replay of what is due */
	char warned[40];           /* code of what was said last; "": nothing is wrong */
	bool is_reached;           /* an errand of this run has come back well */
	bool may_be_noted;         /* that letters wait: by this run or one before */
	int64_t stuck_until_ms;    /* a file cannot be read or removed, and is tried again then */
};

/* What fails is said once, where the notes are, and again when it fails otherwise. */
void post_warn(struct post *post, const struct error *failure);
/* Has something for the target waited as long as its window? */
bool post_is_due(struct post *post, unsigned target, bool is_end, bool *out_due, struct error *err);

/* post_out.c: a file of what waits, without its name yet. False: it waits on. */
bool post_parcel(struct post *post, struct error *err);
/* The next file that is whole and has not got its name; *out_errand NULL: there is none. */
bool post_next_file(struct post *post, struct errand **out_errand, struct error *err);
bool post_placed(struct post *post, const struct errand *errand, struct error *err);

/* post_in.c: entries of the files that a look has brought. */
bool post_take_files(struct post *post, struct errand *errand, struct error *err);
bool post_removed(struct post *post, const struct errand *errand, struct error *err);

/* post_folder.c: the folder's part of a turn. */
bool post_folder_is_well(const struct post *post);
bool post_folder_turn(struct post *post, enum post_when when, struct error *err);

#endif
