/*
 * What a session is sent. Two may want to write: a call's thread, which waits for
 * a slow reader, and the control thread, which never waits. One writes at a time
 * and always whole lines.
 */
#ifndef WEIR_ENGINE_OUTBOX_PRIVATE_H
#define WEIR_ENGINE_OUTBOX_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTBOX_BYTES_MAX (1u << 20)

struct outbox {
	int fd;                      /* lent */
	size_t limit;
	pthread_mutex_t writer;      /* whoever may wait, one after the other */
	pthread_mutex_t lock;        /* bytes and is_taken; held for no longer than a copy */
	char *bytes;                 /* whole lines; of the first a part may be gone */
	size_t used, room;
	bool is_taken;               /* a call's thread writes */
	atomic_bool is_broken;
	atomic_llong stalled_ms;     /* since when the other end takes nothing; 0: it reads */
};

void outbox_open(struct outbox *outbox, int fd, size_t limit);
void outbox_close(struct outbox *outbox);

/* Writes what was posted, then the line; waits as long as it takes. False: nobody reads any more. */
bool outbox_write(struct outbox *outbox, const char *line, size_t len);
/* Never waits: what cannot go out now is kept. False: it would be over the limit, and nothing was taken. */
bool outbox_post(struct outbox *outbox, const char *line, size_t len);
/* Goes on with what is kept, as far as it goes without waiting. */
void outbox_flush(struct outbox *outbox);
/* Bytes that are kept; `wants_room`: and only the socket has no room for them. */
size_t outbox_pending(struct outbox *outbox);
bool outbox_wants_room(struct outbox *outbox);
/* Nobody reads any more: who waits in outbox_write goes on with false. */
void outbox_break(struct outbox *outbox);

#endif
