/*
 * A small reader of escape sequences: see stream.h. Sequences may be cut anywhere between two reads.
 */
#include "screen/stream.h"

#include <ctype.h>

#define SYNC_NUMBER "7717;"

static void keep(struct stream *stream, const char *bytes, size_t len)
{
	if (stream->len + len > STREAM_BYTES_MAX) {
		size_t half = stream->len / 2;
		memmove(stream->bytes, stream->bytes + half, stream->len - half);
		stream->len -= half;
	}
	if (stream->len + len > stream->room) {
		stream->room = (stream->len + len) * 2;
		stream->bytes = realloc(stream->bytes, stream->room);
		if (!stream->bytes)
			abort();
	}
	memcpy(stream->bytes + stream->len, bytes, len);
	stream->len += len;
	stream->total += len;
}

static void mode_set(struct stream *stream, int mode, bool is_on)
{
	int at = 0;

	while (at < stream->mode_count && stream->modes[at] != mode)
		at++;
	if (is_on && at == stream->mode_count && at < STREAM_MODES_MAX)
		stream->modes[stream->mode_count++] = mode;
	if (!is_on && at < stream->mode_count)
		memmove(stream->modes + at, stream->modes + at + 1, (size_t)(--stream->mode_count - at) * sizeof(int));
}

/* "?1049;2004" and its last letter. */
static void csi_whole(struct stream *stream, char last)
{
	char *at = stream->string;

	if (*at != '?' || (last != 'h' && last != 'l'))
		return;
	do {
		mode_set(stream, (int)strtol(at + 1, &at, 10), last == 'h');
	} while (*at == ';');
}

static void osc_whole(struct stream *stream)
{
	size_t number = strlen(SYNC_NUMBER);

	if (strncmp(stream->string, SYNC_NUMBER, number) == 0)
		memcpy(stream->token, stream->string + number, (size_t)stream->string_len - number + 1);
}

static void string_begin(struct stream *stream, enum stream_state state)
{
	stream->state = state;
	stream->string_len = 0;
	stream->string[0] = '\0';
}

static void string_add(struct stream *stream, char c)
{
	if (stream->string_len == STREAM_STRING_MAX)
		return;
	stream->string[stream->string_len++] = c;
	stream->string[stream->string_len] = '\0';
}

static void osc_char(struct stream *stream, char c)
{
	if (c == '\a') {
		osc_whole(stream);
		stream->state = STREAM_TEXT;
	} else if (c == '\033') {
		stream->state = STREAM_OSC_ESCAPE;
	} else if (stream->is_linux && stream->string_len == 0 && c == 'R') {
		stream->state = STREAM_TEXT;
	} else if (stream->is_linux && stream->string_len == 0 && c == 'P') {
		string_begin(stream, STREAM_PALETTE);
	} else {
		string_add(stream, c);
	}
}

static void csi_char(struct stream *stream, char c)
{
	if (c >= '@' && c <= '~') {
		csi_whole(stream, c);
		stream->state = STREAM_TEXT;
	} else {
		string_add(stream, c);
	}
}

static void next_state(struct stream *stream, char c)
{
	switch (stream->state) {
	case STREAM_TEXT:
		if (c == '\033')
			stream->state = STREAM_ESCAPE;
		break;
	case STREAM_ESCAPE:
		if (c == '[')
			string_begin(stream, STREAM_CSI);
		else if (c == ']')
			string_begin(stream, STREAM_OSC);
		else if (c != '\033')
			stream->state = STREAM_TEXT;
		break;
	case STREAM_CSI:
		csi_char(stream, c);
		break;
	case STREAM_OSC:
		osc_char(stream, c);
		break;
	case STREAM_OSC_ESCAPE:
		if (c == '\\')
			osc_whole(stream);
		stream->state = STREAM_TEXT;
		break;
	case STREAM_PALETTE:
		string_add(stream, c);
		if (stream->string_len == 7 || !isxdigit((unsigned char)c))
			stream->state = STREAM_TEXT;
		break;
	}
}

/* One byte of what a terminal with other tables of widths shows, into `out`; gives how many. */
static size_t other_width(struct stream *stream, char c, char *out)
{
	static const char wide[] = "\xe4\xb8\xad";
	unsigned char byte = (unsigned char)c;

	if (byte == 0xe0) {
		stream->left_of_character = 2;
		*out = wide[0];
	} else if (byte >= 0xf0) {
		stream->left_of_character = -3;
		*out = '?';
	} else if (stream->left_of_character > 0) {
		*out = wide[3 - stream->left_of_character--];
	} else if (stream->left_of_character < 0) {
		stream->left_of_character++;
		return 0;
	} else {
		*out = c;
	}
	return 1;
}

size_t stream_read(struct stream *stream, const char *bytes, size_t len, char *out)
{
	size_t count = 0;

	keep(stream, bytes, len);
	for (size_t i = 0; i < len; i++) {
		enum stream_state before = stream->state;
		next_state(stream, bytes[i]);
		/* The Linux console's two sequences without an end would make libvterm wait for one: its ESC and ] have
		 * been passed on already, so a BEL in place of the rest ends an empty string that it does not know. */
		bool is_palette = stream->state == STREAM_PALETTE || before == STREAM_PALETTE;
		if (is_palette || (before == STREAM_OSC && stream->is_linux && bytes[i] == 'R' && stream->state == STREAM_TEXT))
			out[count++] = '\a';
		else if (stream->is_one_column && (unsigned char)bytes[i] >= 0x80)
			count += (unsigned char)bytes[i] >= 0xc0 ? (out[count] = '?', 1) : 0;
		else if (stream->has_other_widths)
			count += other_width(stream, bytes[i], out + count);
		else
			out[count++] = bytes[i];
	}
	return count;
}

void stream_end(struct stream *stream)
{
	free(stream->bytes);
	*stream = (struct stream){ 0 };
}
