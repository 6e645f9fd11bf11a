/* What an engine that serves does when its memory has run out: it begins again. */
#ifndef WEIR_ENGINE_EXHAUSTED_H
#define WEIR_ENGINE_EXHAUSTED_H

/* By the main thread, before others are made; waits if this process has begun again. `argv` must last. */
void exhausted_prepare(char **argv);
/* How many times in a row it has begun again; 0: it did not. */
int exhausted_times(void);

#endif
