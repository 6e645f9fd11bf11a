/* What views ask of the console (view/console.h). */
#include "console/console_private.h"

struct model *console_model(struct console *console)
{
	return console->model;
}

const struct keymap *console_keymap(struct console *console)
{
	return console->keymap;
}

int64_t console_now_ms(const struct console *console)
{
	return console->now_ms;
}

const char *console_state_folder(const struct console *console)
{
	return console->home->state;
}

int64_t console_now_us(const struct console *console)
{
	return console->now_us;
}

bool console_is_local(const struct console *console)
{
	return console->is_local;
}

int console_cols(const struct console *console)
{
	return console->canvas->cols;
}

int console_range_s(const struct console *console)
{
	return console->range_s;
}

bool console_is_far(const struct console *console)
{
	return console->is_far;
}

bool console_is_wide(const struct console *console)
{
	return console->is_wide;
}

bool console_is_trouble_only(const struct console *console)
{
	return console->is_trouble;
}

bool console_is_blind(const struct console *console)
{
	struct reach reach = model_reach(console->model);

	return !reach.is_there && !reach.is_asked; /* before the first answer nobody is away yet */
}

enum role console_role(const struct console *console, enum role role)
{
	return console_is_blind(console) && role == ROLE_text ? ROLE_dim : role;
}

bool console_may_only_look(const struct console *console)
{
	struct reach reach = model_reach(console->model);

	return console->wishes->is_read_only || (reach.is_there && reach.access == VIEW);
}
