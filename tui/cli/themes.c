/* `weir themes`: what there is to choose from, what is wrong with the operator's own files, and where these are looked for. */
#include "cli/cli_private.h"

#include "base/arena.h"
#include "base/file.h"
#include "term/term.h"

#include <dirent.h>
#include <stdlib.h>

#define THEMES_MOST 200
#define THEME_BYTES_MOST (64u << 10)
#define PROBLEM_BYTES 8192
#define ENDING ".theme"

/* Themes found: those that come with weir, then the operator's. */
struct theme_list {
	char *names[THEMES_MOST];
	char *paths[THEMES_MOST]; /* NULL: compiled in */
	size_t count;
};

static void list_free(struct theme_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->names[i]);
		free(list->paths[i]);
	}
}

/* Takes both. */
static void list_put(struct theme_list *list, char *name, char *path)
{
	if (list->count == THEMES_MOST) {
		free(name);
		free(path);
		return;
	}
	list->names[list->count] = name;
	list->paths[list->count++] = path;
}

static int is_theme(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), end = sizeof(ENDING) - 1;

	return entry->d_name[0] != '.' && len > end && strcmp(entry->d_name + len - end, ENDING) == 0;
}

/* A folder that is not there holds none. */
static void list_folder(struct theme_list *list, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_theme, alphasort);

	for (int i = 0; i < count; i++) {
		const char *file = entries[i]->d_name;
		struct span name = span_make(file, strlen(file) - (sizeof(ENDING) - 1));

		list_put(list, memory_string_of(name), path_join(folder, file));
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* NULL: the file cannot be read, and `problems` says why. */
static struct theme *theme_of(const char *name, const char *path, struct text *problems)
{
	struct error err = { 0 };
	char *text = NULL;
	size_t len;

	if (!path)
		return theme_read(name, theme_shipped_text(name), problems);
	if (!file_read(path, THEME_BYTES_MOST, &text, &len, &err)) {
		text_add_format(problems, "%s\n", err.message);
		return NULL;
	}
	struct theme *theme = theme_read(path, text, problems);

	if (theme_shipped_text(name))
		text_add_format(problems, "%s: this name comes with weir and means that one; give yours another\n", path);
	free(text);
	return theme;
}

static json_t *problems_json(const struct text *problems)
{
	json_t *lines = json_array();

	for (const char *at = problems->at; *at; at += strcspn(at, "\n") + 1)
		json_array_append_new(lines, json_stringn_nocheck(at, strcspn(at, "\n")));
	return lines;
}

static const struct page_column columns[] = {
	{ "NAME", 16, 0, 0, false },
	{ "BACKGROUND", 10, 0, 2, false },
	{ "FROM", 8, 0, 1, false },
	{ "ABOUT", 70, 20, 0, false },
};

static void print_theme(const struct page_list *page, const char *name, const char *path, const struct theme *theme,
                        const struct text *problems)
{
	const char *background = theme ? theme_background_name(theme_background(theme)) : "-";
	const char *cells[] = { name, background, path ? "file" : "weir", theme ? theme_about(theme) : "cannot be read" };

	cli_list_row(page, cells);
	if (problems->len) {
		fflush(stdout);
		cli_fold_lines(stderr, problems->at);
	}
}

static void print_theme_json(const char *name, const char *path, const struct theme *theme, const struct text *problems)
{
	json_t *object = json_pack("{s:s, s:s?, s:s?, s:s?, s:o}", "theme", name, "background",
	                           theme ? theme_background_name(theme_background(theme)) : NULL, "about",
	                           theme ? theme_about(theme) : NULL, "file", path, "problems", problems_json(problems));

	cli_print_json(object);
	json_decref(object);
}

int cli_themes(const struct home *home, const struct command_line *line)
{
	struct theme_list list = { 0 };
	struct page_list page = { 0 };
	char *folder = path_join(home->config, "themes");

	for (size_t i = 0; theme_shipped_name(i); i++)
		list_put(&list, memory_string(theme_shipped_name(i)), NULL);
	list_folder(&list, folder);
	if (!line->is_json)
		cli_list_head(&page, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < list.count; i++) {
		OWNED(text) problems = text_new(PROBLEM_BYTES);
		struct theme *theme = theme_of(list.names[i], list.paths[i], problems);

		if (line->is_json)
			print_theme_json(list.names[i], list.paths[i], theme, problems);
		else
			print_theme(&page, list.names[i], list.paths[i], theme, problems);
		theme_free(theme);
	}
	cli_list_end(&page);
	if (!line->is_json) {
		OWNED(text) where = text_new(8192);

		text_add_format(where, "your own: NAME.theme in %s", folder);
		putchar('\n');
		cli_fold(stdout, where->at, 0, 0);
	}
	list_free(&list);
	free(folder);
	return 0;
}
