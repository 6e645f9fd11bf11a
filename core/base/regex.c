/*
 * Regexes from outside, by PCRE2 within limits. The library's own limits count steps, and one step may look at the whole
 * text; so it is made to call us before each item of the regex (AUTO_CALLOUT), where the clock is looked at.
 */
#include "base/regex.h"

#include "base/arena.h"
#include "base/regex_private.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <time.h>

#define CODE_BYTES_MAX 262144 /* of a regex that was read, and of what reading it takes */
#define HEAP_KIB_MAX 16384    /* of places to go back to, in one text */
#define STEPS_MAX 10000000    /* from one beginning in the text */
#define NESTED_MAX 100        /* groups in groups: reading them calls itself */
#define CALLS_A_LOOK 128      /* between two looks at the clock; each may have gone through the text once */

struct regex {
	pcre2_code *code;
	pcre2_general_context *room;
	pcre2_match_context *limits;
	int64_t began_ns, may_ns; /* of the search that runs: since when, how much it may take */
	unsigned calls;
};

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The library's own limit of a regex's size hangs on how it was built. */
static void *code_room(size_t size, void *context)
{
	(void)context;
	return size <= CODE_BYTES_MAX ? memory_alloc(size) : NULL;
}

static void *any_room(size_t size, void *context)
{
	(void)context;
	return memory_alloc(size);
}

static void drop(void *at, void *context)
{
	(void)context;
	free(at);
}

static int look_at_clock(pcre2_callout_block *block, void *context)
{
	struct regex *regex = context;

	(void)block;
	if (++regex->calls % CALLS_A_LOOK)
		return 0;
	return cpu_ns() - regex->began_ns > regex->may_ns ? PCRE2_ERROR_CALLOUT : 0;
}

/* NULL with the library's number of what is wrong, and the byte where. */
static pcre2_code *code_read(const char *text, int *out_number, size_t *out_byte)
{
	const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
	                         PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
	pcre2_general_context *room = pcre2_general_context_create(code_room, drop, NULL);
	pcre2_compile_context *limits = pcre2_compile_context_create(room);
	pcre2_code *code;

	pcre2_set_parens_nest_limit(limits, NESTED_MAX);
	pcre2_set_newline(limits, PCRE2_NEWLINE_LF);
	code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, out_number, out_byte, limits);
	pcre2_compile_context_free(limits);
	pcre2_general_context_free(room);
	return code;
}

/* Named groups are remembered all the same, and can be referred to. */
static bool has_back_reference(const pcre2_code *code)
{
	uint32_t largest = 0;

	return pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &largest) == 0 && largest;
}

static pcre2_code *code_read_allowed(const char *text, struct regex_fault *out_fault)
{
	size_t byte = 0;
	int number = 0;
	pcre2_code *code;

	if (!regex_is_allowed(text, out_fault))
		return NULL;
	code = code_read(text, &number, &byte);
	if (code && !has_back_reference(code))
		return code;
	regex_fault_fill(out_fault, text, code ? PCRE2_ERROR_BAD_SUBPATTERN_REFERENCE : number, byte);
	pcre2_code_free(code);
	return NULL;
}

struct regex *regex_new(const char *text, struct regex_fault *out_fault)
{
	pcre2_code *code = code_read_allowed(text, out_fault);
	struct regex *regex;

	if (!code)
		return NULL;
	regex = memory_zalloc(sizeof(*regex));
	regex->code = code;
	regex->room = pcre2_general_context_create(any_room, drop, NULL);
	regex->limits = pcre2_match_context_create(regex->room);
	pcre2_set_callout(regex->limits, look_at_clock, regex);
	pcre2_set_heap_limit(regex->limits, HEAP_KIB_MAX);
	pcre2_set_match_limit(regex->limits, STEPS_MAX);
	pcre2_set_depth_limit(regex->limits, STEPS_MAX);
	return regex;
}

void regex_free(struct regex *regex)
{
	if (!regex)
		return;
	pcre2_match_context_free(regex->limits);
	pcre2_general_context_free(regex->room);
	pcre2_code_free(regex->code);
	free(regex);
}

bool regex_finds(struct regex *regex, struct span text, int64_t *used_ns)
{
	size_t len = text.len < REGEX_TEXT_BYTES_MAX ? text.len : REGEX_TEXT_BYTES_MAX;
	pcre2_match_data *places = pcre2_match_data_create(1, regex->room); /* anew each time: what a search took is not kept */
	int found;

	regex->began_ns = cpu_ns();
	regex->may_ns = REGEX_CPU_NS_MAX - *used_ns;
	found = pcre2_match(regex->code, (PCRE2_SPTR)(len ? text.at : ""), len, 0, 0, places, regex->limits);
	pcre2_match_data_free(places);
	*used_ns += cpu_ns() - regex->began_ns;
	if (found < PCRE2_ERROR_NOMATCH && *used_ns <= REGEX_CPU_NS_MAX)
		*used_ns = REGEX_CPU_NS_MAX + 1; /* memory, or steps */
	return found >= 0 && *used_ns <= REGEX_CPU_NS_MAX;
}
