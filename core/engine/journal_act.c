/* Acts in the journal: who, from where, what, before and after. */
#include "engine/journal_private.h"

#include "base/clean.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"

#include <stdlib.h>
#include <strings.h>

#define ARGUMENT_MAX 1024
#define HIDDEN "***"

/* Secrets never travel as arguments (security.md); this catches what somebody typed where it does not belong. */
static const char *const secret_names[] = { "password", "passphrase", "secret", "token", "credential", "private" };
static const char *const secret_texts[] = { "-----BEGIN", "private_key" };

static bool name_is_secret(const char *name, size_t len)
{
	char lower[128];
	size_t i;

	for (i = 0; i < len && i < sizeof(lower) - 1; i++)
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
	lower[i] = '\0';
	for (i = 0; i < sizeof(secret_names) / sizeof(secret_names[0]); i++) {
		if (strstr(lower, secret_names[i]))
			return true;
	}
	return false;
}

static bool text_is_secret(const char *text)
{
	for (size_t i = 0; i < sizeof(secret_texts) / sizeof(secret_texts[0]); i++) {
		if (strstr(text, secret_texts[i]))
			return true;
	}
	return false;
}

/* "NAME=VALUE" hides its value by its name. */
json_t *journal_safe_text(const char *name, const char *text)
{
	size_t len = strcspn(text, "=");
	OWNED(text) out = text_new(ARGUMENT_MAX + 16);
	size_t fits = strnlen(text, ARGUMENT_MAX + 1);

	if (name_is_secret(name, strlen(name)) || text_is_secret(text))
		return json_string(HIDDEN);
	if (text[len] && name_is_secret(text, len)) {
		text_add_format(out, "%.*s=%s", (int)(len < 200 ? len : 200), text, HIDDEN);
		return json_string(out->at);
	}
	if (fits <= ARGUMENT_MAX)
		return json_string(text);
	for (fits = ARGUMENT_MAX; fits && ((unsigned char)text[fits] & 0xc0) == 0x80;)
		fits--;
	text_add_span(out, span_make(text, fits));
	text_add(out, "...");
	return json_string(out->at);
}

static json_t *safe_value(const char *name, const json_t *value)
{
	json_t *list;
	size_t i;
	json_t *item;

	if (json_is_string(value))
		return journal_safe_text(name, json_string_value(value));
	if (json_is_integer(value) || json_is_boolean(value) || json_is_real(value))
		return json_deep_copy(value);
	if (!json_is_array(value))
		return json_string("...");
	list = json_array();
	json_array_foreach(value, i, item) {
		if (i >= 100)
			break;
		json_array_append_new(list, json_is_string(item) ? journal_safe_text(name, json_string_value(item))
		                                                 : json_string("..."));
	}
	return list;
}

json_t *journal_args(const json_t *args)
{
	json_t *safe = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)args, name, value) {
		if (json_object_size(safe) >= 50)
			break;
		json_object_set_new(safe, name, safe_value(name, value));
	}
	return safe;
}

static void add_value(struct text *out, const json_t *value)
{
	text_add_char(out, ' ');
	if (json_is_string(value))
		shell_quote(out, span_of(json_string_value(value)));
	else if (json_is_integer(value))
		text_add_int(out, json_integer_value(value));
	else
		text_add(out, "...");
}

/* The words of a command line, and its options. */
struct typed {
	struct text *words, *options;
	bool has_dash;       /* a word that would be taken for an option */
};

/* A list is its flag, or its word, as often as it has members. */
static void add_slot(struct typed *out, const struct usage_slot *slot, const json_t *value)
{
	struct text *to = slot->flag[0] ? out->options : out->words;
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item)
		add_slot(out, slot, item);
	if (!value || json_is_array(value) || json_is_false(value))
		return;
	if (slot->flag[0])
		text_add_format(to, " %s", slot->flag);
	if (!slot->flag[0] || slot->has_value)
		add_value(to, value);
	out->has_dash |= !slot->flag[0] && json_is_string(value) && *json_string_value(value) == '-' && json_string_length(value) > 1;
}

static const json_t *value_of(const json_t *args, const struct usage_slot *slot)
{
	char name[sizeof(slot->name) + 1];

	snprintf(name, sizeof(name), "%.*s%s", (int)sizeof(slot->name) - 1, slot->name, slot->is_list ? "s" : "");
	return json_object_get(args, name);
}

/* The command's own grammar says what stands where, so that the text can be typed. Why it was done is a member of its own, and
 * here only where the command asks for it. */
char *journal_command_text(const struct command *command, const json_t *args)
{
	OWNED(text) out = text_new(JOURNAL_LINE_MAX / 8);
	OWNED(text) words = text_new(JOURNAL_LINE_MAX / 8);
	OWNED(text) options = text_new(JOURNAL_LINE_MAX / 8);
	struct typed typed = { words, options, false };
	struct usage_slot slots[USAGE_WORDS];
	size_t count = usage_read(command->args, slots);

	for (size_t i = 0; i < count; i++) {
		if (!slots[i].is_optional || strcmp(slots[i].name, "why") != 0)
			add_slot(&typed, &slots[i], value_of(args, &slots[i]));
	}
	if (typed.has_dash)
		text_add_format(out, "%s%s --%s", command->name, options->at, words->at);
	else
		text_add_format(out, "%s%s%s", command->name, words->at, options->at);
	return text_take(out);
}

/* The line that both ends of an act share; taken. */
static json_t *act_line(struct call *call, const struct command *command, int64_t act, const char *phase)
{
	json_t *args = journal_args(call->args);
	char *text = journal_command_text(command, args);
	json_t *line;

	line = json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:s*, s:s, s:o, s:s, s:o*, s:o*, s:o*}", "kind", "act", "act", (json_int_t)act, "phase", phase, "who", call->peer.user, "uid",
	                 (json_int_t)call->peer.uid, "pid", (json_int_t)call->peer.pid, "ssh_as_client_said",
	                 call->peer.ssh[0] ? call->peer.ssh : NULL, "what", command->name, "args", args, "text", text,
	                 "job", json_incref(json_object_get(args, "job")), "table",
	                 json_incref(json_object_get(args, "table")), "why", json_incref(json_object_get(args, "why")));
	free(text);
	return line;
}

bool journal_act_begin(struct call *call, const struct command *command, struct error *err)
{
	struct journal *journal = call->engine->journal;

	if (!journal)
		return true;
	call->act = journal_next_act(journal);
	if (!journal_add(journal, act_line(call, command, call->act, "before"), true, err))
		return because(err, "'%s' was not done", command->name);
	return true;
}

static void add_outcome(struct call *call, json_t *line, bool is_fine, const struct error *err)
{
	if (is_fine) {
		json_object_set_new(line, "exit", json_integer(call->exit));
	} else {
		json_object_set_new(line, "code", json_string(err->code));
		json_object_set_new(line, "message", json_string(err->message));
	}
	if (call->change)
		json_object_set(line, "change", call->change);
	if (call->act_job)
		json_object_set(line, "job", call->act_job);
}

static void forget_act(struct call *call)
{
	json_decref(call->change);
	json_decref(call->act_job);
	call->change = call->act_job = NULL;
	call->act = 0;
}

/* The act is done: a line that cannot be written is told in the log, and its absence says that the end is not known. */
static void add_end(struct call *call, json_t *line)
{
	struct error err = { 0 };

	if (!journal_add(call->engine->journal, line, true, &err))
		log_error(call->engine->log, "journal", NULL, "the end of an act could not be written",
		          FIELD_TEXT("code", err.code), FIELD_TEXT("message", err.message));
}

void journal_act_end(struct call *call, const struct command *command, bool is_fine, const struct error *err)
{
	json_t *line;

	if (!call->engine->journal || !call->act) {
		forget_act(call);
		return;
	}
	line = act_line(call, command, call->act, is_fine ? "after" : "failed");
	add_outcome(call, line, is_fine, err);
	log_info(call->engine->log, "session", json_string_value(json_object_get(line, "job")), command->name,
	         FIELD_TEXT("who", call->peer.user), FIELD_INT("pid", call->peer.pid),
	         FIELD_TEXT("end", is_fine ? "done" : err->code));
	add_end(call, line);
	forget_act(call);
}

void journal_act_refused(struct call *call, const struct command *command, const struct error *err)
{
	struct journal *journal = call->engine->journal;
	json_t *line;

	if (!journal || journal_refused_counts(journal, call, command->name))
		return;
	line = act_line(call, command, journal_next_act(journal), "refused");
	add_outcome(call, line, false, err);
	add_end(call, line);
}

void journal_act_changed(struct call *call, const char *before, const char *after)
{
	json_decref(call->change);
	call->change = json_pack("{s:s?, s:s?}", "before", before, "after", after);
}

/* Lines "NAME: OLD -> NEW" become the two sides. */
void journal_act_difference(struct call *call, const char *lines)
{
	OWNED(text) before = text_new(JOURNAL_LINE_MAX / 8);
	OWNED(text) after = text_new(JOURNAL_LINE_MAX / 8);

	while (*lines) {
		size_t len = strcspn(lines, "\n");
		const char *arrow = memmem(lines, len, " -> ", 4);
		const char *colon = memmem(lines, len, ": ", 2);
		size_t name = colon ? (size_t)(colon + 2 - lines) : 0;

		if (arrow && colon && colon < arrow) {
			text_add_format(before, "%s%.*s", before->len ? "; " : "", (int)(arrow - lines), lines);
			text_add_format(after, "%s%.*s%.*s", after->len ? "; " : "", (int)name, lines,
			                (int)(len - (size_t)(arrow + 4 - lines)), arrow + 4);
		}
		lines += len + (lines[len] == '\n');
	}
	if (before->len)
		journal_act_changed(call, before->at, after->at);
}

void journal_act_job(struct call *call, const char *job)
{
	json_decref(call->act_job);
	call->act_job = json_string(job);
}
