/* Times as the screens write them, and members of answers. */
#include "view/view.h"
#include "widget/chart.h"

#include <stdlib.h>

#define DAY_S 86400

const char *member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

int64_t member_int(const json_t *object, const char *name)
{
	const json_t *member = json_object_get(object, name);

	return json_is_real(member) ? (int64_t)json_real_value(member) : json_integer_value(member);
}

double member_number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

bool member_bool(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

int64_t time_us_of(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int64_t us = 0, unit = 100000;

	if (!rest)
		return -1;
	if (*rest == '.') {
		for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
			us += (*rest - '0') * unit;
	}
	return (int64_t)timegm(&tm) * 1000000 + us;
}

static void broken_down(const struct console *console, int64_t us, struct tm *out)
{
	time_t seconds = (time_t)(us / 1000000);

	if (console_is_local(console))
		localtime_r(&seconds, out);
	else
		gmtime_r(&seconds, out);
}

void console_time(const struct console *console, const char *text, bool with_seconds, struct text *out)
{
	int64_t us = time_us_of(text), age_s = (console_now_us(console) - us) / 1000000;
	char shown[32];
	struct tm tm;

	if (us < 0) {
		text_add(out, "-");
		return;
	}
	broken_down(console, us, &tm);
	if (age_s < DAY_S)
		strftime(shown, sizeof(shown), with_seconds ? "%H:%M:%S" : "%H:%M", &tm);
	else
		strftime(shown, sizeof(shown), age_s < 7 * DAY_S ? "%a" : "%e %b", &tm);
	text_add(out, *shown == ' ' ? shown + 1 : shown);
}

void console_moment(const struct console *console, const char *text, struct text *out)
{
	int64_t us = time_us_of(text);
	char shown[32];
	struct tm tm;

	if (us < 0) {
		text_add(out, "-");
		return;
	}
	broken_down(console, us, &tm);
	strftime(shown, sizeof(shown), "%Y-%m-%d %H:%M:%S", &tm);
	text_add_format(out, "%s.%03d", shown, (int)(us / 1000 % 1000));
}

void console_ago(const struct console *console, const char *text, struct text *out)
{
	int64_t us = time_us_of(text);

	if (us < 0)
		return;
	us = console_now_us(console) - us;
	duration_text(us > 0 ? us / 1000 : 0, out);
	text_add(out, " ago");
}

enum role state_role(const char *state)
{
	static const struct {
		const char *state;
		enum role role;
	} table[] = { { "ok", ROLE_state_ok }, { "stopped", ROLE_state_off }, { "needs you", ROLE_state_needs_you } };

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(state, table[i].state) == 0)
			return table[i].role;
	}
	return *state ? ROLE_state_watch : ROLE_text;
}

int state_rank(const char *state)
{
	static const char *const words[STATE_RANKS] = { "needs you",   "retrying", "waiting", "catching up",
		                                        "paused", "draining", "ok",      "stopped" };
	int rank = 0;

	while (rank < STATE_RANKS && strcmp(state, words[rank]) != 0)
		rank++;
	return rank < STATE_RANKS ? rank : STATE_RANKS - 3; /* before what is ok, whatever a newer engine calls it */
}

const char *state_column(const char *state)
{
	return strcmp(state, "needs you") == 0 ? "NEEDS YOU" : state;
}
