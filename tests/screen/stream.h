/*
 * What a terminal program has sent: all bytes of it, the private modes that are on, and the last token of a sync
 * (ESC ] 7717 ; TOKEN BEL). It is read beside libvterm, which keeps neither.
 */
#ifndef WEIR_TESTS_SCREEN_STREAM_H
#define WEIR_TESTS_SCREEN_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#define STREAM_BYTES_MAX (16u << 20) /* of what is kept: the oldest half goes when it is full */
#define STREAM_MODES_MAX 32
#define STREAM_STRING_MAX 64 /* of a sequence; longer ones are passed over */

enum stream_state { STREAM_TEXT, STREAM_ESCAPE, STREAM_CSI, STREAM_OSC, STREAM_OSC_ESCAPE, STREAM_PALETTE };

struct stream {
	char *bytes;
	size_t len, room;
	size_t total; /* since the start, also what is no longer kept */
	int modes[STREAM_MODES_MAX]; /* numbers of ESC [ ? N h, in the order they came on */
	int mode_count;
	char token[STREAM_STRING_MAX + 1];
	bool is_linux; /* ESC ] R and ESC ] P with seven digits are whole, and not the start of a string */
	bool has_other_widths; /* U+0800 to U+0FFF come as two columns, all beyond U+FFFF as one: other tables than the program's */
	int left_of_character;
	bool is_one_column; /* libvterm falls over a wide character where there is no second column: all but ASCII is '?' then */
	enum stream_state state;
	char string[STREAM_STRING_MAX + 1];
	int string_len;
};

/* Reads `len` bytes and puts those that libvterm shall see into `out` (at least as large); gives their number. */
size_t stream_read(struct stream *stream, const char *bytes, size_t len, char *out);
void stream_end(struct stream *stream);

#endif
