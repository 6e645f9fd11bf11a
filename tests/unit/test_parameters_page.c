/*
 * core/options/PARAMETERS.md is made from the option table and says what it
 * says. With --print the page goes to standard output: `make docs`.
 */
#include "base/file.h"
#include "options/options.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGE "core/options/PARAMETERS.md"
#define PAGE_BYTES_MAX (1u << 20)

static void test_page_is_what_make_docs_would_write(void **state)
{
	OWNED(text) made = text_new(PAGE_BYTES_MAX);
	struct error err = { 0 };
	bool is_same;
	size_t len;
	char *kept;

	(void)state;
	assert_true(job_options_explain(made));
	if (!file_read(PAGE, PAGE_BYTES_MAX, &kept, &len, &err))
		fail_msg("%s; the tests run at the top of the tree", err.message);
	is_same = len == made->len && memcmp(made->at, kept, len) == 0;
	free(kept);
	if (!is_same)
		fail_msg("%s is not what the option table says; run: make docs", PAGE);
}

static void test_page_names_every_parameter(void **state)
{
	OWNED(text) made = text_new(PAGE_BYTES_MAX);

	(void)state;
	assert_true(job_options_explain(made));
	for (size_t i = 0; i < job_option_count; i++) {
		OWNED(text) row = text_new(256);

		text_add_format(row, "\n| `%s` |", job_option_table[i].name);
		assert_non_null(strstr(made->at, row->at));
	}
}

static int print_page(void)
{
	OWNED(text) page = text_new(PAGE_BYTES_MAX);

	if (!job_options_explain(page))
		return EXIT_FAILURE;
	return fputs(page->at, stdout) < 0 || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_is_what_make_docs_would_write),
		cmocka_unit_test(test_page_names_every_parameter),
	};

	if (argc > 1 && strcmp(argv[1], "--print") == 0)
		return print_page();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
