/*
 * The dead-letter table and folder of a job: where its letters also go, and where
 * entries come back from. The writer's.
 */
#ifndef WEIR_PIPELINE_POST_H
#define WEIR_PIPELINE_POST_H

#include "pipeline/replay.h"

struct post;

/* NULL: the job has neither. */
struct post *post_open(const struct pipeline *pipeline);
void post_close(struct post *post);
/* Sends what has waited for a window, looks through the folder when it is time, and asks for a replay of what came back.
 * `is_end`: sends all, and takes nothing more. What fails is noted and tried again at the next turn. */
void post_turn(struct post *post, struct replay_desk *desk, bool is_end);

#endif
