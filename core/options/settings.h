/*
 * Settings of the engine: config.json in the home's folder of configuration, one JSON
 * object. Names of users and groups are looked up when the file is read, so that a
 * name that nobody has is found with its place, like a mistake in a job file.
 */
#ifndef WEIR_OPTIONS_SETTINGS_H
#define WEIR_OPTIONS_SETTINGS_H

#include "options/options.h"

#include <sys/types.h>

#define OPERATORS_MAX 100

#define TOKEN_HOSTS_MAX 20
#define SETTING_NAME_BYTES 64
#define SETTING_ESCAPE_MS_MAX 1000

struct settings {
	bool has_group;
	gid_t group;
	char *group_name;      /* NULL without */
	uid_t operators[OPERATORS_MAX];
	json_t *operator_names; /* as written; owned */
	size_t operator_count;
	char name[SETTING_NAME_BYTES]; /* "": none is given */
	bool is_production;
	int escape_ms;         /* 0: none is given */
	const char *token_hosts[TOKEN_HOSTS_MAX + 1]; /* NULL behind the last; owned */
	char *vault_key_file;  /* absolute, or NULL: none is given */
	char *ca_file;         /* the same */
};

/* `config.json` of this home; a missing one gives the defaults. False with the first problem, its line and column
 * (`bad_setting`, `duplicate_member`, `no_permission`...). Warnings, such as a member that is no setting, are left in
 * `out_warnings` (caller frees), errors not. Give back with settings_release. */
bool settings_load(const struct home *home, struct settings *out, struct option_problems *out_warnings,
                   struct error *err);
void settings_release(struct settings *settings);

/* The same of a text: every problem, in file order. False if one is an error; `out` needs no release then. */
bool settings_read(const struct home *home, struct span text, struct settings *out,
                   struct option_problems *out_problems);

/* The engine's name as screens have it: the setting, else the machine's, for which `room` is used. */
const char *settings_engine_name(const struct settings *settings, char room[SETTING_NAME_BYTES]);

/* The table for a page: calls `add` with each setting's name and what is said about it. False: `out` is full. */
bool settings_explain(struct text *out, void (*add)(struct text *out, const char *name, const char *help));

#endif
