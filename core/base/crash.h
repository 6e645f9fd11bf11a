/*
 * Crash points stand between two steps that must survive a kill. They exist in
 * builds with WEIR_TEST_SWITCHES only; in the others crash_point() is nothing.
 * The names are the rows of base/crash_points.def. With WEIR_CRASH=NAME[:N] in
 * the environment the process kills itself at the N-th passing (default 1);
 * with WEIR_CRASH_TRACE=FILE each name is appended to FILE when first passed.
 */
#ifndef WEIR_BASE_CRASH_H
#define WEIR_BASE_CRASH_H

enum crash_point_id {
#define CRASH_POINT(name, note) CRASH_##name,
#include "base/crash_points.def"
#undef CRASH_POINT
	CRASH_POINTS
};

#ifdef WEIR_TEST_SWITCHES
void crash_point_pass(enum crash_point_id id);
#define crash_point(name) crash_point_pass(CRASH_##name)
#else
#define crash_point(name) ((void)0)
#endif

#endif
