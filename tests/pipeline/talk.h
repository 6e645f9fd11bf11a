/*
 * Conversations: a text says what the source delivers, what transform and sink
 * answer, and what must be written, kept, parked and confirmed. After every step
 * the ledger must balance and agree with what the pipeline shows.
 *
 *   source deliver a b c          source fail CODE
 *   transform|sink refuse b CODE [TEXT]  | park b CODE | accept b      (b#1: record 1 of message b)
 *   transform choke|filter|note b CODE [TEXT] | split b 2 | table b NAME
 *   sink fail CODE | fail-commit CODE    (the next time only)  | park-all TABLE CODE
 *   batch 3 | limit park BYTES
 *   pause TABLE | resume TABLE
 *   open [from-start] | close | write | again | unpark | kill before-commit|after-commit
 *   lose letters | parked | store
 *   expect WHAT ...               the table `expectations` below
 */
#ifndef WEIR_TESTS_TALK_H
#define WEIR_TESTS_TALK_H

#include "pipeline/fake_sink.h"
#include "pipeline/fakes.h"

#define WORDS_MOST 24
#define SHOWN_BYTES 16384

struct words {
	char room[512];
	const char *at[WORDS_MOST];
	size_t count;
};

struct verb {
	const char *first, *second; /* second NULL: any */
	void (*play)(struct world *world, const struct words *words);
};

static inline void words_read(struct words *words, const char *line, size_t len)
{
	char *at = words->room;

	assert_true(len < sizeof(words->room));
	memcpy(words->room, line, len);
	words->room[len] = '\0';
	words->count = 0;
	while (*(at += strspn(at, " \t"))) {
		bool is_quoted = *at == '"';

		assert_true(words->count < WORDS_MOST);
		at += is_quoted;
		words->at[words->count++] = at;
		at += strcspn(at, is_quoted ? "\"" : " \t");
		if (*at)
			*at++ = '\0';
	}
}

/* Words from `from` on, with one blank between. */
static inline void words_join(const struct words *words, size_t from, char *out, size_t room)
{
	out[0] = '\0';
	for (size_t i = from; i < words->count; i++) {
		size_t len = strlen(out);

		snprintf(out + len, room - len, "%s%s", len ? " " : "", words->at[i]);
	}
}

/*
 * What is set up
 */

static inline void play_deliver(struct world *world, const struct words *words)
{
	for (size_t i = 2; i < words->count; i++) {
		assert_true(world->delivered < MESSAGES_MOST);
		snprintf(world->names[world->delivered++], NAME_ROOM, "%s", words->at[i]);
	}
}

static inline void play_many(struct world *world, const struct words *words)
{
	size_t count = strtoul(words->at[2], NULL, 10);

	for (size_t i = 0; i < count; i++) {
		assert_true(world->delivered < MESSAGES_MOST);
		snprintf(world->names[world->delivered++], NAME_ROOM, "%s%zu", words->at[3], i);
	}
}

static inline void copy_word(char *to, size_t room, const char *word)
{
	snprintf(to, room, "%s", word);
}

static inline void play_source_fail(struct world *world, const struct words *words)
{
	copy_word(world->source_failure, sizeof(world->source_failure), words->at[2]);
}

static inline void play_sink_fail(struct world *world, const struct words *words)
{
	copy_word(world->write_failure, sizeof(world->write_failure), words->at[2]);
}

static inline void play_sink_fail_commit(struct world *world, const struct words *words)
{
	copy_word(world->commit_failure, sizeof(world->commit_failure), words->at[2]);
}

static inline void play_rule(struct world *world, const struct words *words)
{
	struct rule *rule = &world->rules[world->rule_count++];
	const char *ordinal = strchr(words->at[2], '#');

	assert_true(world->rule_count <= RULES_MOST);
	*rule = (struct rule){ .ordinal = ordinal ? ordinal[1] - '0' : -1 };
	copy_word(rule->who, sizeof(rule->who), words->at[0]);
	copy_word(rule->what, sizeof(rule->what), words->at[1]);
	snprintf(rule->name, sizeof(rule->name), "%.*s", (int)strcspn(words->at[2], "#"), words->at[2]);
	copy_word(rule->code, sizeof(rule->code), words->count > 3 ? words->at[3] : "");
	copy_word(rule->text, sizeof(rule->text), words->count > 4 ? words->at[4] : "because");
}

static inline void play_accept(struct world *world, const struct words *words)
{
	for (size_t i = 0; i < world->rule_count; i++) {
		if (strcmp(world->rules[i].who, words->at[0]) == 0 && strcmp(world->rules[i].name, words->at[2]) == 0)
			world->rules[i].name[0] = '\0';
	}
}

static inline void play_batch(struct world *world, const struct words *words)
{
	world->batch_messages = strtoul(words->at[1], NULL, 10);
	if (world->pipeline)
		world->pipeline->batch_messages = world->batch_messages;
}

static inline void play_park_limit(struct world *world, const struct words *words)
{
	world->options.park_bytes = strtoll(words->at[2], NULL, 10);
}

/*
 * What happens
 */

static inline bool is_step_fine(struct world *world, bool is_fine)
{
	if (is_fine)
		world->err = (struct error){ 0 };
	else if (!world->err.code[0])
		SAY_FAIL(world, "a step failed without a reason");
	return is_fine;
}

static inline void play_close(struct world *world, const struct words *words)
{
	(void)words;
	pipeline_close(world->pipeline);
	world->pipeline = NULL;
}

static inline void play_open(struct world *world, const struct words *words)
{
	struct pipeline_setup setup = {
		.options = &world->options,
		.home = &world->home,
		.progress = world->progress,
		.from_start = words->count > 1 && strcmp(words->at[1], "from-start") == 0,
		.batch_messages = world->batch_messages,
		.source = &fake_source,
		.transform = &fake_transform,
		.sink = &fake_sink,
	};

	play_close(world, words);
	world->err = (struct error){ 0 };
	world->pipeline = pipeline_open(&setup, &world->err);
	is_step_fine(world, world->pipeline != NULL);
}

/* A killed process: nothing is tidied up, and the store is as it was at that moment. */
static inline void bury(struct world *world)
{
	const struct words none = { .count = 0 };

	play_close(world, &none);
	store_restore(world);
	world->kill = KILL_NEVER;
	world->was_killed = false;
}

static inline void write_batch(struct world *world)
{
	world->err = (struct error){ 0 };
	is_step_fine(world, pipeline_write(world->pipeline, world->batch, &world->err));
	if (world->was_killed)
		bury(world);
}

static inline void play_write(struct world *world, const struct words *words)
{
	(void)words;
	batch_reset(world->batch);
	world->err = (struct error){ 0 };
	if (is_step_fine(world, pipeline_fill(world->pipeline, world->batch, clock_mono_ms() + 1000, &world->err)))
		write_batch(world);
}

/* The runner's patience: the batch that failed, once more. */
static inline void play_again(struct world *world, const struct words *words)
{
	(void)words;
	write_batch(world);
}

static inline void play_unpark(struct world *world, const struct words *words)
{
	(void)words;
	world->err = (struct error){ 0 };
	is_step_fine(world, pipeline_unpark(world->pipeline, &world->err));
	if (world->was_killed)
		bury(world);
}

static inline void play_kill(struct world *world, const struct words *words)
{
	world->kill = strcmp(words->at[1], "before-commit") == 0 ? KILL_BEFORE_COMMIT : KILL_AFTER_COMMIT;
}

/* "pause t", "resume t": as from outside, seen at the next open. */
static inline void play_pause(struct world *world, const struct words *words)
{
	struct dlq *dlq = dlq_open(world->store, DLQ_WRITE, &world->err);
	bool was_paused, is_fine;
	char table[80];

	snprintf(table, sizeof(table), "%s.%s", pipeline_dataset(&world->options), words->at[1]);
	is_fine = dlq && (strcmp(words->at[0], "pause") == 0
	                          ? dlq_pause_table(dlq, table, "ops1", "", &world->err)
	                          : dlq_resume_table(dlq, table, &was_paused, &world->err));
	if (!is_fine)
		SAY_FAIL(world, "%s: %s", world->err.code, world->err.message);
	dlq_close(dlq);
}

static inline void play_lose(struct world *world, const struct words *words)
{
	bool is_letters = strcmp(words->at[1], "letters") == 0;
	char nothing[8];

	assert_null(world->pipeline);
	if (strcmp(words->at[1], "store") == 0) {
		shell(world, "rm -f '%s'*", world->store);
		return;
	}
	store_cell(world, is_letters ? "DELETE FROM letters" : "DELETE FROM parked", NULL, nothing, sizeof(nothing));
	if (is_letters)
		store_cell(world, "DELETE FROM bodies", NULL, nothing, sizeof(nothing));
}

#include "pipeline/expect.h"

static const struct verb verbs[] = {
	{ "source", "deliver", play_deliver },
	{ "source", "many", play_many },
	{ "source", "fail", play_source_fail },
	{ "sink", "fail", play_sink_fail },
	{ "sink", "fail-commit", play_sink_fail_commit },
	{ "sink", "accept", play_accept },
	{ "transform", "accept", play_accept },
	{ "sink", NULL, play_rule },
	{ "transform", NULL, play_rule },
	{ "batch", NULL, play_batch },
	{ "limit", "park", play_park_limit },
	{ "open", NULL, play_open },
	{ "close", NULL, play_close },
	{ "write", NULL, play_write },
	{ "again", NULL, play_again },
	{ "unpark", NULL, play_unpark },
	{ "kill", NULL, play_kill },
	{ "pause", NULL, play_pause },
	{ "resume", NULL, play_pause },
	{ "lose", NULL, play_lose },
	{ "expect", NULL, play_expect },
};

/* The line behind a step that fails must expect the error. */
static inline void play(struct world *world, const struct words *words)
{
	bool is_error = words->count > 1 && strcmp(words->at[0], "expect") == 0 && strcmp(words->at[1], "error") == 0;

	if (world->err.code[0] && !is_error)
		SAY_FAIL(world, "before it: %s: %s", world->err.code, world->err.message);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(verbs[i].first, words->at[0]) == 0 &&
		    (!verbs[i].second || (words->count > 1 && strcmp(verbs[i].second, words->at[1]) == 0))) {
			verbs[i].play(world, words);
			check_agreement(world);
			return;
		}
	}
	SAY_FAIL(world, "there is no '%s %s'", words->at[0], words->count > 1 ? words->at[1] : "");
}

static inline void world_begin(struct world *world)
{
	static char name[] = "talk", feed[] = "/the/feed", log[] = "shop_log", shop[] = "shop";

	*world = (struct world){ .options = { .name = name, .input_file = feed, .change_log_dataset = log,
	                                      .replica_dataset = shop, .park_bytes = 1 << 30 } };
	snprintf(world->folder, sizeof(world->folder), "/tmp/weir-talk-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	snprintf(world->store, sizeof(world->store), "%s/talk.db", world->folder);
	world->home.jobs_state = world->home.warehouse = world->folder;
	world->arena = arena_new(4096);
	world->progress = progress_new();
	world->batch = batch_new();
}

static inline void world_end(struct world *world)
{
	pipeline_close(world->pipeline);
	batch_free(world->batch);
	progress_free(world->progress);
	arena_free(world->arena);
	shell(world, "rm -rf '%s'", world->folder);
}

static inline void talk(const char *script)
{
	struct world *world = memory_zalloc(sizeof(*world));
	struct words words;

	world_begin(world);
	while (*script) {
		size_t len = strcspn(script, "\n");

		world->line++;
		words_read(&words, script, len);
		if (words.count)
			play(world, &words);
		script += len + (script[len] == '\n');
	}
	if (world->err.code[0])
		SAY_FAIL(world, "the last step failed: %s: %s", world->err.code, world->err.message);
	world_end(world);
	free(world);
}

#endif
