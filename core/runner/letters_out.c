/*
 * Dead letters to a topic or a table of BigQuery, beside the job: a thread each reads what the store has kept and sends it, so
 * a service that does not answer holds up nothing, and a letter is in the store until it is there.
 */
#include "base/clock.h"
#include "google/google.h"
#include "runner/letters_out_private.h"
#include "source/subscription.h"

#include <stdlib.h>

#define LOOK_MS 1000          /* how soon a letter is sent */
#define AGAIN_MS 5000         /* after a failure; twice as long each time */
#define AGAIN_MOST_MS 8000    /* a repair is seen so soon */

/*
 * The thread
 */

/* Shown as it stands; the journal hears once when it begins to fail, once when it goes on. */
static void tell(struct letters_out *out, bool is_fine)
{
	const struct run_setup *setup = out->setup;
	bool is_news = is_fine == out->has_failed;
	char sentence[LETTERS_TARGET_BYTES + 640];

	out->has_failed = !is_fine;
	if (!is_fine || is_news)
		progress_set_letters(setup->progress, out->way, out->target, is_fine ? NULL : &out->failure, out->again_ms);
	if (!is_news || !setup->on_event)
		return;
	snprintf(sentence, sizeof(sentence), is_fine ? "dead letters go to %s again" : "dead letters wait for %s: %s", out->target,
	         out->failure.message);
	setup->on_event(setup->context, "-", out->code, sentence);
}

void letters_out_unfit(struct letters_out *out, int64_t letter, const char *why)
{
	const struct run_setup *setup = out->setup;
	char sentence[LETTERS_TARGET_BYTES + 640];

	if (letter <= out->told_letter || !setup->on_event)
		return;
	out->told_letter = letter;
	snprintf(sentence, sizeof(sentence), "letter %lld does not go to %s: %s; it stays in the job's store", (long long)letter,
	         out->target, why);
	setup->on_event(setup->context, "-", out->code, sentence);
}

static bool has_news(struct letters_out *out)
{
	struct progress_view view;
	bool is_new;

	progress_look(out->setup->progress, &view);
	is_new = !out->has_looked || out->has_failed || view.this_run.dead_lettered != out->seen;
	out->has_looked = true;
	out->seen = view.this_run.dead_lettered;
	return is_new;
}

/* True: it is to end. */
static bool sleep_for(struct letters_out *out, int64_t wait_ms)
{
	struct timespec until;
	bool ends;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += wait_ms / 1000;
	until.tv_nsec += wait_ms % 1000 * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&out->lock);
	while (!out->ends && pthread_cond_timedwait(&out->end, &out->lock, &until) == 0)
		continue;
	ends = out->ends;
	pthread_mutex_unlock(&out->lock);
	return ends;
}

static void *letters_out_main(void *context)
{
	struct letters_out *out = context;
	bool ends = false;

	while (!ends) {
		ends = sleep_for(out, out->has_failed ? out->again_ms : LOOK_MS);
		if (!has_news(out))
			continue;
		/* At the end once more, so that what came last is there; what cannot be is left for the next run. */
		out->failure = (struct error){ 0 };
		out->again_ms = !out->has_failed ? AGAIN_MS : out->again_ms * 2 < AGAIN_MOST_MS ? out->again_ms * 2 : AGAIN_MOST_MS;
		tell(out, out->round(out));
	}
	return NULL;
}

/*
 * A way out
 */

static void letters_out_free(struct letters_out *out)
{
	pthread_cond_destroy(&out->end);
	pthread_mutex_destroy(&out->lock);
	job_paths_clear(&out->paths);
	free(out);
}

static struct letters_out *letters_out_new(const struct run_setup *setup)
{
	struct letters_out *out = memory_zalloc(sizeof(*out));

	out->setup = setup;
	pthread_mutex_init(&out->lock, NULL);
	clock_cond_init(&out->end);
	job_paths_make(&out->paths, setup->home, setup->options->name);
	return out;
}

static bool to_topic(struct letters_out *out, struct error *err)
{
	char name[PUBSUB_NAME_BYTES];

	out->way = LETTERS_TO_TOPIC;
	out->code = "letters_not_published";
	out->round = letters_topic_round;
	if (!pubsub_full_name(PUBSUB_TOPIC, span_of(job_options_letter_topic(out->setup->options)), google_project(out->setup->google),
	                      name, err))
		return false;
	snprintf(out->target, sizeof(out->target), "%s", name);
	return true;
}

static bool to_table(struct letters_out *out, struct error *err)
{
	(void)err;
	out->way = LETTERS_TO_TABLE;
	out->code = "letters_not_written";
	out->round = letters_table_round;
	snprintf(out->target, sizeof(out->target), "%s", job_options_letter_table(out->setup->options));
	return true;
}

static bool add(struct letters_out **list, const struct run_setup *setup, bool (*to)(struct letters_out *, struct error *),
                struct error *err)
{
	struct letters_out *out = letters_out_new(setup);

	if (!to(out, err) || !run_make_thread(setup, &out->thread, letters_out_main, out, err)) {
		letters_out_free(out);
		return false;
	}
	progress_set_letters(setup->progress, out->way, out->target, NULL, 0);
	out->next = *list;
	*list = out;
	return true;
}

bool letters_out_start(const struct run_setup *setup, struct letters_out **out_threads, struct error *err)
{
	const struct job_options *options = setup->options;
	bool has_table = options->warehouse == WAREHOUSE_BIGQUERY && job_options_letter_table(options);

	*out_threads = NULL;
	if (!setup->google)
		return true;
	if ((!job_options_letter_topic(options) || add(out_threads, setup, to_topic, err)) &&
	    (!has_table || add(out_threads, setup, to_table, err)))
		return true;
	letters_out_end(*out_threads);
	*out_threads = NULL;
	return false;
}

void letters_out_end(struct letters_out *out)
{
	while (out) {
		struct letters_out *next = out->next;

		pthread_mutex_lock(&out->lock);
		out->ends = true;
		pthread_cond_signal(&out->end);
		pthread_mutex_unlock(&out->lock);
		pthread_join(out->thread, NULL);
		progress_set_letters(out->setup->progress, out->way, "", NULL, 0);
		letters_out_free(out);
		out = next;
	}
}
