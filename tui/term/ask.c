/*
 * What the terminal is asked once, at the start: whether it shows a frame at once
 * (synchronized output, mode 2026, by DECRQM), and where its cursor stands, of which
 * only the time that the answer takes is of interest. Answers come as keys do; a
 * terminal that gives none is one that can nothing and is near.
 */
#include "term/screen_private.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#define WHERE_IT_STANDS "\033[6n"
/* An answer that is on its way longer than this when the console ends is not waited for. */
#define ANSWER_MS 1000
#define TIMES_ASKED_MOST 3

static bool has_capability(const char *name, const char *is)
{
	const char *found = tigetstr((char *)name);

	return found && found != (char *)-1 && strcmp(found, is) == 0;
}

static void ask_where(struct terminal *term, int64_t now_ms)
{
	static const char where[] = WHERE_IT_STANDS;

	bytes_out(STDOUT_FILENO, where, sizeof(where) - 1);
	term->asked_ms = now_ms;
	term->times_asked++;
}

/* Old terminals print the tail of a question that they do not know: they are asked nothing. */
void ask_begin(struct terminal *term)
{
	static const char frames[] = "\033[?2026$p";

	term->round_trip_ms = -1;
	if (terminal_is_modern(term->name))
		bytes_out(STDOUT_FILENO, frames, sizeof(frames) - 1);
	if (!has_capability("u7", WHERE_IT_STANDS))
		return;
	ask_where(term, clock_mono_ms());
}

/* A busy machine is late too, but hardly each time: the quickest of some answers counts. */
static void where_heard(struct terminal *term, int64_t now_ms)
{
	int trip_ms = (int)(now_ms - term->asked_ms);

	if (term->times_asked == 1 || trip_ms < term->quickest_ms)
		term->quickest_ms = trip_ms;
	if (term->quickest_ms > TERM_FAR_MS && term->times_asked < TIMES_ASKED_MOST)
		ask_where(term, now_ms);
	else
		term->round_trip_ms = term->quickest_ms;
}

/* "?2026;2$y": 1 and 2 are on and off; 0 is not known, 3 and 4 cannot be changed. */
void term_heard(struct terminal *term, struct span report, int64_t now_ms)
{
	static const char frames[] = "?2026;";

	if (report.len > sizeof(frames) && memcmp(report.at, frames, sizeof(frames) - 1) == 0)
		term->has_frames = report.at[sizeof(frames) - 1] == '1' || report.at[sizeof(frames) - 1] == '2';
	else if (report.len && report.at[report.len - 1] == 'R' && term->asked_ms && term->round_trip_ms < 0)
		where_heard(term, now_ms);
}

int term_round_trip_ms(const struct terminal *term)
{
	return term->round_trip_ms;
}

bool term_owes_answer(const struct terminal *term, int64_t now_ms)
{
	return term->asked_ms && term->round_trip_ms < 0 && now_ms < term->asked_ms + ANSWER_MS;
}
