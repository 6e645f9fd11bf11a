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

/* "1,7-9": one number is a number all the same, in the arguments of a call too. */
static bool is_numbers_word(const char *word)
{
	return strcmp(word, "N,N..") == 0;
}

/* What a usage text says, word by word. */
struct usage_reading {
	struct usage_slot *slots;
	size_t count;
	bool is_inside;      /* of a bracket */
	bool takes_value;    /* the flag that was read last may be followed by its value */
	bool is_choice;      /* "--group N|--id N": the next one may stand in the last one's place */
};

static void usage_word(struct usage_reading *reading, const char *word)
{
	struct usage_slot *slot = &reading->slots[reading->count];

	if (strcmp(word, "...") == 0) {
		slot[-1].is_list = true;
		return;
	}
	if (reading->takes_value && word[0] != '-') {
		slot[-1].has_value = true;
		slot[-1].is_number = is_number_word(word);
		slot[-1].is_numbers = is_numbers_word(word);
		reading->takes_value = false;
		return;
	}
	*slot = (struct usage_slot){ .is_optional = reading->is_inside || reading->is_choice, .is_number = is_number_word(word) };
	name_slot(slot, word);
	if (word[0] == '-')
		copy_word(slot->flag, sizeof(slot->flag), word, strlen(word));
	reading->takes_value = word[0] == '-';
	reading->is_choice = false;
	reading->count++;
}

/* Of several that exclude each other none must be there: the command itself says which it wants. */
static void usage_choice(struct usage_reading *reading)
{
	reading->slots[reading->count - 1].is_optional = true;
	reading->is_choice = true;
	reading->takes_value = false;
}

/* "FILE|JOB" is one word, "N|--id" two. */
static size_t usage_word_len(const char *usage)
{
	size_t len = strcspn(usage, " ]");
	const char *choice = memmem(usage, len, "|--", 3);

	return choice ? (size_t)(choice - usage) : len;
}

/* Splits "JOB [TABLE] --group N [--param NAME=VALUE ...]" into slots. */
size_t usage_read(const char *usage, struct usage_slot slots[USAGE_WORDS])
{
	struct usage_reading reading = { .slots = slots };

	for (usage += strspn(usage, " "); *usage && reading.count < USAGE_WORDS; usage += strspn(usage, " ")) {
		char word[64];
		size_t len;

		/* A bracket begins a new thing, whatever the last flag was. */
		if (*usage == '[') {
			reading.is_inside = true;
			reading.takes_value = false;
			usage++;
		}
		len = usage_word_len(usage);
		copy_word(word, sizeof(word), usage, len);
		if (len)
			usage_word(&reading, word);
		usage += len;
		if (*usage == '|') {
			usage_choice(&reading);
			usage++;
		}
		if (*usage == ']') {
			reading.is_inside = reading.takes_value = false;
			usage++;
		}
	}
	return reading.count;
}

static bool set_value(json_t *args, const struct usage_slot *slot, const char *text, struct error *err)
{
	char *end;
	long long number;

	/* Nothing is called "": a script whose variable is empty would get an answer to another question. */
	if (!*text)
		return fail(err, ERROR_USAGE, "bad_argument", "an empty text is given for '%s'",
		            slot->flag[0] ? slot->flag : slot->name);
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
	if (!slot->is_number && !(slot->is_numbers && !text[strspn(text, "0123456789")])) {
		if (json_object_set_new(args, slot->name, json_string(text)) != 0)
			return fail(err, ERROR_USAGE, "bad_argument", "an argument is not UTF-8");
		return true;
	}
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || *end || number < 0)
		return fail(err, ERROR_USAGE, "bad_argument", "'%s' is given for '%s', a whole number is allowed", text,
		            slot->flag[0] ? slot->flag : slot->name);
	json_object_set_new(args, slot->name, json_integer(number));
	return true;
}

static struct usage_slot *find_flag(struct usage_slot *slots, size_t count, const char *word, const char **out_value)
{
	size_t len = strcspn(word, "=");

	*out_value = word[len] ? word + len + 1 : NULL;
	for (size_t i = 0; i < count; i++) {
		if (strlen(slots[i].flag) == len && strncmp(slots[i].flag, word, len) == 0)
			return &slots[i];
	}
	return NULL;
}

static bool take_flag(struct command_line *line, struct usage_slot *slots, size_t count, int argc, char *const *argv,
                      int *i, struct error *err)
{
	const char *value;
	struct usage_slot *slot = find_flag(slots, count, argv[*i], &value);

	if (strcmp(argv[*i], "--json") == 0)
		return line->is_json = true;
	if (strcmp(argv[*i], "--help") == 0)
		return line->wants_help = true;
	if (!slot)
		return fail(err, ERROR_USAGE, "bad_argument", "'weir %s' has no option '%s'; it takes: %s",
		            line->command->name, argv[*i], *line->command->args ? line->command->args : "nothing");
	slot->is_optional = true; /* it is there */
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

/* Words that are missing are told with all of them, an option by itself. */
static bool has_all(const struct command *command, struct usage_slot *slots, size_t count, size_t from,
                    struct error *err)
{
	const struct usage_slot *word = next_word(slots, count, &from);

	if (word && !word->is_optional)
		return fail(err, ERROR_USAGE, "bad_argument", "'weir %s' needs %s", command->name, command->args);
	for (size_t i = 0; i < count; i++) {
		if (slots[i].flag[0] && !slots[i].is_optional)
			return fail(err, ERROR_USAGE, "bad_argument", "'weir %s' needs %s; it takes: %s", command->name,
			            slots[i].flag, command->args);
	}
	return true;
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
	return out->wants_help || has_all(command, slots, count, at, err);
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
