/*
 * Both ends of the socket: names, versions, frames; and the client.
 *
 * One JSON object a line, at most 1 MiB. The client opens with
 *   {"hello":{"protocol":1,"program":"weir 0.1.0","ssh":"..."}}
 * and is answered {"hello":{"protocol":1,"program":"weird 0.1.0","access":"admin","pid":1}}.
 * A call {"id":7,"call":"dlq.list","args":{...}} is answered by any number of
 *   {"id":7,"line":{...}}    one object of the output
 *   {"id":7,"note":"..."}    a sentence for people, for stderr
 * and one {"id":7,"ok":{"exit":0}} or {"id":7,"error":{"kind","code","message","next"}}.
 */
#ifndef WEIR_CONTROL_CONTROL_H
#define WEIR_CONTROL_CONTROL_H

#include "base/error.h"
#include "base/secret.h"
#include "base/text.h"
#include "options/options.h"

#include <jansson.h>

#define PROTOCOL_VERSION 1
#define FRAME_BYTES_MAX (1u << 20)
#define HELLO_WAIT_MS 5000
#define SESSIONS_MAX 64
#define SESSIONS_RESERVED 8 /* of these, for the engine's own user and root */

enum access { VIEW, OPERATE, ADMIN };
enum command_place { HERE, ENGINE, ENGINE_PROGRAM };

enum command_id {
#define COMMAND(id, name, args, access, place, help) COMMAND_##id,
#include "control/commands.def"
#undef COMMAND
	COMMANDS
};

struct command {
	const char *name;      /* "dlq list" */
	const char *call;      /* "dlq.list" */
	const char *args;
	enum access access;
	enum command_place place;
	const char *help;
};

extern const struct command command_table[COMMANDS];
const char *access_name(enum access access);

/* What a command's exit status says, from exits.def. */
struct exit_status {
	int status;
	const char *meaning;   /* two or three words */
	const char *when;
};
extern const struct exit_status exit_statuses[];
extern const size_t exit_status_count;

/*
 * What a session may subscribe to.
 */
#define TOPIC_ARGUMENT_BYTES 80

enum topic_id {
#define TOPIC(id, name, argument, members, help) TOPIC_##id,
#include "control/topics.def"
#undef TOPIC
	TOPICS
};

struct topic {
	const char *name;
	const char *argument;  /* what follows the colon, or "" */
	const char *members;   /* of its events, besides event and seq */
	const char *help;
};

extern const struct topic topic_table[TOPICS];
/* "job:orders" -> TOPIC_job and "orders" (points into text); `unknown_topic`. */
bool topic_find(const char *text, enum topic_id *out_topic, const char **out_argument, struct error *err);

/* The protocol as a page, from the tables. */
bool protocol_page(struct text *out);

/* One object of `weir status --metrics` (engine's answer) in Prometheus' text form; `previous` is the name of the
 * metric before it, so that HELP and TYPE stand once. */
bool exposition_text(const json_t *metric, const char *previous, struct text *out);

/* The error object of the contract: {"code","message","next"}, and "kind" on the wire. A new reference. */
json_t *error_to_json(const struct error *err);
void error_from_json(const json_t *object, struct error *out);
/* The message alone; bytes that are not UTF-8 are replaced. A new reference. */
json_t *error_message_to_json(const struct error *err);

/* One line with "\n", control and bidi characters as \u escapes. Caller frees. NULL if it is over FRAME_BYTES_MAX. */
char *frame_print(const json_t *object);

/* A line of output for stdout under the same rules, of any length. Caller frees. */
char *json_line(const json_t *object);

/*
 * Arguments. The table's usage text is the grammar: WORDs in order, then options; [..] may be missing, of --group N|--id N
 * each may be, since the command says which it wants; what is given as "" is refused. Gives the args
 * object of the call: FILE|JOB and JOB become "job", TABLE "table", ID "id" (a number), --until-idle "until_idle",
 * --group N a number, N,N.. one or a text, a repeated one ("...") a list ("params"). --json and --help are everybody's.
 */
struct command_line {
	const struct command *command;
	json_t *args;      /* owned */
	bool is_json, wants_help;
};

/* One thing that a usage text allows; completion and manual read it too. */
#define USAGE_WORDS 32
struct usage_slot {
	char name[40];      /* of the member in args */
	char flag[40];      /* "--group", or "" for a word by its place */
	bool has_value, is_number, is_numbers, is_list, is_optional;
};
/* Splits "JOB [TABLE] --group N [--param NAME=VALUE ...]" into slots; gives how many. */
size_t usage_read(const char *usage, struct usage_slot slots[USAGE_WORDS]);

/* Finds the command in the first words ("dlq list"); *out_words tells how many. NULL: none. */
const struct command *command_find(int argc, char *const *argv, int *out_words);
bool command_line_parse(const struct command *command, int argc, char *const *argv, struct command_line *out,
                        struct error *err);
/* May it be sent to an engine of another version? What looks, what is no command, and the end of the engine. */
bool command_is_safe(const char *call);
/* Is there a --json among the words? For a line that cannot be read any further. */
bool command_line_wants_json(int argc, char *const *argv);
/* The last line of `weir run` for people, on a page of so many columns (base/page.h). */
bool run_result_text(const json_t *result, size_t page, struct text *out);
/* For stderr: the message and the next step, as text or as {"error":{..}}. Caller frees. */
char *error_line(const struct error *err, const char *program, bool is_json);

/*
 * The client.
 */
struct client;

/* NULL with `engine_not_running` (unreachable) when nobody answers. An engine of another version may be looked at: its acts
 * fail with `protocol_differs` in client_call. */
struct client *client_open(const struct home *home, struct error *err);
void client_close(struct client *client);
/* Instead of closing: the connection of one that has made no call yet, and the engine's answer to the hello; both are the
 * caller's. */
int client_release(struct client *client, json_t **out_greeting);

struct client_hooks {
	void (*on_line)(void *context, const json_t *line);
	void (*on_note)(void *context, const char *note);
	/* Asked now and then while waiting; true: send one {"cancel":ID} (the first C-c). May be NULL. */
	bool (*wants_cancel)(void *context);
	void *context;
};

/* As client_open, but starts `weird` (beside this program's own file, else in libexecdir) when nobody answers: the user's
 * weird.service where that has this home and outlives the login, else detached. An engine that cannot start gives its own
 * reason, at once; one that another is starting or ending is waited for, then `engine_running`. Advice goes to on_note. */
struct client *client_open_or_start(const struct home *home, const struct client_hooks *hooks, struct error *err);

/* The same; tells whether the engine that answers was started here. */
struct client *client_start(const struct home *home, const struct client_hooks *hooks, bool *out_has_started,
                            struct error *err);

/* What an engine says on its standard output with --tell-ready, one line: {"ready":{"protocol","pid"}}, or {"error":{..}}
 * as on the socket. NULL: it is ready. Caller frees. */
char *ready_print(const struct error *err);

/* One call. True with the exit status it asks for; false with err as the engine gave it, or `connection_lost`. */
bool client_call(struct client *client, const char *call, json_t *args, const struct client_hooks *hooks,
                 int *out_exit, struct error *err);

/* The secret as the engine alone can open it, for a call's `sealed_secret`; a new reference, NULL with err. */
json_t *client_seal(struct client *client, const struct secret *secret, struct error *err);

/* Path of `weird`, or NULL with `engine_not_found`; the caller frees. */
char *engine_program(struct error *err);

/* Set by `weir run` for the engine that it becomes: its own path. An engine that another one has overtaken on the way gives
 * the run back to it, and it joins that one. */
#define WEIR_JOIN "WEIR_JOIN"

/* The process number in the home's lock, and waiting until that process has let it go (end.c). It drains first, however
 * long that takes. */
long engine_pid(const struct home *home);
void engine_wait_end(const struct home *home, long pid);
/* Of one whose connection is lost: has it ended as it should, and not been killed? It takes its socket away first, and begins
 * nothing after that. Waits until it has let go. */
bool engine_has_left(const struct home *home, long pid);

#endif
