/* What the engine writes down: log and journal, from when the home is ours until nobody is left who could write. */
#include "base/clean.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "build_info.h"
#include "engine/engine.h"
#include "engine/exhausted.h"
#include "engine/journal.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_BACK_BYTES (4u << 20) /* how far the last engine's end is looked for */

/*
 * Who
 */

void peer_name(struct peer *peer)
{
	char buffer[4096];
	struct passwd entry, *found = NULL;

	if (peer->user[0])
		return;
	if (getpwuid_r((uid_t)peer->uid, &entry, buffer, sizeof(buffer), &found) == 0 && found &&
	    utf8_is_valid(span_of(found->pw_name)))
		snprintf(peer->user, sizeof(peer->user), "%s", found->pw_name);
	else
		snprintf(peer->user, sizeof(peer->user), "uid %lld", (long long)peer->uid);
}

/* The client's own word: only what such a text may hold is kept. */
void peer_set_ssh(struct peer *peer, const char *ssh)
{
	static const char allowed[] = "0123456789abcdefABCDEF.:% ";
	size_t len = ssh ? strlen(ssh) : 0;

	peer->ssh[0] = '\0';
	if (len && len < sizeof(peer->ssh) && strspn(ssh, allowed) == len)
		memcpy(peer->ssh, ssh, len + 1);
}

/*
 * Opening and closing
 */

/* Lines of log and journal go to those who have subscribed as well. */
static void publish_log(void *context, enum log_level level, const char *json)
{
	struct engine *engine = context;

	if (events_wanted(engine, TOPIC_logs))
		events_publish(engine, TOPIC_logs, log_level_name(level), json_loads(json, 0, NULL));
}

static void publish_journal(void *context, const json_t *line)
{
	struct engine *engine = context;

	if (events_wanted(engine, TOPIC_journal))
		events_publish(engine, TOPIC_journal, NULL, json_incref((json_t *)line));
}

/* An engine that was killed left no word of its end. */
static void tell_killed(struct engine *engine)
{
	struct journal_filter filter = { .what = "engine_st", .limit = 1, .bytes_max = LOOK_BACK_BYTES };
	struct error ignored = { 0 };
	json_t *lines = journal_read(engine->journal, &filter, &ignored);
	const json_t *last = json_array_get(lines, 0);
	const char *code = json_string_value(json_object_get(last, "code"));
	const char *time = json_string_value(json_object_get(last, "time"));
	char sentence[160];

	if (code && time && strcmp(code, "engine_started") == 0) {
		snprintf(sentence, sizeof(sentence), "the engine that started at %.19sZ %s", time,
		         exhausted_times() ? "ran out of memory and begins again"
		                           : "ended without a word: killed, or the machine went down");
		journal_event(engine, NULL, NULL, exhausted_times() ? "out_of_memory" : "engine_was_killed", sentence);
	}
	json_decref(lines);
}

/* WEIR_LOG=debug: what only we want to know. */
static enum log_level wanted_level(void)
{
	const char *wanted = getenv("WEIR_LOG");
	enum log_level level = LEVEL_INFO;

	if (wanted)
		log_level_find(wanted, &level);
	return level;
}

void records_open(struct engine *engine)
{
	char *logs = path_join(engine->home->state, "logs");
	char *journal = path_join(engine->home->state, "journal.jsonl");
	struct log_setup setup = {
		.folder = logs,
		.least = wanted_level(),
		.to_stderr = log_is_journaled(),
		.on_line = publish_log,
		.context = engine,
	};
	char sentence[160];

	engine->log = log_open(&setup);
	engine->journal = journal_open(journal, publish_journal, engine);
	tell_killed(engine);
	snprintf(sentence, sizeof(sentence), "weird %s (%s) started, pid %d", WEIR_VERSION, WEIR_COMMIT, (int)getpid());
	journal_event(engine, NULL, NULL, "engine_started", sentence);
	free(journal);
	free(logs);
}

void records_close(struct engine *engine)
{
	char sentence[80];

	if (!engine->journal)
		return;
	snprintf(sentence, sizeof(sentence), "weird ended, pid %d", (int)getpid());
	journal_event(engine, NULL, NULL, "engine_stopped", sentence);
	journal_close(engine->journal);
	log_close(engine->log);
	engine->journal = NULL;
	engine->log = NULL;
}
