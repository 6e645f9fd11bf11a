/*
 * The dead-letter table and folder of a job: where its letters also go, and where
 * entries come back from. The writer's.
 */
#ifndef WEIR_PIPELINE_POST_H
#define WEIR_PIPELINE_POST_H

#include "pipeline/replay.h"

struct post;
struct google;

/* NULL: the job has neither. `google` is lent until close; NULL: the job asks nothing of Google. */
struct post *post_open(const struct pipeline *pipeline, struct google *google);
void post_close(struct post *post);
/*
 * Sends what has waited for a window, looks through the folder when it is time, and asks for a replay of what came back. What
 * fails is noted and tried again later. MEANWHILE waits for nobody. BEGIN, of a run that ends by itself, waits until what was in the folder is taken, and END
 * until all is sent, but not for long: what a folder that is away has not got waits in the store. END takes nothing more.
 */
enum post_when { POST_BEGIN, POST_MEANWHILE, POST_END };
void post_turn(struct post *post, struct replay_desk *desk, enum post_when when);

#endif
