/* The queue between two threads: order, closing, waiting. */
#include "base/clock.h"
#include "base/mailbox.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ITEMS 20000

static void mail_comes_in_order_and_waits_for_room(void **state)
{
	struct mailbox *box = mailbox_new(2);
	int items[3];
	void *got = NULL;

	(void)state;
	assert_int_equal(mailbox_take(box, &got, 0), MAIL_TIMEOUT);
	assert_int_equal(mailbox_post(box, &items[0], 0), MAIL_TAKEN);
	assert_int_equal(mailbox_post(box, &items[1], 0), MAIL_TAKEN);
	assert_int_equal(mailbox_post(box, &items[2], 0), MAIL_TIMEOUT);
	assert_int_equal(mailbox_count(box), 2);
	assert_int_equal(mailbox_take(box, &got, 0), MAIL_TAKEN);
	assert_ptr_equal(got, &items[0]);
	assert_int_equal(mailbox_post(box, &items[2], 0), MAIL_TAKEN);
	assert_int_equal(mailbox_take(box, &got, -1), MAIL_TAKEN);
	assert_ptr_equal(got, &items[1]);
	assert_int_equal(mailbox_take(box, &got, -1), MAIL_TAKEN);
	assert_ptr_equal(got, &items[2]);
	mailbox_free(box);
}

static void mail_may_be_put_in_front(void **state)
{
	struct mailbox *box = mailbox_new(3);
	int items[4];
	void *got = NULL;

	(void)state;
	/* Behind a take the ring begins elsewhere. */
	mailbox_post(box, &items[0], 0);
	for (int round = 0; round < 5; round++) {
		assert_int_equal(mailbox_post(box, &items[1], 0), MAIL_TAKEN);
		assert_int_equal(mailbox_post_first(box, &items[2], 0), MAIL_TAKEN);
		assert_int_equal(mailbox_post_first(box, &items[3], 0), MAIL_TIMEOUT);
		mailbox_take(box, &got, 0);
		assert_ptr_equal(got, &items[2]);
		mailbox_take(box, &got, 0);
		assert_ptr_equal(got, round ? &items[1] : &items[0]);
	}
	mailbox_close(box);
	assert_int_equal(mailbox_post_first(box, &items[3], -1), MAIL_CLOSED);
	mailbox_free(box);
}

static void a_closed_box_gives_what_is_inside(void **state)
{
	struct mailbox *box = mailbox_new(2);
	int item;
	void *got = NULL;

	(void)state;
	mailbox_post(box, &item, 0);
	mailbox_close(box);
	assert_int_equal(mailbox_post(box, &item, -1), MAIL_CLOSED);
	assert_int_equal(mailbox_take(box, &got, -1), MAIL_TAKEN);
	assert_ptr_equal(got, &item);
	got = NULL;
	assert_int_equal(mailbox_take(box, &got, -1), MAIL_CLOSED);
	assert_null(got);
	mailbox_free(box);
	mailbox_free(NULL);
}

static void waiting_ends_in_time(void **state)
{
	struct mailbox *box = mailbox_new(1);
	void *got = NULL;
	int64_t begin_ms = clock_mono_ms();

	(void)state;
	assert_int_equal(mailbox_take(box, &got, 30), MAIL_TIMEOUT);
	assert_true(clock_mono_ms() - begin_ms >= 29);
	mailbox_post(box, box, 0);
	begin_ms = clock_mono_ms();
	assert_int_equal(mailbox_post(box, box, 30), MAIL_TIMEOUT);
	assert_true(clock_mono_ms() - begin_ms >= 29);
	mailbox_free(box);
}

static void *post_all(void *arg)
{
	static int items[ITEMS];

	for (int i = 0; i < ITEMS; i++) {
		items[i] = i;
		if (mailbox_post(arg, &items[i], -1) != MAIL_TAKEN)
			return NULL;
	}
	mailbox_close(arg);
	return arg;
}

static void two_threads_lose_nothing(void **state)
{
	struct mailbox *box = mailbox_new(3);
	pthread_t poster;
	void *got = NULL, *answer = NULL;

	(void)state;
	assert_int_equal(pthread_create(&poster, NULL, post_all, box), 0);
	for (int i = 0; i < ITEMS; i++) {
		assert_int_equal(mailbox_take(box, &got, 60000), MAIL_TAKEN);
		assert_int_equal(*(int *)got, i);
	}
	assert_int_equal(mailbox_take(box, &got, 60000), MAIL_CLOSED);
	pthread_join(poster, &answer);
	assert_ptr_equal(answer, box);
	mailbox_free(box);
}

struct waiter {
	struct mailbox *box;
	bool posts;
	enum mail answer;
};

static void *wait_for_ever(void *arg)
{
	struct waiter *waiter = arg;
	void *got = NULL;

	waiter->answer = waiter->posts ? mailbox_post(waiter->box, waiter, -1) : mailbox_take(waiter->box, &got, -1);
	return NULL;
}

/* Whether the other thread waits already or not yet, closing must end it. */
static void closing_wakes(bool posts)
{
	struct waiter waiter = { mailbox_new(1), posts, MAIL_TIMEOUT };
	pthread_t thread;

	if (posts)
		mailbox_post(waiter.box, &waiter, 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, &waiter), 0);
	mailbox_close(waiter.box);
	pthread_join(thread, NULL);
	assert_int_equal(waiter.answer, MAIL_CLOSED);
	mailbox_free(waiter.box);
}

static void closing_wakes_who_waits(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		closing_wakes(false);
		closing_wakes(true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mail_comes_in_order_and_waits_for_room),
		cmocka_unit_test(mail_may_be_put_in_front),
		cmocka_unit_test(a_closed_box_gives_what_is_inside),
		cmocka_unit_test(waiting_ends_in_time),
		cmocka_unit_test(two_threads_lose_nothing),
		cmocka_unit_test(closing_wakes_who_waits),
	};

	return cmocka_run_group_tests_name("base_mailbox", tests, NULL, NULL);
}
