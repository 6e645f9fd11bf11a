/* What the journal and the log are told of a job. */
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "runner/runner.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_AGAIN_MS 60000 /* a wait of the same kind that comes back sooner is no news */

/* What was acknowledged does not come again by itself: who wants it has to put the subscription back. */
static const char *stays_words(const struct job *job)
{
	bool has_subscription = job_options_subscriptions(job->options) || job->options->input_topics;

	return job->run.from_start && has_subscription ? "; its subscription stays where it is, 'weir seek' puts it back" : "";
}

void job_tell_begin(struct job *job)
{
	char sentence[160];

	snprintf(sentence, sizeof(sentence), "job started%s%s%s", job->run.from_start ? " from the start" : "",
	         job->run.until_idle ? ", until idle" : "", stays_words(job));
	journal_event(job->engine, job->options->name, NULL, "job_started", sentence);
}

/* How a clean end is called, by what was wished last. */
static const char *end_words(const struct job *job, const char **out_code)
{
	int wish = atomic_load(&job->wish);

	*out_code = wish == RUN_PAUSE ? "job_paused" : "job_stopped";
	if (wish == RUN_PAUSE)
		return "job paused";
	if (wish == RUN_DRAIN)
		return atomic_load(&job->engine->is_stopping) ? "job drained: the engine ends"
		                                              : "job drained and stopped";
	return wish == RUN_STOP ? "job stopped after the batch that was being written"
	                        : "job stopped: nothing more to read";
}

void job_tell_refused(struct engine *engine, const char *job, const struct error *why)
{
	char sentence[640];

	snprintf(sentence, sizeof(sentence), "job needs you: %s: %s", why->code, why->message);
	journal_event(engine, job, NULL, "job_needs_you", sentence);
}

void job_tell_end(struct job *job)
{
	const char *code, *words;

	if (job->failure.kind != ERROR_NONE) {
		job_tell_refused(job->engine, job->options->name, &job->failure);
		return;
	}
	words = end_words(job, &code);
	journal_event(job->engine, job->options->name, NULL, code, words);
}

enum tidings { NO_NEWS, BEGINS_TO_WAIT, WAITS_AGAIN, GOES_ON };

/* Several threads of the job may come here: what counts is how the job stands now, and what was told of it last. */
static enum tidings take_tidings(struct job *job, struct progress_view *out_now, int64_t *out_waited_ms)
{
	struct job_told *told = &job->told;
	int64_t now_ms = clock_mono_ms();
	bool is_same;

	progress_look(job->progress, out_now);
	*out_waited_ms = now_ms - told->told_ms;
	is_same = strcmp(told->code, out_now->code) == 0;
	if (out_now->state == STATE_OK && told->waits) {
		told->waits = false;
		return GOES_ON;
	}
	if (out_now->state != STATE_WAITING || (told->waits && is_same))
		return NO_NEWS;
	if (is_same && now_ms - told->told_ms < WAIT_AGAIN_MS)
		return WAITS_AGAIN;
	told->waits = true;
	told->told_ms = now_ms;
	snprintf(told->code, sizeof(told->code), "%s", out_now->code);
	return BEGINS_TO_WAIT;
}

void job_tell_state(void *context)
{
	struct job *job = context;
	struct progress_view now;
	char words[640];
	int64_t waited_ms;
	enum tidings tidings;

	pthread_mutex_lock(&job->engine->lock);
	tidings = take_tidings(job, &now, &waited_ms);
	pthread_mutex_unlock(&job->engine->lock);
	if (tidings == BEGINS_TO_WAIT) {
		snprintf(words, sizeof(words), "waits: %s: %s", now.code, now.sentence);
		journal_event(job->engine, job->options->name, NULL, "job_waiting", words);
	} else if (tidings == WAITS_AGAIN) {
		log_warn(job->engine->log, "job", job->options->name, "waits again", FIELD_TEXT("code", now.code));
	} else if (tidings == GOES_ON) {
		snprintf(words, sizeof(words), "goes on after %lld.%lld s", (long long)(waited_ms / 1000),
		         (long long)(waited_ms % 1000 / 100));
		journal_event(job->engine, job->options->name, NULL, "job_goes_on", words);
	}
}

void job_tell_event(void *context, const char *table, const char *code, const char *sentence)
{
	struct job *job = context;

	journal_event(job->engine, job->options->name, table, code, sentence);
}

/* `weir tables` has it for good; it is no event of the journal. */
void job_tell_note(void *context, const char *table, const char *code, const char *sentence)
{
	struct job *job = context;

	log_info(job->engine->log, "job", job->options->name, sentence, FIELD_TEXT("code", code), FIELD_TEXT("table", table));
}
