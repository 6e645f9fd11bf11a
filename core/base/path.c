/* Names of files and the folders they lie in. */
#include "base/file.h"

#include "base/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

bool folder_make_last(const char *path, struct error *err)
{
	struct stat info;

	if (mkdir(path, 0700) == 0)
		return true;

	int why = errno;

	if (stat(path, &info) != 0)
		return fail_errno(err, why, "cannot make folder '%s'", path);
	if (!S_ISDIR(info.st_mode))
		return fail(err, ERROR_CONFIG, "not_a_folder", "cannot make folder '%s': there is a file of that name",
		            path);
	return true;
}

bool folder_make(const char *path, struct error *err)
{
	char *part = memory_string(path);
	bool is_fine = true;

	for (char *slash = strchr(part, '/'); slash && is_fine; slash = strchr(slash + 1, '/')) {
		if (slash == part || slash[-1] == '/')
			continue;
		*slash = '\0';
		is_fine = folder_make_last(part, err);
		*slash = '/';
	}
	is_fine = is_fine && folder_make_last(path, err);
	free(part);
	return is_fine;
}

char *path_join(const char *folder, const char *name)
{
	size_t len = strlen(folder), more = strlen(name);
	bool needs_slash = len > 0 && folder[len - 1] != '/';
	char *path = memory_alloc(len + needs_slash + more + 1);

	memcpy(path, folder, len);
	if (needs_slash)
		path[len++] = '/';
	memcpy(path + len, name, more + 1);
	return path;
}

char *path_resolve(const char *base_folder, const char *path)
{
	return path[0] == '/' ? memory_string(path) : path_join(base_folder, path);
}

char *path_folder(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	if (len == 0)
		return memory_string(".");
	while (len > 1 && path[len - 1] == '/')
		len--;
	return memory_string_of(span_make(path, len));
}
