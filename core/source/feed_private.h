/*
 * The rooms of the feed: window (bytes that are read but not pulled), identity
 * (is it still the same file?), big line (too long to hold), envelope.c (a line
 * becomes a message). feed.c holds them together.
 */
#ifndef WEIR_SOURCE_FEED_PRIVATE_H
#define WEIR_SOURCE_FEED_PRIVATE_H

#include "source/source.h"

#include "source/envelope_private.h"

#include <sys/types.h>

#define FEED_BLOCK_BYTES (256u << 10) /* below a block of the batch's arena, which is 1 MiB; larger gains nothing */
#define FEED_BIG_HEAD_BYTES (64u << 10)
#define FEED_POLL_MS 50
#define FEED_POLL_AT_REST_MS 1000
#define FEED_LOOKS_AWAKE 40           /* in vain, before it is at rest: two seconds */

/*
 * Bytes that are read but not pulled. They lie in the arena of the batch that is
 * being filled (a line of a batch must not be copied again), or, between two
 * batches and while a long line is gathered, in a piece of our own: the arena
 * leaves with its batch.
 */
struct window {
	int fd;
	size_t block_bytes;
	char *at;            /* the unpulled bytes */
	size_t len;
	size_t seen;         /* so many of them are known to hold no newline */
	struct arena *arena; /* owns them; NULL: they lie in `carry` */
	char *carry;
	size_t carry_room;
};

void window_clear(struct window *w);
/* Moves the unpulled bytes out of the arena, which is about to leave. */
void window_stash(struct window *w);
/* The next line without its newline, in `arena`; false: no newline yet. */
bool window_line(struct window *w, struct arena *arena, struct span *out_line);
/* All unpulled bytes, in `arena`: a last line without newline. */
struct span window_rest(struct window *w, struct arena *arena);
void window_drop(struct window *w, size_t bytes);
/* Reads up to `want` bytes more; NULL for `arena`: do not fill one, these bytes go elsewhere. As read(2). */
ssize_t window_read(struct window *w, struct arena *arena, size_t want);

/* A line that is too long to hold, on its way into a file named by its hash. */
struct big_line;

struct big_line *big_line_open(const char *folder, struct error *err);
bool big_line_add(struct big_line *big, struct span piece, struct error *err);
/* Under its final name and durable; head and hash go into the message. */
bool big_line_keep(struct big_line *big, struct arena *arena, struct message *message, struct error *err);
/* Do its brackets balance? All that can be asked of a last line without newline that is never held. */
bool big_line_is_whole(struct big_line *big);
uint64_t big_line_size(const struct big_line *big);
void big_line_free(struct big_line *big); /* forgets a line that was not kept */

#define FEED_IDENTITY_BYTES 256

struct feed {
	struct source source;
	char *path;
	char *big_folder;
	int looks_at_rest;    /* in vain, one after another; not counted on beyond FEED_LOOKS_AWAKE */
	bool is_file;         /* has positions; else stdin, a FIFO: once read, gone */
	bool is_followed;
	bool is_truncated;    /* the last line was left unread */
	bool is_noted;
	bool is_mid_line;     /* the next byte goes on a line that was already pulled without its newline */
	uint64_t max_record_bytes;
	struct window window;
	uint64_t read_offset; /* of the next byte to read */
	uint64_t offset, line; /* behind the last pulled line; lines pulled */
	size_t tried;         /* length of the unfinished last line when it was last tried as JSON */
	char identity[FEED_IDENTITY_BYTES];
	struct envelope_reader *envelope; /* NULL: to be made by the next pull */
	struct big_line *big;
	uint64_t big_bytes;   /* of the feed that went into `big` */
	bool big_has_cr;      /* a CR is held back: part of the line, or of its end? */
	struct error failure; /* waits until the batch before it has left */
	bool is_lost;         /* a stream that failed in the middle of a line: it cannot be read again */
};

/* Opens path (or stdin), finds out what it is and where to begin. */
bool feed_attach(struct feed *feed, const struct source_position *from, struct error *err);

enum feed_more { FEED_MORE, FEED_NOTHING, FEED_END, FEED_FAILED };
/* Reads some more bytes into the window, waits for them up to until_ms. */
enum feed_more feed_read(struct feed *feed, struct arena *arena, int64_t until_ms, struct error *err);

/* feed_long.c: goes on with a line that is too long, or begins one. */
enum pulled feed_pull_big(struct feed *feed, struct batch *into, int64_t until_ms, struct error *err);
struct span feed_without_cr(struct span line);
/* Behind a line's bytes. Its number is counted once, also when its newline came later than itself. */
void feed_advance(struct feed *feed, uint64_t bytes, bool has_newline);

/* Would feed_read of a followed file say anything but FEED_NOTHING? */
bool feed_file_has_news(const struct feed *feed);

/* For tests: every line crosses the edge of a block when blocks are small. */
void feed_set_block(struct source *source, size_t block_bytes);

#endif
