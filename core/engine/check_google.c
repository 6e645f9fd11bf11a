/* Checks of what is Google's whatever the job does: credentials, whose they are, the clock. */
#include "base/clock.h"
#include "engine/check_private.h"
#include "transform/transform.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CLOCK_ODD_S 60    /* beyond it leases and times on screens mislead */
#define CLOCK_WRONG_S 300 /* beyond it signed tokens are refused */

/* What this template can do meanwhile. */
static const char *instead_of_bigquery(const struct job_options *options, const struct error *why)
{
	if (options->template != TEMPLATE_PUBSUB_CDC || options->warehouse != WAREHOUSE_BIGQUERY ||
	    strcmp(why->code, "not_available_yet") != 0)
		return NULL;
	return "leave it out, or set \"warehouse\": \"local\": there rows may be replaced by key";
}

static bool is_plain_file(const char *path)
{
	struct stat info;

	return !path || (stat(path, &info) == 0 && S_ISREG(info.st_mode));
}

/* Read as the job reads them; a pipe gives what it has once, and is left to the job. */
static bool files_are_right(const struct job_options *options, struct error *err)
{
	struct transform_setup setup = { .options = options, .wants_json = true };
	const struct transform_ops *ops = transform_choose(options, err);
	struct transform *transform;

	if (!ops)
		return false;
	if (!is_plain_file(options->source_schema) || !is_plain_file(options->schema_file))
		return true;
	transform = ops->open(&setup, err);
	if (transform)
		ops->close(transform);
	return transform != NULL;
}

static const char *parameter_of_file(const struct error *why)
{
	return strcmp(why->code, "bad_schema_file") == 0 ? "schemaFilePath" : strcmp(why->code, "bad_source_schema") == 0 ? "sourceSchema" : NULL;
}

void check_startable(struct check *check)
{
	struct error why = { 0 };

	if (!job_options_startable(check->options, &why))
		check_fails(check, &(struct finding){ .fix = instead_of_bigquery(check->options, &why) }, &why);
	else if (!files_are_right(check->options, &why))
		check_fails(check, &(struct finding){ .parameter = parameter_of_file(&why) }, &why);
	else
		check_ok(check, NULL, "the job can start");
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

bool check_endpoint(struct check *check, enum google_service service, const struct finding *about, const char *name)
{
	const struct endpoint *endpoint;
	struct error why = { 0 };

	if (!check->google)
		return false; /* said by the credentials' row */
	if (!google_endpoint(check->google, service, &endpoint, &why)) {
		check_fails(check, about, &why);
		return false;
	}
	if (endpoint->is_emulator)
		check_ok(check, about, "EMULATOR %s (%s): plain text, no token, nothing of Google's", endpoint->authority,
		         endpoint->variable);
	else
		check_ok(check, about, "%s at %s", name, endpoint->authority);
	return true;
}
