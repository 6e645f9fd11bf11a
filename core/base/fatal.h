/*
 * A fatal signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) leaves a mark where the
 * thread that dies says: its number in a word of shared memory. Then the process dies
 * of it as it would have.
 */
#ifndef WEIR_BASE_FATAL_H
#define WEIR_BASE_FATAL_H

#include <stdint.h>

/* Where this thread's mark goes; NULL: nowhere. The word must live until it is set to something else. */
void fatal_mark_at(volatile uint32_t *word);

#endif
