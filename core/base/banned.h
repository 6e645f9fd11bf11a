/*
 * Functions that must not compile: they write without knowing how much room
 * there is, hide errors, or share a static buffer between threads. Every file
 * of ours is compiled with "-include base/banned.h". The headers that declare
 * them come first: a poisoned name may not even be declared afterwards.
 *
 *   strcpy strcat sprintf vsprintf   base/text.h, arena_printf, snprintf
 *   strtok                           strcspn, memchr, strtok_r
 *   gets atoi                        getline; strtol with a check of its end
 *   localtime gmtime                 base/clock.h, localtime_r, gmtime_r
 */
#ifndef WEIR_BASE_BANNED_H
#define WEIR_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strtok gets atoi localtime gmtime

#endif
