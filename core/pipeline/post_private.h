/*
 * The post of a job: letters to its dead-letter table and folder, and entries of
 * the folder back into the job. All of it is the writer's.
 */
#ifndef WEIR_PIPELINE_POST_PRIVATE_H
#define WEIR_PIPELINE_POST_PRIVATE_H

#include "dlq/dlq.h"
#include "pipeline/pipeline.h"

struct post {
	const struct job_options *options;
	struct dlq *dlq;
	const char *warehouse;
	char *dataset, *table;     /* of outputDeadletterTable; NULL: none */
	int64_t looked_ms;         /* when the folder was looked through last; 0: never */
	bool has_asked;            /* for a replay of what is due */
	bool is_warned;            /* a target cannot be written; said once */
};

/* post_out.c: one file of what waits. False: it waits on. */
bool post_send_files(struct post *post, struct error *err);
/* Files that were whole when the engine was killed get their names. */
bool post_finish_files(struct post *post, struct error *err);
/* post_in.c: some of the files of the folder. *out_more: there are others. */
bool post_take_files(struct post *post, bool *out_more, struct error *err);

#endif
