/*
 * Dead letters as a source: the letters that a replay has claimed, in order of
 * arrival, with the bytes, attributes and place of first receipt. Their states
 * are their position; there is nothing to confirm.
 */
#include "base/arena.h"
#include "dlq/dlq.h"
#include "source/source.h"

#include <stdlib.h>

struct letters {
	struct source source;
	struct dlq *dlq;      /* of the reader: a connection never crosses a thread */
	int64_t run, after;
};

static void letters_close(struct source *source)
{
	struct letters *letters = (struct letters *)source;

	if (!letters)
		return;
	dlq_close(letters->dlq);
	free(letters);
}

static struct source *letters_open(const struct source_setup *setup, struct error *err)
{
	struct letters *letters = memory_zalloc(sizeof(*letters));

	letters->source.ops = &source_letters;
	letters->run = setup->run;
	letters->dlq = dlq_open(setup->store, DLQ_READ, err);
	if (letters->dlq)
		return &letters->source;
	letters_close(&letters->source);
	return NULL;
}

static enum pulled letters_pull(struct source *source, struct batch *into, int64_t until_ms, struct error *err)
{
	struct letters *letters = (struct letters *)source;
	int64_t letter;

	(void)until_ms;
	if (!dlq_replay_next(letters->dlq, letters->run, letters->after, into, &letter, err))
		return PULLED_FAILED;
	if (!letter)
		return PULLED_END;
	letters->after = letter;
	return PULLED_MESSAGE;
}

static void letters_mark(struct source *source, struct batch *batch)
{
	batch->replay = ((struct letters *)source)->run;
}

static bool letters_confirm(struct source *source, const struct source_position *position, struct error *err)
{
	(void)source;
	(void)position;
	(void)err;
	return true;
}

static bool letters_note(struct source *source, struct error *out_note)
{
	(void)source;
	(void)out_note;
	return false;
}

const struct source_ops source_letters = {
	.name = "letters",
	.help = "Dead letters of the job that a replay has claimed.",
	.open = letters_open,
	.pull = letters_pull,
	.mark = letters_mark,
	.confirm = letters_confirm,
	.note = letters_note,
	.close = letters_close,
};
