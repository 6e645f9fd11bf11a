/*
 * What the console knows of the engine: the answers to the calls that the screens
 * need, each with its age. A view asks for an answer each time it draws
 * and shows what is there; the model asks the engine, follows the topics that
 * tell of changes, asks again when one came, and forgets what no view has asked
 * for lately. So a screen shows what the same command prints with --json.
 */
#ifndef WEIR_TUI_MODEL_MODEL_H
#define WEIR_TUI_MODEL_MODEL_H

#include "control/control.h"
#include "model/wire.h"

#include <poll.h>

#define MODEL_FDS 3
#define ANSWER_LINES_MAX 20000

struct model;

/* Sessions: looks are short; letters may take long and must not hold them up; acts wait for jobs. */
enum lane { LANE_LOOK, LANE_LETTERS, LANE_ACT, LANES };

struct answer {
	json_t *lines;         /* array of the objects of the output; never NULL */
	struct error error;    /* kind NONE: it went well */
	bool is_known;         /* false: never answered yet */
	bool is_asking;
	bool is_cut;           /* more than ANSWER_LINES_MAX lines came */
	int64_t at_ms;         /* when it was known to be so last (mono) */
	unsigned generation;   /* no two answers have the same one; 0: not known yet */
};

/* `only_looks`: --readonly; the engine refuses acts then, and writes them into its journal. */
struct model *model_new(const struct home *home, bool only_looks);
/* The session for looks goes on with this connection: the first screen need not wait for another hello. Takes the client; of a
 * model that only looks it is closed, since it may do more. */
void model_adopt(struct model *model, struct client *client);
void model_free(struct model *model);

/* To poll; entries without a descriptor have fd -1. Gives when to step at the latest (mono), or -1. */
int64_t model_poll(const struct model *model, struct pollfd fds[MODEL_FDS]);
/* True: something that a view may show has changed. */
bool model_step(struct model *model, int64_t now_ms);

/* The answer to a call; `args` is stolen and may be NULL. `topics`: names of topics with blanks between ("jobs
 * tables:orders"), an event of which means that the answer is old; "" for an answer that stays as it is. Valid until the
 * next model_step. */
const struct answer *model_ask(struct model *model, enum lane lane, const char *call, json_t *args, const char *topics);
/* Asks again at the next step, whatever the topics say. */
void model_refresh(struct model *model);
/* Between two frames: what was not asked for since the one before last is forgotten. */
void model_frame_done(struct model *model);

/*
 * Acts: one after the other in their own session.
 */
struct act {
	char *line;            /* as it would be typed after `weir`, shell-quoted */
	char *call;
	json_t *args;          /* of the call */
	json_t *lines;         /* output */
	struct text *notes;    /* sentences for people, one a line */
	struct error error;
	bool is_done, is_sent;
	int exit;
	int64_t begun_ms, ended_ms; /* mono */
	int64_t begun_us;           /* wall */
};
#define ACTS_KEPT 200
/* Sends the call; gives the act's number. `args` is stolen. */
unsigned model_act(struct model *model, const char *line, const char *call, json_t *args);
/* NULL: forgotten, or none of that number. Numbers begin at 1. */
const struct act *model_act_of(const struct model *model, unsigned number);
unsigned model_act_last(const struct model *model);
/* C-c: tells the engine to stop what the act or the letters' answer waits for. */
void model_cancel(struct model *model);

/* Is the engine there? `error`, since when (mono), tries so far and when the next one comes. */
struct reach {
	bool is_there, was_there;
	const struct error *error;
	int64_t lost_ms, next_ms;
	int tries;
	unsigned connections;
	enum access access;
	bool is_other;         /* of another version: it may be looked at, acts are off */
	bool is_asked;         /* nothing is known yet, but the first answer is on its way */
	const struct greeting *greeting;
};
struct reach model_reach(const struct model *model);
/* Age of the newest number in ms; -1: none yet. */
int64_t model_age_ms(const struct model *model, int64_t now_ms);
/* For KEY_SYNC_: has the engine tell at once what has changed. */
void model_sync(struct model *model);
/* Has everything that was asked for since the last model_frame_done had an answer, of whatever age? */
bool model_is_answered(const struct model *model);
/* Have all calls that the last frame asked for been answered? For KEY_SYNC_. */
bool model_is_idle(const struct model *model);

#endif
