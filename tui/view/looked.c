/* Groups that were seen; see looked.h. */
#include "view/looked.h"
#include "base/arena.h"
#include "base/file.h"
#include "view/console.h"

#include <stdlib.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 20)
#define JOBS_MAX 2000 /* of which it is remembered */

static struct {
	char *path;
	json_t *seen;   /* by job */
	bool has_news;  /* not written yet */
} looked;

static void load(const char *folder)
{
	char name[48], *text = NULL;
	size_t len = 0;

	snprintf(name, sizeof(name), "console-looked-%lld", (long long)getuid());
	looked.path = path_join(folder, name);
	if (file_read(looked.path, FILE_BYTES_MAX, &text, &len, NULL))
		looked.seen = json_loadb(text, len, 0, NULL);
	free(text);
	if (json_is_object(looked.seen))
		return;
	json_decref(looked.seen);
	looked.seen = json_object();
}

json_t *looked_before(const char *folder)
{
	if (!looked.path)
		load(folder);
	return json_deep_copy(looked.seen);
}

void looked_note(const json_t *group)
{
	const char *job = member_text(group, "job");
	json_t *seen = json_object_get(looked.seen, job);

	if (!looked.path || (seen && member_int(seen, "group") >= member_int(group, "group")) ||
	    (!seen && json_object_size(looked.seen) >= JOBS_MAX))
		return;
	json_object_set_new(looked.seen, job, json_pack("{s:I, s:s}", "group", (json_int_t)member_int(group, "group"), "first",
	                                                member_text(group, "first")));
	looked.has_news = true;
}

/* Two consoles of one user: the one that ends last has the word. */
void looked_keep(void)
{
	char *text;

	if (!looked.path || !looked.has_news)
		return;
	looked.has_news = false;
	text = json_dumps(looked.seen, JSON_COMPACT);
	if (text)
		file_replace(looked.path, span_of(text), NULL);
	free(text);
}

bool looked_is_new(const json_t *before, const json_t *group)
{
	const json_t *seen = json_object_get(before, member_text(group, "job"));

	return seen && member_int(group, "group") > member_int(seen, "group");
}

void looked_check(json_t *before, const json_t *group)
{
	json_t *seen = json_object_get(before, member_text(group, "job"));

	if (!seen || member_int(seen, "group") != member_int(group, "group") ||
	    strcmp(member_text(seen, "first"), member_text(group, "first")) == 0)
		return;
	json_object_set_new(seen, "group", json_integer(0));
	json_object_del(looked.seen, member_text(group, "job"));
}
