/*
 * Time. The wall clock is only ever shown or stored, never used to order
 * changes or to measure a wait: it may jump.
 */
#ifndef WEIR_BASE_CLOCK_H
#define WEIR_BASE_CLOCK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

int64_t clock_utc_us(void);
int64_t clock_mono_ms(void);
void clock_sleep_ms(int64_t ms); /* whole, also when a signal comes */

/* A condition whose timed waits end by the monotonic clock: one that is set back makes nobody wait. */
void clock_cond_init(pthread_cond_t *cond);

/* "2026-11-30T02:37:30.123456Z" (RFC 3339), 28 bytes with the NUL. */
#define CLOCK_TEXT_BYTES 28
void clock_text(int64_t utc_us, char out[CLOCK_TEXT_BYTES]);

/* Tests move the wall clock: added to every clock_utc_us. */
void clock_shift_us(int64_t delta_us);

#endif
