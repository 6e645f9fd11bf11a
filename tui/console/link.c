/*
 * How far away the terminal is, and what of the settings a console takes: the wait
 * behind an Esc, how often numbers come, whether charts sweep.
 */
#include "console/console_private.h"
#include "options/settings.h"
#include "widget/chart.h"

#define ESC_MS_FAR 100
#define FRAME_MS 100       /* at least between two frames that no key asked for; */
#define FRAME_FAR_MS 2000  /* and of a terminal that is far away, a while after the last key */

/* Who may not read the settings' file learns the engine's name with its greeting; his own wishes are flags. */
void link_settings(struct console *console)
{
	struct option_problems warnings = { 0 };
	struct settings settings = { 0 };
	struct error ignored = { 0 };
	char host[SETTING_NAME_BYTES];
	bool is_read = settings_load(console->home, &settings, &warnings, &ignored);
	int esc_ms = console->wishes->escape_ms ? console->wishes->escape_ms : settings.escape_ms;

	snprintf(console->name, sizeof(console->name), "%s", settings_engine_name(&settings, host));
	console->has_esc_ms = esc_ms > 0;
	if (console->has_esc_ms)
		input_set_esc_ms(console->input, esc_ms);
	option_problems_free(&warnings);
	if (is_read)
		settings_release(&settings);
}

/* Parts of a key come further apart on a link that is far: the wait for what follows an Esc grows with it, within bounds
 * that a hand does not feel. */
void console_heard(struct console *console, struct span report)
{
	int before, trip_ms, esc_ms;

	if (!console->term)
		return;
	before = term_round_trip_ms(console->term);
	term_heard(console->term, report, console->now_ms);
	trip_ms = term_round_trip_ms(console->term);
	if (trip_ms == before)
		return;
	console->is_far = trip_ms > TERM_FAR_MS;
	if (console->is_far && !console->has_charts)
		charts_set_sweep(true);
	if (console->is_far)
		console_say(console, "the terminal answers after %d ms: numbers come every 2 s, charts sweep (:charts scroll)", trip_ms);
	esc_ms = trip_ms / 4;
	if (!console->has_esc_ms)
		input_set_esc_ms(console->input, esc_ms < INPUT_ESC_MS ? INPUT_ESC_MS : esc_ms > ESC_MS_FAR ? ESC_MS_FAR : esc_ms);
}

/* A key is answered at once, and so is what it has asked for; other numbers follow as the link bears them. */
int64_t link_frame_ms(const struct console *console)
{
	bool is_late = console->is_far && console->now_ms >= console->keyed_ms + FRAME_FAR_MS;

	return console->drawn_ms + (is_late ? FRAME_FAR_MS : FRAME_MS);
}
