/*
 * Which groups of dead letters this user has seen on a console, so that those which came
 * since are shown as new. Kept in the state folder, one file a user: groups are numbered
 * as they come, so that the largest number that was seen says it, job by job.
 */
#ifndef WEIR_TUI_VIEW_LOOKED_H
#define WEIR_TUI_VIEW_LOOKED_H

#include <jansson.h>
#include <stdbool.h>

/* What had been seen up to now, by job: {"group": N, "first": text}; new reference. `folder` is read once. A job that is
 * not in it has never been looked at: nothing of it is called new. */
json_t *looked_before(const char *folder);
/* A group is on the screen. */
void looked_note(const json_t *group);
/* Writes what was noted, if there is news: once a group, so that a console that is killed has not forgotten it. */
void looked_keep(void);

/* Did the group come behind those of `before`? Of a job that was made anew, whose groups begin again, all did. */
bool looked_is_new(const json_t *before, const json_t *group);
/* Forgets of `before` what was of a job that is another one now: its group of that number began at another time. */
void looked_check(json_t *before, const json_t *group);

#endif
