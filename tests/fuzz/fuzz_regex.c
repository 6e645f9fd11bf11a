/*
 * Any regex over any text: it is read or refused in words, at a letter of it or just behind; reading takes no more than
 * READ_S of CPU, searching no more than its budget and SLACK_S; the same search twice answers the same.
 *
 * The regex, a newline, and a text, which is written again and again to the end of what is searched.
 */
#include "base/arena.h"
#include "base/regex.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define READ_S 0.5  /* under sanitizers, on a busy machine */
#define SLACK_S 0.5

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check_search(struct regex *regex, struct span text)
{
	int64_t used_ns = 0, again_ns = 0;
	double since = cpu_s();
	bool is_found = regex_finds(regex, text, &used_ns);

	assert(cpu_s() - since < REGEX_CPU_NS_MAX / 1e9 + SLACK_S);
	if (used_ns > REGEX_CPU_NS_MAX / 2)
		return;
	assert(regex_finds(regex, text, &again_ns) == is_found || again_ns > REGEX_CPU_NS_MAX);
}

static void check_regex(const char *typed, struct span text)
{
	static char hay[REGEX_TEXT_BYTES_MAX];
	struct regex_fault fault = { 0 };
	double since = cpu_s();
	struct regex *regex = regex_new(typed, &fault);

	assert(cpu_s() - since < READ_S);
	if (!regex) {
		assert(fault.why[0] && fault.letter <= strlen(typed) + 1);
		return;
	}
	check_search(regex, text);
	if (text.len) {
		for (size_t at = 0; at < sizeof(hay); at++)
			hay[at] = text.at[at % text.len];
		check_search(regex, span_make(hay, sizeof(hay)));
	}
	regex_free(regex);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *typed;
	const char *text;

	if (size > 1000)
		return 0;
	typed = memory_string_of(span_make((const char *)data, size));
	text = memchr(data, '\n', size);
	if (text) {
		typed[text - (const char *)data] = '\0';
		text++;
	}
	check_regex(typed, text ? span_make(text, size - (size_t)(text - (const char *)data)) : span_make("", 0));
	free(typed);
	return 0;
}
