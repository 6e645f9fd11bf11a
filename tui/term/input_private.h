/* Shared by the rooms of the key parser: input.c keeps bytes and time, input_parse.c reads one sequence, input_names.c names keys. */
#ifndef WEIR_TUI_TERM_INPUT_PRIVATE_H
#define WEIR_TUI_TERM_INPUT_PRIVATE_H

#include "term/term.h"

/* A sequence of more bytes than this is none of ours: it is swallowed to its end. */
#define SEQUENCE_BYTES_MAX 128
/* What begins like a sequence and does not go on for so long is given up. Longer than the wait for a lone Esc: what comes
 * after `ESC [` is hardly ever a person. */
#define SEQUENCE_MS 500

enum step_kind {
	STEP_MORE,        /* the bytes may be the beginning of something longer */
	STEP_KEY,
	STEP_NOTHING,     /* whole, and no key: swallowed */
	STEP_PASTE,       /* a paste begins */
	STEP_LONG_CSI,    /* longer than any of ours: swallow to its end */
	STEP_LONG_STRING,
};

struct step {
	enum step_kind kind;
	size_t taken;      /* bytes; 0 with STEP_MORE */
	int64_t wait_ms;   /* with STEP_MORE: how long more may come */
	struct key_event event;
};

/* The first key of `bytes`, which are not empty. `is_late`: an Esc was given shortly before, so "[A" may be the rest of its
 * sequence. */
struct step step_parse(struct span bytes, bool is_late);
/* The same when nothing more comes: never STEP_MORE. */
struct step step_give_up(struct span bytes, bool is_late);
/* Where the string that `bytes` are the inside of ends, its terminator included; false: not here. */
bool string_end(struct span bytes, bool is_osc, size_t *out_end);
/* What follows the `lead` bytes "ESC [" (is_csi) or "ESC O". */
struct step sequence_parse(struct span bytes, size_t lead, bool is_csi);
/* A key as terminals send it: C-i is Tab, S-a is A. */
struct key key_normal(struct key key);

static inline struct step step_more(int64_t wait_ms)
{
	return (struct step){ .kind = STEP_MORE, .wait_ms = wait_ms };
}

static inline struct step step_none(size_t taken)
{
	return (struct step){ .kind = STEP_NOTHING, .taken = taken };
}

static inline struct step step_key(uint32_t code, uint8_t mods, size_t taken)
{
	return (struct step){ .kind = STEP_KEY, .taken = taken, .event.key = key_normal((struct key){ code, mods }) };
}

#endif
