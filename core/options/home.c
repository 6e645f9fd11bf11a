/*
 * Where a user's jobs, state and socket live (commands.md "Files"): all below
 * WEIR_HOME if that is set, else in the folders of the XDG base directories.
 */
#include "base/arena.h"
#include "base/file.h"
#include "options/options.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* sun_path has 108 bytes, one of them for the NUL. */
#define SOCKET_PATH_MAX 107

/* A relative folder there means nothing and is ignored, as the XDG rules ask. */
static const char *folder_of(const char *variable)
{
	const char *folder = getenv(variable);

	return folder && folder[0] == '/' ? folder : NULL;
}

/* Lives as long as the environment or the next call. */
static const char *user_folder(void)
{
	const char *folder = folder_of("HOME");
	const struct passwd *user = folder ? NULL : getpwuid(geteuid());

	return user && user->pw_dir[0] == '/' ? user->pw_dir : folder;
}

static char *folder_weir(const char *variable, const char *below_user, struct error *err)
{
	const char *base = folder_of(variable), *user = user_folder();
	char *folder, *weir;

	if (!base && !user) {
		fail(err, ERROR_CONFIG, "no_home", "there is no home folder: neither WEIR_HOME nor %s nor HOME names one",
		     variable);
		return NULL;
	}
	folder = base ? memory_string(base) : path_join(user, below_user);
	weir = path_join(folder, "weir");
	free(folder);
	return weir;
}

/* Strangers may write to the temporary folder: what stands there under our name
 * must be a folder (no link), ours, and closed to others. Missing is fine. */
static bool folder_is_private(const char *folder, struct error *err)
{
	struct stat info;

	if (lstat(folder, &info) != 0)
		return errno == ENOENT || fail_errno(err, errno, "cannot look at folder '%s'", folder);
	if (S_ISLNK(info.st_mode))
		return fail(err, ERROR_ACCESS, "folder_not_ours", "'%s' is a link, a folder of our own is allowed", folder);
	if (!S_ISDIR(info.st_mode))
		return fail(err, ERROR_ACCESS, "folder_not_ours", "'%s' is a file, a folder of our own is allowed", folder);
	if (info.st_uid != geteuid())
		return fail(err, ERROR_ACCESS, "folder_not_ours", "folder '%s' belongs to user %" PRIuMAX ", not to us", folder,
		            (uintmax_t)info.st_uid);
	if (info.st_mode & 077)
		return fail(err, ERROR_ACCESS, "folder_not_ours", "folder '%s' has mode %04o, only 0700 is allowed", folder,
		            (unsigned)(info.st_mode & 07777));
	return true;
}

static bool is_our_folder(const char *folder)
{
	struct stat info;

	return folder && stat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

/* The folder of the socket without WEIR_HOME. */
static char *runtime_folder(bool *out_is_temporary, struct error *err)
{
	const char *runtime = folder_of("XDG_RUNTIME_DIR"), *temporary = folder_of("TMPDIR");
	char name[32], *folder;

	if (is_our_folder(runtime)) {
		*out_is_temporary = false;
		return path_join(runtime, "weir");
	}
	snprintf(name, sizeof name, "weir-%" PRIuMAX, (uintmax_t)geteuid());
	folder = path_join(temporary ? temporary : "/tmp", name);
	if (folder_is_private(folder, err)) {
		*out_is_temporary = true;
		return folder;
	}
	free(folder);
	return NULL;
}

static char *absolute(const char *path)
{
	char *here = getcwd(NULL, 0), *whole = path_resolve(here ? here : "/", path);

	free(here);
	return whole;
}

/* Sets config, state and the socket's folder. */
static char *home_folders(struct home *home, struct error *err)
{
	const char *weir_home = getenv("WEIR_HOME");

	if (weir_home && *weir_home) {
		home->config = absolute(weir_home);
		home->state = memory_string(home->config);
		return memory_string(home->config);
	}
	home->config = folder_weir("XDG_CONFIG_HOME", ".config", err);
	home->state = home->config ? folder_weir("XDG_STATE_HOME", ".local/state", err) : NULL;
	return home->state ? runtime_folder(&home->is_temporary, err) : NULL;
}

static bool socket_fits(const char *socket, struct error *err)
{
	if (strlen(socket) <= SOCKET_PATH_MAX)
		return true;
	return fail(err, ERROR_CONFIG, "socket_path_too_long",
	            "the path of the socket has %zu bytes, at most %d are allowed: '%s'", strlen(socket), SOCKET_PATH_MAX,
	            socket);
}

struct home *home_find(struct error *err)
{
	struct home *home = memory_zalloc(sizeof *home);
	char *folder = home_folders(home, err);

	if (folder) {
		home->jobs_config = path_join(home->config, "jobs");
		home->jobs_state = path_join(home->state, "jobs");
		home->warehouse = path_join(home->state, "warehouse");
		home->lock = path_join(home->state, "weird.lock");
		home->socket = path_join(folder, "weird.sock");
	}
	free(folder);
	if (home->socket && socket_fits(home->socket, err))
		return home;
	home_free(home);
	return NULL;
}

void home_free(struct home *home)
{
	if (!home)
		return;
	free(home->config);
	free(home->state);
	free(home->jobs_config);
	free(home->jobs_state);
	free(home->warehouse);
	free(home->socket);
	free(home->lock);
	free(home);
}

/* Made and looked at again: somebody may have been faster. */
bool home_make_socket_folder(const struct home *home, struct error *err)
{
	char *folder = path_folder(home->socket);
	bool is_fine = true;

	if (!home->is_temporary)
		is_fine = folder_make(folder, err);
	else if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		is_fine = fail_errno(err, errno, "cannot make folder '%s'", folder);
	if (is_fine && home->is_temporary)
		is_fine = folder_is_private(folder, err);
	free(folder);
	return is_fine;
}

bool home_make(const struct home *home, struct error *err)
{
	return folder_make(home->config, err) && folder_make(home->state, err) && folder_make(home->jobs_config, err) &&
	       folder_make(home->jobs_state, err) && folder_make(home->warehouse, err) && home_make_socket_folder(home, err);
}
