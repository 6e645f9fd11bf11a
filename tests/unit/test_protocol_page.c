/*
 * core/control/PROTOCOL.md is made from the tables of commands and topics and
 * says what they say. With --print the page goes to standard output: `make docs`.
 */
#include "base/file.h"
#include "control/control.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGE "core/control/PROTOCOL.md"
#define PAGE_BYTES_MAX (1u << 20)

static void test_page_is_what_make_docs_would_write(void **state)
{
	OWNED(text) made = text_new(PAGE_BYTES_MAX);
	struct error err = { 0 };
	bool is_same;
	size_t len;
	char *kept;

	(void)state;
	assert_true(protocol_page(made));
	if (!file_read(PAGE, PAGE_BYTES_MAX, &kept, &len, &err))
		fail_msg("%s; the tests run at the top of the tree", err.message);
	is_same = len == made->len && memcmp(made->at, kept, len) == 0;
	free(kept);
	if (!is_same)
		fail_msg("%s is not what the tables say; run: make docs", PAGE);
}

static void test_page_names_every_call_and_topic(void **state)
{
	OWNED(text) made = text_new(PAGE_BYTES_MAX);

	(void)state;
	assert_true(protocol_page(made));
	for (int i = 0; i < COMMANDS; i++) {
		OWNED(text) row = text_new(256);

		text_add_format(row, "\n| `%s` |", command_table[i].call);
		if (command_table[i].place == ENGINE)
			assert_non_null(strstr(made->at, row->at));
		else
			assert_null(strstr(made->at, row->at));
	}
	for (int i = 0; i < TOPICS; i++) {
		OWNED(text) row = text_new(256);

		text_add_format(row, "\n| `%s%s%s` |", topic_table[i].name, *topic_table[i].argument ? ":" : "",
		                topic_table[i].argument);
		assert_non_null(strstr(made->at, row->at));
	}
}

static int print_page(void)
{
	OWNED(text) page = text_new(PAGE_BYTES_MAX);

	if (!protocol_page(page))
		return EXIT_FAILURE;
	return fputs(page->at, stdout) < 0 || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_is_what_make_docs_would_write),
		cmocka_unit_test(test_page_names_every_call_and_topic),
	};

	if (argc > 1 && strcmp(argv[1], "--print") == 0)
		return print_page();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
