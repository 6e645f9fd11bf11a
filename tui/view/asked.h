/*
 * What of a list's filter the engine is asked for, so that it holds over all
 * letters and not only over those that are here. A letter has job, group, table
 * and code of its group, and there are few states: the terms that name these
 * are tried on the groups and on the words, and the engine is told which are left.
 */
#ifndef WEIR_TUI_VIEW_ASKED_H
#define WEIR_TUI_VIEW_ASKED_H

#include "model/filter.h"
#include "view/view.h"

struct asked {
	const char *job;          /* "-": all jobs */
	int64_t group;            /* that the list is of; 0: all */
	const char *const *fields; /* of the list's filter */
	struct filter *filter;    /* NULL: none */
	bool is_whole;            /* all terms are asked; nothing is left for the rows that are here */
	bool is_part;             /* some are */
	bool is_none;             /* no state holds */
	char states[120];         /* "new,failed again"; "": all */
	char *groups;             /* "1,7-9", over all jobs "shop/1"; NULL: all */
	int64_t total;            /* letters that hold; -1: not known yet */
	int64_t open;             /* of these */
	unsigned generation;      /* of the groups that this was made from */
	bool is_made;
};

void asked_clear(struct asked *asked);
/* Another filter; a text that is none leaves the one before. */
void asked_filter(struct asked *asked, const char *text);
/* Again from the groups as they are now. */
void asked_update(struct view *view, struct asked *asked);
/* Can no letter hold? Are the groups known that the filter is to be tried on? */
bool asked_is_none(const struct asked *asked);
bool asked_is_ready(const struct asked *asked);
/* The arguments of a call about these letters; new reference. */
json_t *asked_args(const struct asked *asked);
/* Which topics tell that they have changed. */
void asked_topics(const struct asked *asked, char *out, size_t room);

/* The groups that hold, each with what of it is meant; `how` is the caller's. */
void asked_subjects(struct view *view, const struct asked *asked, struct subjects *out);

#endif
