/* What a call says of letters: which of them, and from where on. For run_dlq.c and run_replay.c. */
#ifndef WEIR_ENGINE_LETTER_CHOICE_H
#define WEIR_ENGINE_LETTER_CHOICE_H

#include "dlq/dlq.h"
#include "engine/engine.h"

/* Texts are lent by the call's arguments. */
struct chosen_letters {
	struct letter_choice choice;
	int64_t *groups;
};

/* The letters of a job that the call means; `bad_argument`, `bad_state`. */
bool chosen_read(struct call *call, const char *job, struct chosen_letters *out, struct error *err);
void chosen_clear(struct chosen_letters *chosen);
/* Can what is said of groups, states and the number of a letter be read at all? */
bool chosen_check(struct call *call, struct error *err);

/* --after, --before or --newest: jobs stand in the order of their names, letters of a job in that of their numbers. */
struct letter_place {
	char job[80];
	int64_t id;
	bool is_back;  /* the newest first */
	bool is_end;   /* from the end on */
};
bool place_read(struct call *call, struct letter_place *out, struct error *err);
/* From where on a job's letters are listed; false: this job lies on the other side. */
bool place_bounds(const struct letter_place *place, const char *job, int64_t *out_after, int64_t *out_before);

#endif
