/* GNU readline made to read what it is given, and to show and say nothing itself. */
#include "prompt/prompt_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <readline/readline.h>

static void draw_nothing(void)
{
}

static void prepare_nothing(int meta)
{
	(void)meta;
}

static void show_no_matches(char **matches, int count, int longest)
{
	(void)matches;
	(void)count;
	(void)longest;
}

static char **complete_nothing(const char *word, int start, int end)
{
	(void)word;
	(void)start;
	(void)end;
	rl_attempted_completion_over = 1;
	return NULL;
}

/* A mistake in the user's .inputrc is told on standard error, over the screen: meanwhile that is /dev/null. */
static void initialize_silently(void)
{
	int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	fflush(stderr);
	if (kept >= 0 && null >= 0)
		dup2(null, STDERR_FILENO);
	rl_initialize();
	fflush(stderr);
	if (kept >= 0)
		dup2(kept, STDERR_FILENO);
	close(kept);
	close(null);
}

void readline_begin(int (*get_byte)(FILE *), int (*has_byte)(void))
{
	static bool has_begun;

	if (has_begun)
		return;
	has_begun = true;
	rl_readline_name = "weir";
	rl_instream = fopen("/dev/null", "re");
	rl_outstream = fopen("/dev/null", "we");
	rl_catch_signals = rl_catch_sigwinch = rl_change_environment = rl_persistent_signal_handlers = 0;
	rl_prep_term_function = prepare_nothing;
	rl_deprep_term_function = draw_nothing;
	rl_getc_function = get_byte;
	rl_input_available_hook = has_byte;
	rl_redisplay_function = draw_nothing;
	rl_completion_display_matches_hook = show_no_matches;
	rl_attempted_completion_function = complete_nothing;
	initialize_silently();
	/* After the user's .inputrc, which may say otherwise; it is not read again, for it would say so again. */
	rl_variable_bind("bell-style", "none");
	rl_variable_bind("enable-bracketed-paste", "off");
	rl_unbind_function_in_map(rl_re_read_init_file, emacs_ctlx_keymap);
}
