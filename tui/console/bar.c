/* The bar of an engine that is away, and the times that it and the title write. */
#include "build_info.h"
#include "console/console_private.h"
#include "widget/chart.h"

#define LINE_BYTES 2048

void frame_clock(const struct console *console, int64_t us, bool with_seconds, struct text *out)
{
	time_t seconds = (time_t)(us / 1000000);
	char shown[32];
	struct tm tm;

	if (console->is_local)
		localtime_r(&seconds, &tm);
	else
		gmtime_r(&seconds, &tm);
	strftime(shown, sizeof(shown), with_seconds ? "%H:%M:%S" : "%H:%M", &tm);
	text_add(out, shown);
	strftime(shown, sizeof(shown), "%z", &tm);
	text_add_format(out, "%.3s", console->is_local ? shown : "Z");
}

/* Whole seconds: a bar counts on, and tenths would be false. */
void frame_age(int64_t ms, struct text *out)
{
	if (ms < 1000)
		text_add(out, "0s");
	else
		duration_text(ms / 1000 * 1000, out);
}

static void bar_why(struct console *console, const struct reach *reach, struct text *first, struct text *second)
{
	int64_t age = model_age_ms(console->model, console->now_ms);
	bool is_other = strcmp(reach->error->code, "protocol_differs") == 0;

	/* Which versions differ is a sentence and gets the second row. */
	text_add(first, is_other ? "ENGINE OF ANOTHER VERSION since " : "ENGINE NOT REACHABLE since ");
	frame_clock(console, console->blind_us, true, first);
	text_add_format(first, "%s%s. ", is_other ? "" : ": ", is_other ? "" : reach->error->message);
	if (is_other) {
		text_add(second, reach->error->message);
	} else if (age < 0) {
		text_add(second, "nothing is known yet. Replication may go on; only this look is blind.");
	} else {
		text_add(second, "all below is ");
		frame_age(age, second);
		text_add(second, " old. Replication may go on; only this look is blind.");
	}
}

/* It answers, and what it says can be read; what an act would mean to it is not sure. */
static void bar_other(const struct reach *reach, struct text *first, struct text *second)
{
	const struct greeting *engine = reach->greeting;

	text_add(first, "ENGINE OF ANOTHER VERSION: looking works, acts are off.");
	text_add_format(second, "engine %s (protocol %lld), console %s (%d). 'weir engine stop', then 'weir'",
	                *engine->version ? engine->version : "?", (long long)engine->protocol, WEIR_VERSION, PROTOCOL_VERSION);
}

/* Two rows under the title, on every screen. */
void bar_draw(struct console *console, struct area area)
{
	struct reach reach = model_reach(console->model);
	int64_t wait_s = (reach.next_ms - console->now_ms + 999) / 1000;
	OWNED(text) second = text_new(LINE_BYTES);
	OWNED(text) first = text_new(LINE_BYTES);

	if (reach.is_other) {
		bar_other(&reach, first, second);
	} else {
		bar_why(console, &reach, first, second);
		text_add_format(first, "Try %d in %d s.", reach.tries + 1, wait_s > 0 ? (int)wait_s : 0);
	}
	draw_field(area, 0, 1, area.cols - 1, -1, ROLE_error, text_span(first));
	draw_field(area, 1, 1, area.cols - 1, -1, ROLE_warn, text_span(second));
}
