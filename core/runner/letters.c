/*
 * The reader's other source: letters that are replayed. The job's own source
 * and the letters take turns, batch by batch, so that neither waits for the
 * other's end; a rate makes the letters wait for their time.
 */
#include "base/clock.h"
#include "runner/runner_private.h"

#include <stdlib.h>

#define LETTERS_A_BATCH 500 /* a stop is seen between two of them */
#define RATED_BATCHES_A_S 10

struct letters {
	const struct run_setup *setup;
	struct pipeline *pipeline;
	struct source *source;   /* NULL: nothing is replayed */
	int64_t rate, begun_ms;
	int64_t last_run;        /* has been read to its end; the writer may not be there yet */
	uint64_t sent;
	bool had_turn;           /* the last batch was of letters */
	bool has_ended;          /* at least one replay was read to its end */
};

struct letters *letters_new(const struct run_setup *setup, struct pipeline *pipeline)
{
	struct letters *letters = memory_zalloc(sizeof(*letters));

	letters->setup = setup;
	letters->pipeline = pipeline;
	return letters;
}

static void close_source(struct letters *letters)
{
	if (letters->source)
		letters->source->ops->close(letters->source);
	letters->source = NULL;
}

void letters_free(struct letters *letters)
{
	if (!letters)
		return;
	close_source(letters);
	free(letters);
}

bool letters_are_open(const struct letters *letters)
{
	return letters->source != NULL;
}

/* Also true if nobody asks: a job that was begun for a replay alone has nothing else to wait for. */
bool letters_have_ended(const struct letters *letters)
{
	struct replay_view view;

	replay_desk_look(letters->setup->desk, &view);
	return letters->has_ended || view.phase == REPLAY_NONE || view.phase == REPLAY_ENDED;
}

/* The job is not to blame for a replay that cannot begin. */
static void give_up(struct letters *letters, const struct replay_view *view, const struct error *failure)
{
	replay_desk_end(letters->setup->desk, &view->run, failure);
	letters->has_ended = true;
}

static void open_source(struct letters *letters, struct replay_view *view)
{
	struct source_setup setup = { .options = letters->setup->options, .store = letters->pipeline->paths.store };
	struct error failure = { 0 };

	if (view->phase == REPLAY_ASKED) {
		if (!replay_claim(setup.store, &view->wish, &view->run, &failure)) {
			give_up(letters, view, &failure);
			return;
		}
		replay_desk_begun(letters->setup->desk, &view->run);
	}
	setup.run = view->run.run;
	letters->source = source_letters.open(&setup, &failure);
	if (!letters->source) {
		give_up(letters, view, &failure);
		return;
	}
	letters->rate = view->wish.rate;
	letters->begun_ms = clock_mono_ms();
	letters->sent = 0;
}

/* How many may be sent now. */
static uint64_t allowance(const struct letters *letters)
{
	uint64_t due, most = LETTERS_A_BATCH;

	if (!letters->rate)
		return most;
	due = (uint64_t)((clock_mono_ms() - letters->begun_ms) * letters->rate / 1000) + 1;
	if ((uint64_t)letters->rate / RATED_BATCHES_A_S + 1 < most)
		most = (uint64_t)letters->rate / RATED_BATCHES_A_S + 1;
	due = due > letters->sent ? due - letters->sent : 0;
	return due < most ? due : most;
}

bool letters_have_turn(struct letters *letters, bool source_has_more)
{
	struct replay_view view;

	if (!letters->setup->desk)
		return false;
	if (!letters->source) {
		replay_desk_look(letters->setup->desk, &view);
		if (view.phase == REPLAY_ASKED || (view.phase == REPLAY_RUNS && view.run.run != letters->last_run))
			open_source(letters, &view);
	}
	if (!letters->source || (letters->had_turn && source_has_more)) {
		letters->had_turn = false;
		return false;
	}
	replay_desk_look(letters->setup->desk, &view);
	return view.should_stop || allowance(letters) > 0;
}

int64_t letters_wait_until_ms(const struct letters *letters, int64_t until_ms)
{
	int64_t due_ms;

	if (!letters->source)
		return until_ms;
	due_ms = letters->rate ? letters->begun_ms + (int64_t)letters->sent * 1000 / letters->rate : 0;
	return due_ms < until_ms ? due_ms : until_ms;
}

void letters_fill(struct letters *letters, struct batch *batch)
{
	struct replay_view view;
	struct error failure = { 0 };

	replay_desk_look(letters->setup->desk, &view);
	batch->replay = view.run.run;
	if (view.should_stop) {
		batch->ends_replay = true;
	} else if (!pipeline_fill_letters(letters->pipeline, letters->source, batch, allowance(letters), &failure)) {
		replay_desk_fail(letters->setup->desk, &failure);
		batch->ends_replay = true;
	}
	letters->sent += batch->message_count;
	letters->had_turn = true;
	if (!batch->ends_replay)
		return;
	letters->last_run = batch->replay;
	letters->has_ended = true;
	close_source(letters);
}
