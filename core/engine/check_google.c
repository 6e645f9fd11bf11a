/* Checks of what is Google's whatever the job does: credentials, whose they are, the clock. */
#include "base/clock.h"
#include "engine/check_private.h"

#include <stdio.h>

#define CLOCK_ODD_S 60    /* beyond it leases and times on screens mislead */
#define CLOCK_WRONG_S 300 /* beyond it signed tokens are refused */

void check_startable(struct check *check)
{
	struct error why = { 0 };

	if (job_options_startable(check->options, &why))
		check_ok(check, NULL, "the job can start");
	else
		check_fails(check, NULL, &why);
}

void check_credentials(struct check *check)
{
	const char *named = check->options->credentials;
	struct finding about = { .parameter = named ? "credentials" : NULL, .tried = named };
	struct error why = { 0 };

	check->has_credentials = secrets_serve(check->call->engine, check->options, &check->google, &why);
	if (!check->has_credentials)
		check_fails(check, &about, &why);
	else if (named)
		check_ok(check, &about, "credentials %s are there and can be read", named);
}

void check_member(struct check *check, char out[320])
{
	struct credentials_view view;

	if (!check->google || !google_look(check->google, &view) || !credentials_member(&view, out))
		snprintf(out, 320, "serviceAccount:ACCOUNT");
}

bool check_used_account(const struct job_options *options)
{
	return job_options_ask_google(options);
}

/* After the calls: what they had to show is known now. */
void check_account(struct check *check)
{
	struct finding about = { .tried = "a token" };
	struct credentials_view view;
	OWNED(text) sentence = text_new(1024);

	if (!check->google || !google_look(check->google, &view))
		return; /* nothing needed any: emulators */
	credentials_sentence(&view, sentence);
	if (view.has_failed)
		check_fails(check, &about, &view.failure);
	else
		check_ok(check, &about, "%s", sentence->at);
	if (view.clock_behind_s) {
		check->has_date = true;
		check->behind_s = view.clock_behind_s;
	}
}

void check_time(struct check *check)
{
	struct finding about = { .tried = "the Date of answers", .fix = "timedatectl set-ntp true" };
	int64_t off_s = check->behind_s < 0 ? -check->behind_s : check->behind_s;
	struct error why = { 0 };

	if (!check->has_date)
		return; /* no service with a date was asked */
	if (off_s < CLOCK_ODD_S) {
		about.fix = NULL;
		check_ok(check, &about, "this machine's clock is that of the service, within a minute");
		return;
	}
	fail(&why, ERROR_CONFIG, "clock_wrong", "this machine's clock is %lld s %s the service's", (long long)off_s,
	     check->behind_s > 0 ? "behind" : "ahead of");
	if (off_s >= CLOCK_WRONG_S)
		check_fails(check, &about, &why);
	else
		check_unknown(check, &about, &why);
}
