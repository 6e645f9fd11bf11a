/* config.json: read against the table, each problem with its place. */
#include "options/settings.h"

#include "base/arena.h"
#include "base/clean.h"
#include "base/file.h"
#include "options/job_file_private.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME_MAX_BYTES 64
#define LOOKUP_BYTES 65536 /* of a group with all its members */
#define BAD_SETTING "bad_setting"

static bool text_has_control(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	}
	return false;
}

const char *settings_engine_name(const struct settings *settings, char room[SETTING_NAME_BYTES])
{
	if (*settings->name)
		return settings->name;
	if (gethostname(room, SETTING_NAME_BYTES) != 0)
		snprintf(room, SETTING_NAME_BYTES, "weird");
	room[SETTING_NAME_BYTES - 1] = '\0';
	room[strcspn(room, ".")] = '\0'; /* what tells machines apart stands before the first dot */
	return room;
}

/* What a setting needs besides its value. */
struct reading {
	struct draft draft;
	const struct home *home;
	struct settings *settings;
};

struct setting_type {
	const char *form;
	void (*read)(struct reading *reading, const char *name, const json_t *value);
};

/* As the system's own tools take them; a number is no name. */
static bool is_account_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= NAME_MAX_BYTES && *name != '-' && (*name < '0' || *name > '9') &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-@$\\+") == len;
}

static bool find_group(const char *name, gid_t *out, int *out_failed)
{
	char *room = memory_alloc(LOOKUP_BYTES);
	struct group entry, *found = NULL;

	*out_failed = getgrnam_r(name, &entry, room, LOOKUP_BYTES, &found);
	if (found)
		*out = entry.gr_gid;
	free(room);
	return found != NULL;
}

static bool find_user(const char *name, uid_t *out, int *out_failed)
{
	char room[4096];
	struct passwd entry, *found = NULL;

	*out_failed = getpwnam_r(name, &entry, room, sizeof(room), &found);
	if (found)
		*out = entry.pw_uid;
	return found != NULL;
}

/* Without WEIR_HOME the socket lies in a folder that nobody else can enter, and that is not ours to open. */
static bool group_can_reach(const struct home *home)
{
	char *folder = path_folder(home->socket);
	bool can = !home->is_temporary && strcmp(folder, home->state) == 0;

	free(folder);
	return can;
}

static void read_group(struct reading *reading, const char *name, const json_t *value)
{
	const char *group = json_string_value(value);
	char room[SHOWN_MAX];
	int failed = 0;

	if (group && !*group)
		return;
	if (!group)
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "%s is given, the name of a group is allowed",
		            json_kind(value));
	else if (!is_account_name(group) || !find_group(group, &reading->settings->group, &failed))
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "%s is no group of this system%s%s",
		            shown(group, room), failed ? ": " : "", failed ? strerror(failed) : "");
	else if (!group_can_reach(reading->home))
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL,
		            "the socket '%s' lies in a folder that only its user may enter; set WEIR_HOME to a folder that the "
		            "group can reach", reading->home->socket);
	else
		reading->settings->has_group = true;
	if (reading->settings->has_group)
		reading->settings->group_name = memory_string(group);
}

static void read_operator(struct reading *reading, const char *spot, const char *name)
{
	struct settings *settings = reading->settings;
	char room[SHOWN_MAX];
	int failed = 0;

	if (settings->operator_count == OPERATORS_MAX) {
		problem_add(&reading->draft, BAD_SETTING, spot, "operators", NULL, "there are more than %d names", OPERATORS_MAX);
	} else if (!is_account_name(name) || !find_user(name, &settings->operators[settings->operator_count], &failed)) {
		problem_add(&reading->draft, BAD_SETTING, spot, "operators", NULL, "%s is no user of this system%s%s",
		            shown(name, room), failed ? ": " : "", failed ? strerror(failed) : "");
	} else {
		settings->operator_count++;
		json_array_append_new(settings->operator_names, json_string(name));
	}
}

static void read_operators(struct reading *reading, const char *name, const json_t *value)
{
	size_t i;
	json_t *each;

	if (!json_is_array(value)) {
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "%s is given, a list of names of users is allowed",
		            json_kind(value));
		return;
	}
	json_array_foreach(value, i, each) {
		char spot[64];

		snprintf(spot, sizeof(spot), "%s.%zu", name, i);
		if (json_is_string(each))
			read_operator(reading, spot, json_string_value(each));
		else
			problem_add(&reading->draft, BAD_SETTING, spot, name, NULL, "%s is given, the name of a user is allowed",
			            json_kind(each));
	}
}

/* It stands in the first row of every screen. */
static void read_name(struct reading *reading, const char *name, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);

	if (!text)
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "%s is given, a text is allowed", json_kind(value));
	else if (len >= SETTING_NAME_BYTES || strlen(text) != len || text_has_control(text))
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL,
		            "a name has at most %d bytes and no control characters", SETTING_NAME_BYTES - 1);
	else
		memcpy(reading->settings->name, text, len + 1);
}

static void read_production(struct reading *reading, const char *name, const json_t *value)
{
	if (json_is_boolean(value))
		reading->settings->is_production = json_is_true(value);
	else
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "%s is given, true or false is allowed",
		            json_kind(value));
}

static void read_escape(struct reading *reading, const char *name, const json_t *value)
{
	json_int_t ms = json_integer_value(value);

	if (json_is_integer(value) && ms >= 0 && ms <= SETTING_ESCAPE_MS_MAX)
		reading->settings->escape_ms = (int)ms;
	else
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "a whole number from 0 to %d is allowed",
		            SETTING_ESCAPE_MS_MAX);
}

/* The engine's working folder is nobody's, so a relative one would mean nothing. */
static void read_path(struct reading *reading, const char *name, const json_t *value)
{
	char **into = strcmp(name, "caFile") == 0 ? &reading->settings->ca_file : &reading->settings->vault_key_file;
	const char *text = json_string_value(value);

	if (!text || strlen(text) != json_string_length(value) || *text != '/' || text_has_control(text))
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "an absolute path is allowed");
	else
		*into = memory_string(text);
}

/* A name or an address, without scheme, port and path. */
static bool is_host(const char *text)
{
	size_t len = strlen(text);

	return len && len < 256 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:") == len;
}

static void read_hosts(struct reading *reading, const char *name, const json_t *value)
{
	size_t count = 0, i;
	json_t *each;

	if (!json_is_array(value) || json_array_size(value) > TOKEN_HOSTS_MAX) {
		problem_add(&reading->draft, BAD_SETTING, name, name, NULL, "a list of at most %d hosts is allowed",
		            TOKEN_HOSTS_MAX);
		return;
	}
	json_array_foreach(value, i, each) {
		const char *host = json_string_value(each);
		char spot[64];

		snprintf(spot, sizeof(spot), "%s.%zu", name, i);
		if (host && is_host(host))
			reading->settings->token_hosts[count++] = memory_string(host);
		else
			problem_add(&reading->draft, BAD_SETTING, spot, name, NULL, "a host without scheme, port and path is allowed");
	}
}

static const struct setting_type setting_name = { "a text", read_name };
static const struct setting_type setting_production = { "true or false", read_production };
static const struct setting_type setting_escape = { "a whole number of ms", read_escape };
static const struct setting_type setting_hosts = { "a list of hosts", read_hosts };
static const struct setting_type setting_path = { "an absolute path", read_path };
static const struct setting_type setting_group = { "the name of a group", read_group };
static const struct setting_type setting_operators = { "a list of names of users", read_operators };

static const struct setting {
	const char *name;
	const struct setting_type *type;
	const char *fallback, *help;
} settings_table[] = {
#define SETTING(name, type, fallback, help) { name, &type, fallback, help },
#include "options/settings.def"
#undef SETTING
};
#define SETTINGS (sizeof settings_table / sizeof *settings_table)

static void tell_unknown(struct reading *reading, const char *name)
{
	const char *names[SETTINGS], *near;
	char spot[SHOWN_MAX], message[WHY_MAX];

	for (size_t i = 0; i < SETTINGS; i++)
		names[i] = settings_table[i].name;
	near = nearest_word(name, names, SETTINGS);
	snprintf(spot, sizeof spot, "@%.90s", name);
	snprintf(message, sizeof message, "it is no setting of the engine and does nothing%s%s%s", near ? "; did you mean '" : "",
	         near ? near : "", near ? "'?" : "");
	problem_add_warning(&reading->draft, "unknown_member", spot, name, NULL, message);
}

static void read_members(struct reading *reading)
{
	const json_t *group = json_object_get(reading->draft.root, "socketGroup");
	const char *name;
	json_t *value;

	json_object_foreach(reading->draft.root, name, value) {
		size_t i = 0;

		while (i < SETTINGS && strcmp(settings_table[i].name, name) != 0)
			i++;
		if (i < SETTINGS)
			settings_table[i].type->read(reading, name, value);
		else
			tell_unknown(reading, name);
	}
	if (reading->settings->operator_count && (!group || (json_is_string(group) && !json_string_length(group))))
		problem_add(&reading->draft, BAD_SETTING, "operators", "operators", NULL,
		            "operators reach the socket only as members of socketGroup, which is not set");
}

bool settings_read(const struct home *home, struct span text, struct settings *out, struct option_problems *out_problems)
{
	struct settings settings = { .operator_names = json_array() };
	struct reading reading = { .draft = { .text = text, .problems = out_problems, .syntax_code = BAD_SETTING },
		                   .home = home, .settings = &settings };

	*out_problems = (struct option_problems){ 0 };
	if (draft_parse(&reading.draft) && !json_is_object(reading.draft.root))
		problem_add(&reading.draft, BAD_SETTING, "", NULL, NULL, "the file holds %s, a JSON object is allowed",
		            json_kind(reading.draft.root));
	else if (reading.draft.root)
		read_members(&reading);
	problems_sort(out_problems);
	json_decref(reading.draft.root);
	if (out_problems->errors) {
		settings_release(&settings);
		return false;
	}
	*out = settings;
	return true;
}

static bool load_text(const char *path, struct span text, const struct home *home, struct settings *out,
                      struct option_problems *out_warnings, struct error *err)
{
	struct option_problems problems;
	bool is_fine = settings_read(home, text, out, &problems);

	if (is_fine) {
		*out_warnings = problems;
		return true;
	}
	option_problems_error(&problems, path, err);
	option_problems_free(&problems);
	return false;
}

bool settings_load(const struct home *home, struct settings *out, struct option_problems *out_warnings, struct error *err)
{
	char *path = path_join(home->config, "config.json"), *text = NULL;
	bool is_fine;
	size_t len;

	if (access(path, F_OK) != 0 && errno == ENOENT) {
		*out = (struct settings){ .operator_names = json_array() };
		*out_warnings = (struct option_problems){ 0 };
		is_fine = true;
	} else {
		is_fine = file_read(path, JOB_FILE_MAX, &text, &len, err) &&
		          load_text(path, span_make(text, len), home, out, out_warnings, err);
	}
	free(text);
	free(path);
	return is_fine;
}

void settings_release(struct settings *settings)
{
	free(settings->group_name);
	free(settings->ca_file);
	free(settings->vault_key_file);
	for (size_t i = 0; settings->token_hosts[i]; i++)
		free((char *)settings->token_hosts[i]);
	json_decref(settings->operator_names);
	*settings = (struct settings){ 0 };
}

bool settings_explain(struct text *out, void (*add)(struct text *out, const char *name, const char *help))
{
	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *setting = &settings_table[i];
		OWNED(text) help = text_new(4096);

		text_add_format(help, "%s Takes %s; without it %s.", setting->help, setting->type->form, setting->fallback);
		add(out, setting->name, help->at);
	}
	return !out->is_full;
}
