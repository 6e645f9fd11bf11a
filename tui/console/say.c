/* What the status row says, kept for :messages. */
#include "console/console_private.h"
#include "base/clean.h"

#include <stdarg.h>

static void message_add(struct console *console, bool is_error, const char *text)
{
	struct message *message = &console->messages[console->message_count++ % MESSAGES_KEPT];

	OWNED(text) clean = text_new(MESSAGE_BYTES * 8);

	clean_text(clean, span_of(text)); /* it may quote what a stranger wrote */
	message->us = console->now_us;
	message->is_error = is_error;
	snprintf(message->text, sizeof(message->text), "%s", clean->at);
	console->says = true;
	console->is_dirty = true;
}

void console_say(struct console *console, const char *format, ...)
{
	char text[MESSAGE_BYTES];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	message_add(console, false, text);
}

void console_say_read_only(struct console *console)
{
	console_say(console, "not done: this console was started with --readonly");
}

void console_complain(struct console *console, const struct error *err)
{
	char text[MESSAGE_BYTES];

	snprintf(text, sizeof(text), "%s: %.*s", err->code, MESSAGE_BYTES - 64, err->message);
	message_add(console, true, text);
}

size_t console_message_count(const struct console *console)
{
	return console->message_count < MESSAGES_KEPT ? console->message_count : MESSAGES_KEPT;
}

const char *console_message(const struct console *console, size_t newest, int64_t *out_us, bool *out_is_error)
{
	const struct message *message = &console->messages[(console->message_count - 1 - newest) % MESSAGES_KEPT];

	*out_us = message->us;
	*out_is_error = message->is_error;
	return message->text;
}
