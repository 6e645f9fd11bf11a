/* Publish times: RFC 3339 text to microseconds. */
#include "transform/debezium_private.h"

static bool digits_take(struct span *rest, size_t count, int64_t *out)
{
	int64_t number = 0;

	if (rest->len < count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (rest->at[i] < '0' || rest->at[i] > '9')
			return false;
		number = number * 10 + rest->at[i] - '0';
	}
	*rest = span_make(rest->at + count, rest->len - count);
	*out = number;
	return true;
}

static bool char_take(struct span *rest, const char *allowed)
{
	if (!rest->len || !strchr(allowed, *rest->at) || !*rest->at)
		return false;
	*rest = span_make(rest->at + 1, rest->len - 1);
	return true;
}

/* Days since 1970-01-01; years begin in March, so that the leap day is the last. */
static int64_t civil_days(int64_t year, int64_t month, int64_t day)
{
	year -= month <= 2;
	int64_t era = year / 400, of_era = year - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t fraction_take(struct span *rest)
{
	int64_t us = 0, scale = 100000, digit;

	if (!char_take(rest, "."))
		return 0;
	for (; digits_take(rest, 1, &digit); scale /= 10)
		us += digit * scale;
	return us;
}

/* Minutes east of UTC; a time without offset is taken as UTC. */
static bool offset_take(struct span *rest, int64_t *out)
{
	int64_t hours, minutes;

	*out = 0;
	if (!rest->len || char_take(rest, "Zz"))
		return true;
	int64_t sign = *rest->at == '-' ? -1 : 1;

	if (!char_take(rest, "+-") || !digits_take(rest, 2, &hours))
		return false;
	char_take(rest, ":");
	if (!digits_take(rest, 2, &minutes))
		return false;
	*out = sign * (hours * 60 + minutes);
	return true;
}

bool publish_parse(struct span text, int64_t *out_us)
{
	int64_t year, month, day, hour, minute, second, offset;

	if (!digits_take(&text, 4, &year) || !char_take(&text, "-") || !digits_take(&text, 2, &month) ||
	    !char_take(&text, "-") || !digits_take(&text, 2, &day) || !char_take(&text, "Tt ") ||
	    !digits_take(&text, 2, &hour) || !char_take(&text, ":") || !digits_take(&text, 2, &minute) ||
	    !char_take(&text, ":") || !digits_take(&text, 2, &second))
		return false;
	if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60 || year < 1)
		return false;
	int64_t us = fraction_take(&text);

	if (!offset_take(&text, &offset) || text.len)
		return false;
	*out_us = ((civil_days(year, month, day) * 24 + hour) * 60 + minute - offset) * 60000000 + second * 1000000 + us;
	return true;
}

bool message_published(const struct message *message, int64_t *out_us)
{
	if (!message->publish_us)
		return message->publish.len && publish_parse(message->publish, out_us);
	*out_us = message->publish_us;
	return true;
}
