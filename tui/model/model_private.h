/* The model's inside: questions, lanes, acts. */
#ifndef WEIR_TUI_MODEL_MODEL_PRIVATE_H
#define WEIR_TUI_MODEL_MODEL_PRIVATE_H

#include "model/model.h"

#define QUERIES_MAX 64
#define TOPICS_MAX 32
#define ASK_AGAIN_MS 1000 /* the same question */
#define PING_MS 2000
#define FRAMES_KEPT 2     /* a question that so many frames did not ask is forgotten, */
#define LINES_KEPT 300    /* an answer with more lines goes sooner: somebody who scrolls would leave many behind */
#define ASKED_KEPT_MS 2000 /* but not sooner: keys ask between frames, and the answer must be there for the next key */

struct query {
	enum lane lane;
	char *call, *topics;
	json_t *args;
	struct answer answer;
	json_t *incoming;      /* lines of the answer that is under way */
	bool incoming_is_cut;
	bool is_stale, is_forced;
	int64_t asked_ms;      /* of the engine */
	int64_t wanted_ms;     /* by a view or a key */
	unsigned long frame;   /* that asked last */
};

enum pending { PENDING_QUERY, PENDING_ACT, PENDING_CONTROL };

#define LANE_CALLS_MAX 4

/* A call whose answer has not ended. */
struct lane_call {
	enum pending what;
	json_int_t id;
	struct query *query;   /* NULL: forgotten meanwhile, its answer goes nowhere */
	unsigned act;
	bool is_cancelled;
};

/* A session and the calls that it waits for, in the order in which the engine answers them. */
struct lane_state {
	struct wire *wire;
	struct lane_call calls[LANE_CALLS_MAX];
	size_t call_count;
	unsigned connections;
};

struct model {
	struct lane_state lanes[LANES];
	struct query *queries[QUERIES_MAX];
	size_t query_count;
	unsigned long frame;
	int64_t now_ms;        /* of the last step */
	unsigned generation;   /* of the newest answer */
	json_int_t last_id;

	char *subscribed[TOPICS_MAX];
	size_t subscribed_count;
	bool is_one_by_one;          /* the engine refused a topic: the next ones are subscribed each by itself */
	bool wants_sync, is_syncing;
	int64_t heard_ms, pinged_ms; /* when the looks' session last said something */

	struct act *acts[ACTS_KEPT];
	unsigned act_count;          /* ever made; act n is acts[(n - 1) % ACTS_KEPT] */
	unsigned act_next;           /* the first that is not sent */
	bool was_there;
	bool only_looks;
};

/* acts.c */
bool acts_send(struct model *model);
void acts_line(struct model *model, unsigned number, json_t *frame);
void acts_end(struct model *model, unsigned number, const json_t *frame);
/* Acts that have not been sent end with the error; true: there were some. */
bool acts_refuse(struct model *model, const struct error *why);
void acts_lost(struct model *model, unsigned number);
void acts_free(struct model *model);

/* queries.c */
void query_free(struct query *query);
bool query_send(struct model *model, enum lane lane, int64_t now_ms);
void query_line(struct query *query, json_t *frame);
void query_end(struct model *model, struct query *query, const json_t *frame, int64_t now_ms);
void query_event(struct model *model, const char *topic);
int64_t query_due_ms(const struct model *model, enum lane lane, int64_t now_ms);

/*
 * lanes.c
 */
/* Sends {"id","call","args"} on a lane that takes one more; `args` is stolen. NULL: it did not fit. */
struct lane_call *lane_call(struct model *model, enum lane lane, enum pending what, const char *call, json_t *args);
bool lane_step(struct model *model, int index, int64_t now_ms);
/* Is there anything for this session to do? */
bool lane_is_used(const struct model *model, int index);
/* Would a question be sent now? It goes behind those that wait for their answers, unless a sync is next. */
bool lane_takes(const struct model *model, int index, int64_t now_ms);
bool sync_is_due(const struct model *model, int64_t now_ms);

/* queries.c */
/* subscribe or unsubscribe until the topics are those that the questions name; true: a call was sent. */
bool topics_send(struct model *model);
void topics_forget(struct model *model);
/* The engine has refused one of those that were subscribed last, and what stood behind it in the same call. */
void topics_refused(struct model *model);

#endif
