/* Files of the operator's own; see files.h. */
#include "console/files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (256u * 1024)
#define PATH_BYTES 4096

/* NULL: it cannot be read; errno tells why. The caller frees. */
static char *file_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *bytes;
	size_t len;

	if (!file)
		return NULL;
	bytes = malloc(FILE_BYTES_MAX + 1);
	len = bytes ? fread(bytes, 1, FILE_BYTES_MAX, file) : 0;
	fclose(file);
	if (bytes)
		bytes[len] = '\0';
	return bytes;
}

/* A name is one that comes with weir, else NAME.theme in the configuration folder; with a slash it is a path. */
struct theme *theme_load(const struct home *home, const char *name, struct text *notes)
{
	const char *shipped = strchr(name, '/') ? NULL : theme_shipped_text(name);
	char path[PATH_BYTES];
	struct theme *theme;
	char *text;

	if (shipped)
		return theme_read(name, shipped, notes);
	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%s/themes/%s.theme", home->config, name);
	text = file_text(path);
	if (!text) {
		text_add_format(notes, "cannot read theme '%s': %s\n", path, strerror(errno));
		return NULL;
	}
	theme = theme_read(path, text, notes);
	free(text);
	return theme;
}

struct theme *theme_open(const struct home *home, const char *name, struct text *notes)
{
	const char *wanted = name ? name : getenv("WEIR_THEME");
	struct theme *theme = theme_load(home, wanted && *wanted ? wanted : "dark", notes);

	return theme ? theme : theme_read("", NULL, notes);
}

struct keymap *keymap_open(const struct home *home, const char *file, struct text *notes)
{
	struct keymap *keymap = keymap_new();
	char path[PATH_BYTES];
	char *text;

	snprintf(path, sizeof(path), "%s/" KEYS_FILE, home->config);
	text = file_text(file ? file : path);
	if (text)
		keymap_read(keymap, file ? file : path, text, notes);
	else if (file)
		text_add_format(notes, "cannot read keys '%s': %s\n", file, strerror(errno));
	free(text);
	return keymap;
}
