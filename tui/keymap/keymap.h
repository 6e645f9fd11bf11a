/*
 * Keys to actions. A key file (keys/README.md) holds tables; a line is key,
 * action, note:
 *
 *   table why : text
 *     Enter      open                "go in"
 *     1          step 1              "first step onto the command line"
 *     g d        go dead-letters     "dead letters"
 *     C-r        : status --json     "what the engine says"
 *
 * A key is looked up in the view's table, then in the one it rests on, then in
 * `global`. keys/default.keys is compiled in; a user's file (KEYS_FILE beside config.json) changes it line by line.
 */
#ifndef WEIR_TUI_KEYMAP_KEYMAP_H
#define WEIR_TUI_KEYMAP_KEYMAP_H

#include "action/action.h"
#include "base/error.h"
#include "base/text.h"
#include "term/term.h"

#define KEYS_FILE "keys"
#define KEYS_FILE_BYTES_MAX (1u << 20)
#define SEQUENCE_KEYS_MAX 3
#define KEY_TABLES_MAX 40
#define BINDINGS_MAX 1000

struct sequence {
	struct key keys[SEQUENCE_KEYS_MAX];
	size_t count;
};

struct binding {
	struct sequence keys;
	enum action_id action;      /* ACTION_line with is_run for ": COMMAND" */
	bool is_run;
	char *argument;             /* of the action, or the command; "" if none */
	char *note;
	const char *table;
	bool is_yours;              /* from a file, not compiled in */
};

struct keymap;

/* The compiled default. Never fails. */
struct keymap *keymap_new(void);
void keymap_free(struct keymap *keymap);
/* A file's lines over what is there; "KEY nothing" takes a binding away, with all that begin with it. Errors are added to
 * `problems` (which may be full, never NULL) as "FILE:LINE:COLUMN: what", one a line; all other lines hold. Bindings handed
 * out before are void. */
void keymap_read(struct keymap *keymap, const char *file, const char *text, struct text *problems);

enum key_found { KEY_FOUND, KEY_PREFIX, KEY_UNKNOWN };
/* `table`: the view's. KEY_PREFIX: more keys may follow. */
enum key_found keymap_find(const struct keymap *keymap, const char *table, const struct sequence *keys,
                           const struct binding **out_binding);
/* All bindings that hold in a table, its own first, then those it rests on, as far as a nearer one does not hide them; NULL
 * after the last. `at` counts from 0. */
const struct binding *keymap_at(const struct keymap *keymap, const char *table, size_t at);
/* The continuations of a prefix, the same way. */
const struct binding *keymap_continue(const struct keymap *keymap, const char *table, const struct sequence *prefix,
                                      size_t at);
/* The first key of an action in a table, as text ("g d"); "" if it has none. `argument` NULL: any. */
void keymap_key_of(const struct keymap *keymap, const char *table, enum action_id action, const char *argument,
                   struct text *out);
/* "g d". False: `out` is full. */
bool sequence_text(const struct sequence *keys, struct text *out);
/* Does the keymap know this table? */
bool keymap_has_table(const struct keymap *keymap, const char *table);
/* The tables in the order of the default file; NULL after the last. */
const char *keymap_table_at(const struct keymap *keymap, size_t at);
/* What a table rests on, or NULL. */
const char *keymap_rests_on(const struct keymap *keymap, const char *table);

#endif
