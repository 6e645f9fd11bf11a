/*
 * One session with the engine that never waits: bytes go when the socket takes them,
 * frames come when they are whole, and a lost one is tried again later and later.
 */
#ifndef WEIR_TUI_MODEL_WIRE_H
#define WEIR_TUI_MODEL_WIRE_H

#include "control/control.h"

struct wire;

struct greeting {
	int64_t protocol;      /* another than PROTOCOL_VERSION: it may be looked at, acts are off */
	char version[32];
	char name[64];
	bool is_production;
};

enum wire_state { WIRE_OFF, WIRE_GREETING, WIRE_READY };

/* The path is kept, not copied. `only_looks`: the engine is asked to refuse every act of this session. */
struct wire *wire_new(const char *socket_path, bool only_looks);
void wire_free(struct wire *wire);
/* Goes on with a connection that has been greeted, of a wire that is off; `fd` is taken. */
void wire_adopt(struct wire *wire, int fd, const json_t *greeting, int64_t now_ms);
enum wire_state wire_state(const struct wire *wire);
int wire_fd(const struct wire *wire);           /* -1: nothing to poll */
bool wire_wants_out(const struct wire *wire);
/* When to step though nothing came, or -1. */
int64_t wire_due_ms(const struct wire *wire);

/* Connects when it is time, sends, receives. True: something changed. Take all frames after it: what the engine said before
 * it closed is handed out first, and only then the wire is off. */
bool wire_step(struct wire *wire, int64_t now_ms);
/* Sends what the socket takes now; a lost connection is noticed by the next step. */
void wire_flush(struct wire *wire);
/* The next frame that is no hello, or NULL; the caller owns it. */
json_t *wire_take(struct wire *wire);
/* A frame to send; stolen. False: it is longer than a frame, or too much waits. */
bool wire_put(struct wire *wire, json_t *frame);

/* Why it is off, since when (mono; 0: never was on), the number of the next try and when it comes. */
const struct error *wire_error(const struct wire *wire);
int64_t wire_lost_ms(const struct wire *wire);
int wire_tries(const struct wire *wire);
/* What this session may do, as the engine says; VIEW until it has. */
enum access wire_access(const struct wire *wire);
/* What the engine last said of itself: zeroes before the first time. */
const struct greeting *wire_greeting(const struct wire *wire);
/* Counts up with each new connection. */
unsigned wire_connections(const struct wire *wire);

#endif
