/*
 * Numbers of the JSON reader: the grammar while reading, the value only when a
 * column's type asks for it.
 */
#include "record/json_private.h"

static const char *digits_end(const char *at, const char *end)
{
	for (; end - at >= JSON_BLOCK; at += JSON_BLOCK) {
		json_mask mask = json_block_no_digit(at);

		if (mask)
			return at + json_mask_first(mask);
	}
	while (at < end && json_is_digit(*at))
		at++;
	return at;
}

/* One digit or more. */
static struct json_end digits(const char *at, const char *end)
{
	const char *behind = digits_end(at, end);

	return behind == at ? json_unexpected(at, end) : json_ended(behind, 0);
}

static struct json_end whole_end(const char *at, const char *end)
{
	if (at < end && *at == '-')
		at++;
	if (end - at >= 2 && at[0] == '0' && json_is_digit(at[1]))
		return json_broken(at + 1, JSON_SYNTAX);
	return digits(at, end);
}

static struct json_end exponent_end(const char *at, const char *end)
{
	if (at < end && (*at == '+' || *at == '-'))
		at++;
	return digits(at, end);
}

struct json_end json_number_end(const char *at, const char *end)
{
	struct json_end number = whole_end(at, end);
	uint32_t flags = 0;

	if (number.fault == JSON_FINE && number.at < end && *number.at == '.') {
		flags = JSON_IS_FRACTION;
		number = digits(number.at + 1, end);
	}
	if (number.fault == JSON_FINE && number.at < end && (*number.at | 0x20) == 'e') {
		flags = JSON_IS_FRACTION;
		number = exponent_end(number.at + 1, end);
	}
	number.flags = flags;
	return number;
}

static bool all_digits(struct span text)
{
	unsigned odd = 0;

	for (size_t i = 0; i < text.len; i++)
		odd |= (unsigned char)(text.at[i] - '0') > 9;
	return !odd;
}

/* Few digits cannot overflow, and go by eight. */
bool span_uint64(struct span text, uint64_t *out)
{
	uint64_t value = 0;

	if (text.len && text.len <= JSON_DIGITS_SURE) {
		if (!all_digits(text))
			return false;
		*out = json_digits(text.at, text.len);
		return true;
	}
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)(text.at[i] - '0');

		if (digit > 9 || value > UINT64_MAX / 10 || value * 10 > UINT64_MAX - digit)
			return false;
		value = value * 10 + digit;
	}
	if (text.len == 0)
		return false;
	*out = value;
	return true;
}

bool span_int64(struct span text, int64_t *out)
{
	bool is_negative = text.len > 0 && text.at[0] == '-';
	struct span whole = { text.at + is_negative, text.len - is_negative };
	uint64_t value;

	if ((whole.len > 1 && whole.at[0] == '0') || !span_uint64(whole, &value))
		return false;
	if (value > (uint64_t)INT64_MAX + is_negative)
		return false;
	*out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

bool json_int64(const struct json_doc *doc, uint32_t token, int64_t *out)
{
	const struct json_token *t = &doc->tokens[token];

	if (t->kind != JSON_NUMBER || t->flags & JSON_IS_FRACTION)
		return false;
	struct span text = json_raw(doc, token);
	bool is_negative = *text.at == '-';

	if (text.len - is_negative > JSON_DIGITS_SURE)
		return span_int64(text, out);
	int64_t value = (int64_t)json_digits(text.at + is_negative, text.len - is_negative);

	*out = is_negative ? -value : value;
	return true;
}
