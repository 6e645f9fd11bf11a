/*
 * The folder's part of a turn: which errand comes next, and what came of the last.
 * Files that have no name yet come first, then letters that have waited for a window,
 * then removals, and only then is the folder looked through: what we wrote is in it
 * before we read.
 */
#include "pipeline/post_private.h"

#include "base/clock.h"

#define FIRST_REST_MS 1000
#define LONGEST_REST_MS 60000
#define MEANWHILE_MS 5         /* a disk is that quick; who is slower is asked at the next turn */
#define WAIT_LOCAL_MS 60000    /* at the ends of a run */
#define WAIT_STORAGE_MS 10000

static void rest_failed(struct post_rest *rest)
{
	if (!rest->backoff.first_ms)
		rest->backoff = (struct backoff)BACKOFF(FIRST_REST_MS, LONGEST_REST_MS, 2);
	rest->again_ms = clock_mono_ms() + backoff_next(&rest->backoff, 0);
}

static void rest_over(struct post_rest *rest)
{
	rest->again_ms = 0;
	if (rest->backoff.first_ms)
		backoff_reset(&rest->backoff);
}

/* It has been reached, and nothing that failed last waits to be tried again. */
bool post_folder_is_well(const struct post *post)
{
	return post->is_reached && post->placing.again_ms == 0 && post->looking.again_ms == 0 && clock_mono_ms() >= post->stuck_until_ms;
}

/* How it goes is known by the last errand of its kind. */
static bool outcome(struct post_rest *rest, bool is_fine)
{
	if (!is_fine) {
		rest_failed(rest);
		return false;
	}
	rest_over(rest);
	return true;
}

/*
 * What came of an errand
 */

static bool take_look(struct post *post, struct errand *errand, struct error *err)
{
	if (!post_take_files(post, errand, err))
		return false;
	post->looked_ms = errand->has_more ? 0 : clock_mono_ms();
	return true;
}

static bool take_result(struct post *post, struct errand *errand, struct error *err)
{
	bool is_fine = errand->is_done;

	if (!is_fine)
		*err = errand->failure;
	if (errand->kind == ERRAND_PLACE)
		is_fine = outcome(&post->placing, is_fine && post_placed(post, errand, err));
	else if (errand->kind == ERRAND_LOOK)
		is_fine = outcome(&post->looking, is_fine && take_look(post, errand, err));
	else
		is_fine = is_fine && post_removed(post, errand, err);
	post->is_reached = post->is_reached || is_fine;
	errand_free(errand);
	return is_fine;
}

/*
 * What comes next
 */

static bool is_rested(const struct post_rest *rest)
{
	return rest->again_ms <= clock_mono_ms();
}

/* *out_sent: the carrier has something to place, or a file waits for it to come back. */
static bool place_next(struct post *post, bool is_end, bool *out_sent, bool *out_waits, struct error *err)
{
	struct errand *errand;
	bool is_due = false;

	if (!post_next_file(post, &errand, err))
		return false;
	if (!errand && is_rested(&post->placing)) {
		if (!post_is_due(post, OUTBOUND_FOLDER, is_end, &is_due, err) || (is_due && !post_parcel(post, err)) ||
		    (is_due && !post_next_file(post, &errand, err)))
			return false;
	}
	*out_waits = errand != NULL;
	if (errand && is_rested(&post->placing)) {
		*out_sent = true;
		return carrier_send(post->carrier, errand, err);
	}
	errand_free(errand);
	return true;
}

static bool is_look_due(const struct post *post)
{
	return is_rested(&post->looking) &&
	       (!post->looked_ms || clock_mono_ms() - post->looked_ms >= post->options->dead_letter_retry_ms);
}

/* *out_sent false: there is nothing to do for the carrier now. */
static bool send_next(struct post *post, enum post_when when, bool *out_sent, struct error *err)
{
	struct errand *leaving = post->leaving;
	bool waits = false;

	*out_sent = false;
	if (!place_next(post, when == POST_END, out_sent, &waits, err)) {
		rest_failed(&post->placing);
		return false;
	}
	if (*out_sent)
		return true;
	if (leaving) {
		post->leaving = NULL;
		*out_sent = true;
		return carrier_send(post->carrier, leaving, err);
	}
	/* What may be in the folder already, though we do not know, would come back before it was sent. */
	if (when == POST_END || waits || !is_look_due(post))
		return true;
	*out_sent = true;
	return carrier_send(post->carrier, errand_new(ERRAND_LOOK, FOLDER_FILES_A_LOOK), err);
}

bool post_folder_turn(struct post *post, enum post_when when, struct error *err)
{
	int64_t wait_ms = when == POST_MEANWHILE ? MEANWHILE_MS : carrier_folder(post->carrier) == &folder_local ? WAIT_LOCAL_MS : WAIT_STORAGE_MS;
	int64_t until_ms = clock_mono_ms() + wait_ms;
	bool is_sent = true, is_fine = true, is_enough = false;

	for (;;) {
		if (carrier_is_busy(post->carrier)) {
			int64_t left_ms = until_ms - clock_mono_ms();
			struct errand *errand = carrier_take(post->carrier, left_ms > 0 ? left_ms : 0);

			if (!errand)
				return true;
			/* Rows come first: files of one look are enough for a turn. */
			is_enough = when == POST_MEANWHILE && errand->kind == ERRAND_LOOK;
			is_fine = take_result(post, errand, err);
		}
		if (!is_fine || !send_next(post, when, &is_sent, err))
			return false;
		if (!is_sent || is_enough)
			return true;
	}
}
