/*
 * Where credentials are looked for: what the job names, else Google's default chain: GOOGLE_APPLICATION_CREDENTIALS, the
 * file that gcloud writes, the metadata server (google-auth-library-python, google/auth/_default.py).
 */
#include "google/credentials_private.h"

#include "base/arena.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define WELL_KNOWN "application_default_credentials.json"

const char *setup_variable(const struct credentials_setup *setup, const char *name)
{
	const char *value = setup->variable ? setup->variable(setup->context, name) : getenv(name);

	return value && *value ? value : NULL;
}

/* The caller frees; NULL: there is no home to look in. */
static char *well_known_path(const struct credentials_setup *setup)
{
	const char *config = setup_variable(setup, "CLOUDSDK_CONFIG"), *home = setup_variable(setup, "HOME");
	char *folder, *path;

	if (config)
		return path_join(config, WELL_KNOWN);
	if (!home)
		return NULL;
	folder = path_join(home, ".config/gcloud");
	path = path_join(folder, WELL_KNOWN);
	free(folder);
	return path;
}

static struct credential *load_named(const char *path, const struct credentials_setup *setup, char *name, size_t room,
                                     struct error *err)
{
	snprintf(name, room, "%s", path);
	return credential_load(path, setup->allowed_hosts, err);
}

static struct credential *read_content(const struct credentials_setup *setup, char *name, size_t room, struct error *err)
{
	snprintf(name, room, "%s", setup->content_name ? setup->content_name : "the secret");
	return credential_read(span_make((const char *)secret_look(setup->content), secret_length(setup->content)), name,
	                       setup->allowed_hosts, err);
}

bool chain_fail(const struct credentials_setup *setup, const char *and_why, struct error *err)
{
	char *path = well_known_path(setup);

	fail(err, ERROR_CONFIG, "no_credentials",
	     "no credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, %s%.200s%s, %s",
	     path ? "there is no '" : "there is no home for gcloud's file", path ? path : "", path ? "'" : "", and_why);
	free(path);
	return false;
}

struct credential *chain_find(const struct credentials_setup *setup, char *name, size_t name_room, struct error *err)
{
	const char *named = setup_variable(setup, "GOOGLE_APPLICATION_CREDENTIALS"), *no_check;
	struct credential *credential = NULL;
	char *path;

	if (setup->content)
		return read_content(setup, name, name_room, err);
	if (setup->file || named)
		return load_named(setup->file ? setup->file : named, setup, name, name_room, err);
	path = well_known_path(setup);
	no_check = setup_variable(setup, "NO_GCE_CHECK");
	snprintf(name, name_room, "metadata server");
	if (path && (access(path, F_OK) == 0 || errno != ENOENT))
		credential = load_named(path, setup, name, name_room, err);
	else if (no_check && strcasecmp(no_check, "true") == 0)
		chain_fail(setup, "and NO_GCE_CHECK keeps us from the metadata server", err);
	else
		credential = credential_of_metadata();
	free(path);
	return credential;
}

bool credentials_check(const struct credentials_setup *setup, struct error *err)
{
	char name[300];
	struct credential *credential = chain_find(setup, name, sizeof(name), err);

	credential_free(credential);
	return credential != NULL;
}
