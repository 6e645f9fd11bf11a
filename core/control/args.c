/* Command lines, read by the usage texts of the command table. */
#include "base/arena.h"
#include "control/control.h"

#include <errno.h>
#include <stdlib.h>

const struct command *command_find(int argc, char *const *argv, int *out_words)
{
	for (int i = 0; i < COMMANDS; i++) {
		const char *name = command_table[i].name;
		const char *blank = strchr(name, ' ');
		size_t first = blank ? (size_t)(blank - name) : strlen(name);

		if (argc < 1 || strlen(argv[0]) != first || strncmp(argv[0], name, first) != 0)
			continue;
		if (blank && (argc < 2 || strcmp(argv[1], blank + 1) != 0))
			continue;
		*out_words = blank ? 2 : 1;
		return &command_table[i];
	}
	return NULL;
}

static void copy_word(char *out, size_t room, const char *at, size_t len)
{
	if (len >= room)
		len = room - 1;
	memcpy(out, at, len);
	out[len] = '\0';
}

/* "FILE|JOB" -> job, "TABLE" -> table; "--until-idle" -> until_idle. */
static void name_slot(struct usage_slot *slot, const char *word)
{
	size_t i;

	if (strstr(word, "JOB")) {
		copy_word(slot->name, sizeof(slot->name), "job", 3);
		return;
	}
	while (*word == '-')
		word++;
	for (i = 0; word[i] && i < sizeof(slot->name) - 1; i++)
		slot->name[i] = word[i] == '-' ? '_' : (char)(word[i] | 0x20);
	slot->name[i] = '\0';
}

static bool is_number_word(const char *word)
{
	return strcmp(word, "N") == 0 || strcmp(word, "ID") == 0 || strcmp(word, "COUNT") == 0;
}

/* Splits "JOB [TABLE] [--group N] [--param NAME=VALUE ...]" into slots. */
size_t usage_read(const char *usage, struct usage_slot slots[USAGE_WORDS])
{
	size_t count = 0;
	bool is_optional = false;

	while (*usage && count < USAGE_WORDS) {
		size_t len;
		char word[64];

		usage += strspn(usage, " ");
		if (*usage == '[') {
			is_optional = true;
			usage++;
		}
		len = strcspn(usage, " ]");
		copy_word(word, sizeof(word), usage, len);
		usage += len;
		if (strcmp(word, "...") == 0) {
			slots[count - 1].is_list = true;
		} else if (count && slots[count - 1].flag[0] && is_optional && word[0] != '-') {
			slots[count - 1].has_value = true;
			slots[count - 1].is_number = is_number_word(word);
		} else if (len) {
			slots[count] = (struct usage_slot){ .is_optional = is_optional, .is_number = is_number_word(word) };
			name_slot(&slots[count], word);
			if (word[0] == '-')
				copy_word(slots[count].flag, sizeof(slots[count].flag), word, strlen(word));
			count++;
		}
		if (*usage == ']') {
			is_optional = false;
			usage++;
			/* A new bracket starts a new thing, whatever the last flag was. */
			if (count && slots[count - 1].flag[0] && !slots[count - 1].has_value)
				slots[count - 1].is_optional = true;
		}
	}
	return count;
}

static bool set_value(json_t *args, const struct usage_slot *slot, const char *text, struct error *err)
{
	char *end;
	long long number;

	if (slot->is_list) {
		char list[48];
		json_t *values;

		snprintf(list, sizeof(list), "%ss", slot->name);
		values = json_object_get(args, list);
		if (!values)
			json_object_set_new(args, list, values = json_array());
		json_array_append_new(values, json_string(text));
		return true;
	}
	if (!slot->is_number) {
		if (json_object_set_new(args, slot->name, json_string(text)) != 0)
			return fail(err, ERROR_USAGE, "bad_argument", "an argument is not UTF-8");
		return true;
	}
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || !*text || *end || number < 0)
		return fail(err, ERROR_USAGE, "bad_argument", "'%s' is no number (%s)", text, slot->name);
	json_object_set_new(args, slot->name, json_integer(number));
	return true;
}

static const struct usage_slot *find_flag(const struct usage_slot *slots, size_t count, const char *word, const char **out_value)
{
	size_t len = strcspn(word, "=");

	*out_value = word[len] ? word + len + 1 : NULL;
	for (size_t i = 0; i < count; i++) {
		if (strlen(slots[i].flag) == len && strncmp(slots[i].flag, word, len) == 0)
			return &slots[i];
	}
	return NULL;
}

static bool take_flag(struct command_line *line, const struct usage_slot *slots, size_t count, int argc, char *const *argv,
                      int *i, struct error *err)
{
	const char *value;
	const struct usage_slot *slot = find_flag(slots, count, argv[*i], &value);

	if (strcmp(argv[*i], "--json") == 0)
		return line->is_json = true;
	if (strcmp(argv[*i], "--help") == 0)
		return line->wants_help = true;
	if (!slot)
		return fail(err, ERROR_USAGE, "bad_argument", "'weir %s' has no option '%s'; it takes: %s",
		            line->command->name, argv[*i], *line->command->args ? line->command->args : "nothing");
	if (!slot->has_value) {
		if (value)
			return fail(err, ERROR_USAGE, "bad_argument", "'%s' takes no value", slot->flag);
		json_object_set_new(line->args, slot->name, json_true());
		return true;
	}
	if (!value && *i + 1 >= argc)
		return fail(err, ERROR_USAGE, "bad_argument", "'%s' needs a value", slot->flag);
	if (!value)
		value = argv[++*i];
	return set_value(line->args, slot, value, err);
}

/* The slot of the next word; one that may repeat takes all that follow. */
static struct usage_slot *next_word(struct usage_slot *slots, size_t count, size_t *from)
{
	struct usage_slot *slot;

	while (*from < count && slots[*from].flag[0])
		(*from)++;
	if (*from == count)
		return NULL;
	slot = &slots[*from];
	*from += !slot->is_list;
	return slot;
}

bool command_line_wants_json(int argc, char *const *argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			return true;
	}
	return false;
}

static bool read_words(const struct command *command, int argc, char *const *argv, struct command_line *out,
                       struct error *err)
{
	struct usage_slot slots[USAGE_WORDS];
	size_t count = usage_read(command->args, slots);
	size_t at = 0;
	struct usage_slot *slot;
	bool only_words = false;

	for (int i = 0; i < argc; i++) {
		bool is_flag = !only_words && argv[i][0] == '-' && argv[i][1] != '\0';

		if (!only_words && strcmp(argv[i], "--") == 0) {
			only_words = true;
		} else if (is_flag) {
			if (!take_flag(out, slots, count, argc, argv, &i, err))
				return false;
		} else if (!(slot = next_word(slots, count, &at))) {
			return fail(err, ERROR_USAGE, "bad_argument", "'%s' is one argument too many for 'weir %s'", argv[i],
			            command->name);
		} else if (!set_value(out->args, slot, argv[i], err)) {
			return false;
		} else {
			slot->is_optional = true; /* it is there */
		}
	}
	slot = next_word(slots, count, &at);
	if (slot && !slot->is_optional && !out->wants_help)
		return fail(err, ERROR_USAGE, "bad_argument", "'weir %s' needs %s", command->name, command->args);
	return true;
}

bool command_line_parse(const struct command *command, int argc, char *const *argv, struct command_line *out,
                        struct error *err)
{
	*out = (struct command_line){ .command = command, .args = json_object() };
	if (!read_words(command, argc, argv, out, err)) {
		/* Also where it stands behind the mistake: who asked for JSON gets the mistake as JSON. */
		out->is_json = command_line_wants_json(argc, argv);
		return false;
	}
	if (out->is_json && json_object_get(out->args, "csv"))
		return fail(err, ERROR_USAGE, "bad_argument", "'--csv' and '--json' ask for two forms of one output");
	return true;
}
