/* A line of a feed becomes a message: envelope or bare body. */
#ifndef WEIR_SOURCE_ENVELOPE_PRIVATE_H
#define WEIR_SOURCE_ENVELOPE_PRIVATE_H

#include "record/batch.h"

enum envelope_member {
	ENVELOPE_ID,
	ENVELOPE_KEY,
	ENVELOPE_ATTRS,
	ENVELOPE_PUBLISH,
	ENVELOPE_DATA,
	ENVELOPE_DATA_B64,
	ENVELOPE_MEMBERS,
	ENVELOPE_UNKNOWN = ENVELOPE_MEMBERS
};

/* The text of one member's value. at == NULL: not there. */
struct envelope_value {
	struct span text;
	bool is_plain; /* a string of ASCII without escapes, or {}: needs no parser */
	bool has_stem; /* the inside of the string begins with the mold's stem */
};

/* What is known of a line: its envelope, or that it has none. */
struct envelope {
	struct envelope_value values[ENVELOPE_MEMBERS];
	bool has_tokens; /* the reader's `body` doc holds the tokens of data */
};

struct envelope_reader;

struct envelope_reader *envelope_reader_new(void);
void envelope_reader_free(struct envelope_reader *reader);

/* Fills body, id, key, attrs, publish and json of `message` from `line` (without its end), both in the batch's arena.
 * May refuse it (bad_base64, attributes_too_large). */
void envelope_read(struct envelope_reader *reader, struct batch *batch, struct message *message, struct span line);

/* Length of the line that `text` begins with, without its newline, if it is as those before it and not longer than `most`:
 * then its end shows when it is read, and envelope_read, which is to come next with this line, has little left to do. 0: the
 * newline must be looked for. */
size_t envelope_front(struct envelope_reader *reader, struct span text, uint64_t most);

/* Exactly one JSON value? For a last line without newline. */
bool envelope_is_whole(struct envelope_reader *reader, struct span line);

/* Which member a name is. */
enum envelope_member envelope_member_find(struct span name);

/*
 * The light scan (envelope_scan.c): looks only at what stands in front of the
 * body, so that the body, nearly all of a line, is tokenised once and by itself.
 */
enum scanned {
	SCANNED_BARE, /* certainly no envelope */
	SCANNED_DATA, /* data is everything up to the closing brace, if that is one JSON value */
	SCANNED_B64,  /* an envelope with data_b64, if each value is JSON */
	SCANNED_ODD,  /* only a parser can tell */
};
enum scanned envelope_scan(struct span line, struct envelope *out);
/* The body is all that is left of the line but the closing brace, if data is the last member. */
enum scanned envelope_scan_data(struct span rest, struct envelope_value *out);

/*
 * What stood around the values of the last line with a body (envelope_mold.c): a
 * line that fits needs no scan.
 */
#define STEM_BYTES 512
#define MOLD_BYTES 255 /* the lengths of its pieces are bytes */

struct mold {
	struct mold_piece {
		uint8_t len;     /* of the text in front of the value, with the quote of a string */
		uint8_t member;
		bool is_text;    /* else {}, or the body */
	} pieces[ENVELOPE_MEMBERS];
	size_t count;            /* 0: there is none */
	char text[MOLD_BYTES];
	struct stem {
		char raw[STEM_BYTES], plain[STEM_BYTES]; /* as it stands, and without escapes */
		size_t raw_len, plain_len;
		unsigned misses;
	} stem; /* what keys begin with: JSON in JSON, and maybe a schema block of its own */
};

/* True: `out` is what envelope_scan would find, and SCANNED_DATA what it would say. False: `out` means nothing. */
bool mold_read(struct mold *mold, struct span line, struct envelope *out);
/* The same up to the body, which *out_rest begins with. `line` may go on with other lines: none of what is read has a line
 * break. */
bool mold_read_head(struct mold *mold, struct span line, struct envelope *out, struct span *out_rest);
/* After SCANNED_DATA. */
void mold_learn(struct mold *mold, struct span line, const struct envelope *envelope);

/*
 * Schema blocks that were checked before (envelope_block.c): a body that begins
 * with one need not have its 4 KB looked at again.
 */
#define ENVELOPE_BLOCKS 32
#define ENVELOPE_BLOCK_MAX (64u << 10)

struct block_list {
	struct block {
		uint64_t number; /* no other block of this process ever had it */
		char *at;
		size_t len;
	} blocks[ENVELOPE_BLOCKS];
	size_t count, oldest, newest;
};

/* context: the list; *out_id: the struct block. */
size_t block_list_recognise(void *context, struct span rest, void **out_id);
void block_list_learn(struct block_list *list, struct span block);
void block_list_clear(struct block_list *list);

struct envelope_reader { /* for envelope*.c only */
	struct json_doc body;  /* lent to the message */
	struct json_doc other; /* whole lines, single members */
	struct block_list blocks;
	struct json_trail *trail;
	struct mold mold;
	struct envelope front; /* of the line that envelope_front has read */
	const char *front_at;  /* that line, or NULL */
	unsigned front_misses; /* one after another */
	unsigned front_rests;  /* lines until the next is tried */
};

/*
 * The values of an envelope (envelope_values.c). False: not JSON after all, or not of the kind that it must be.
 */

/* Everything but the body; *out_fit: the attributes are within their limits. */
bool envelope_read_head(struct envelope_reader *reader, struct arena *arena, const struct envelope *envelope,
                        struct message *message, bool *out_fit);
/* Also false if it is JSON but no base64: then *out_bad. */
bool envelope_read_body(struct envelope_reader *reader, struct arena *arena, const struct envelope *envelope,
                        struct message *message, bool *out_bad);
void envelope_refuse_attributes(struct batch *batch, struct message *message);
void envelope_refuse_base64(struct batch *batch, struct message *message);

#endif
