/* `weir check` in the engine: the table of checks, one after the other, and how a finding is said. */
#include "base/clock.h"
#include "engine/check_private.h"

#include <stdio.h>
#include <stdlib.h>

struct check_row {
	const char *id, *help;
	bool (*applies)(const struct job_options *options);
	void (*run)(struct check *check);
};

static const struct check_row check_rows[] = {
#define CHECK(id, applies, help) { #id, help, applies, check_##id },
#include "engine/checks.def"
#undef CHECK
};

int64_t check_wait_ms(const struct check *check)
{
	int64_t left_ms = check->until_ms - clock_mono_ms();

	return left_ms <= 0 ? 0 : left_ms < CHECK_CALL_MS ? left_ms : CHECK_CALL_MS;
}

/*
 * Findings
 */

static void say(struct check *check, const char *level, const char *code, const struct finding *about, const char *message)
{
	json_t *line = json_pack("{s:s, s:s}", "level", level, "code", code);
	json_t *text = json_string(message);

	/* What comes from outside may be no UTF-8. */
	json_object_set_new(line, "message", text ? text : json_string("(text that is not UTF-8)"));
	if (about && about->parameter)
		json_object_set_new(line, "parameter", json_string(about->parameter));
	if (about && about->tried)
		json_object_set_new(line, "tried", json_string(about->tried));
	if (about && about->fix && *about->fix)
		json_object_set_new(line, "fix", json_string(about->fix));
	call_line(check->call, line);
}

void check_ok(struct check *check, const struct finding *about, const char *format, ...)
{
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	say(check, "ok", "", about, message);
}

void check_warning(struct check *check, const struct finding *about, const char *code, const char *format, ...)
{
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	say(check, "warning", code, about, message);
}

void check_fails(struct check *check, const struct finding *about, const struct error *why)
{
	bool is_access = why->kind == ERROR_ACCESS;
	bool is_unreachable = why->kind == ERROR_UNREACHABLE || why->kind == ERROR_TRANSIENT;

	check->only_access = is_access && (!check->has_failed || check->only_access);
	check->only_unreachable = is_unreachable && (!check->has_failed || check->only_unreachable);
	check->has_failed = true;
	say(check, "fails", why->code, about, why->message);
}

void check_unknown(struct check *check, const struct finding *about, const struct error *why)
{
	check_warning(check, about, why->code, "%s", why->message);
}

/*
 * When rows apply
 */

bool check_always(const struct job_options *options)
{
	(void)options;
	return true;
}

/*
 * The command
 */

static void run_rows(struct check *check)
{
	struct error late = { 0 };

	fail(&late, ERROR_TRANSIENT, "google_timeout", "the checks before took %d s; this one was not made", CHECK_ALL_MS / 1000);
	for (size_t i = 0; i < sizeof(check_rows) / sizeof(*check_rows); i++) {
		const struct check_row *row = &check_rows[i];
		struct finding about = { .tried = row->help };

		if (!row->applies(check->options) || !call_goes_on(check->call))
			continue;
		if (check_wait_ms(check) > 0)
			row->run(check);
		else
			check_fails(check, &about, &late);
	}
}

/* Who may not make jobs names them as they are registered: another parameter would be another job. */
static bool may_ask(struct call *call, size_t param_count, struct error *err)
{
	return call->access == ADMIN || param_count == 0 ||
	       fail(err, ERROR_ACCESS, "not_allowed", "'check' with --param needs the right to admin; this session may %s",
	            access_name(call->access));
}

bool run_check(struct call *call, struct error *err)
{
	const char *params[256];
	size_t count = call_params(call, params);
	struct check check = { .call = call, .until_ms = clock_mono_ms() + CHECK_ALL_MS };
	struct job_options *options;
	const char *job;

	if (!call_text(call, "job", &job, err) || !may_ask(call, count, err) ||
	    !(options = job_load(call->engine->home, job, params, count, err)))
		return false;
	check.options = options;
	run_rows(&check);
	google_close(check.google);
	job_options_free(options);
	if (check.has_failed)
		call->exit = check.only_access ? 77 : check.only_unreachable ? 69 : 78;
	return true;
}
