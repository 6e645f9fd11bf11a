/*
 * A bounded queue of pointers between two threads. What is posted changes hands:
 * the poster must not look at it again.
 */
#ifndef WEIR_BASE_MAILBOX_H
#define WEIR_BASE_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mailbox;

enum mail { MAIL_TAKEN, MAIL_TIMEOUT, MAIL_CLOSED };

struct mailbox *mailbox_new(size_t capacity);
void mailbox_free(struct mailbox *box); /* must be empty or its items are lost: take first */

/* Waits for room up to `wait_ms` (-1: for ever). MAIL_TAKEN: the box has it. */
enum mail mailbox_post(struct mailbox *box, void *item, int64_t wait_ms);
/* In front of all that is inside: taken next. */
enum mail mailbox_post_first(struct mailbox *box, void *item, int64_t wait_ms);

/* After mailbox_close what is inside can still be taken, then MAIL_CLOSED. */
enum mail mailbox_take(struct mailbox *box, void **out_item, int64_t wait_ms);
void mailbox_close(struct mailbox *box);
size_t mailbox_count(struct mailbox *box);

#endif
