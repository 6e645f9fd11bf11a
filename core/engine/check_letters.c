/* Checks of what stands beside a job's tables in BigQuery: who pays for its calls, and the table of its dead letters. */
#include "engine/check_bigquery_private.h"

#include <stdio.h>
#include <stdlib.h>

/* Said where it is another project than the account's own, and asked where BigQuery is written. */
void check_quota_project(struct check *check)
{
	const char *payer = check->google ? google_quota_project(check->google) : NULL;
	char tried[600], fix[CHECK_FIX_BYTES], member[MEMBER_BYTES];
	struct finding about = { .parameter = check->options->quota_project ? "quotaProject" : NULL, .tried = tried };
	struct bigquery_asker asker;
	struct error why = { 0 };
	bool is_fine;

	if (!payer)
		return;
	if (!check->has_bigquery || !check_asker_open(check, &asker, &why)) {
		about.tried = NULL;
		check_ok(check, &about, "calls are charged to quota project %s", payer);
		return;
	}
	snprintf(tried, sizeof(tried), "datasets.list, x-goog-user-project: %.200s", payer);
	is_fine = bigquery_payer_look(&asker, &why);
	rest_close(asker.client);
	check_member(check, member);
	snprintf(fix, sizeof(fix), "gcloud projects add-iam-policy-binding %.200s --member=%s --role=roles/serviceusage.serviceUsageConsumer",
	         payer, member);
	if (is_fine) {
		check_ok(check, &about, "calls are charged to quota project %s", payer);
		return;
	}
	about.fix = strcmp(why.code, "quota_project_denied") == 0 ? fix : NULL;
	check_fails(check, &about, &why);
}

/*
 * Dead letters
 */

/* In the local warehouse there is nobody to ask. */
bool check_has_letter_table(const struct job_options *options)
{
	return options->warehouse == WAREHOUSE_BIGQUERY && job_options_letter_table(options);
}

/* An entry cannot be taken out of a table again for half an hour, so it goes into a table of its own beside it. */
static bool try_place(const struct bigquery_asker *asker, const char *dataset, struct error *err)
{
	char name[BIGQUERY_TRY_NAME_BYTES];
	struct error ignored = { 0 };
	bool is_fine;

	if (!bigquery_try_make(asker, dataset, name, err))
		return false;
	is_fine = bigquery_try_insert(asker, dataset, name, err);
	bigquery_try_remove(asker, dataset, name, &ignored);
	return is_fine;
}

static void ask_letters(struct check *check, const struct bigquery_asker *asker, const char *dataset, const char *table)
{
	char fix[CHECK_FIX_BYTES] = "";
	struct finding about = { .parameter = check->options->dead_letter_table ? "outputDeadletterTable" : "deadLetters",
		                 .tried = "tables.get, tables.insert, tabledata.insertAll, tables.delete", .fix = fix };
	struct error why = { 0 };
	bool is_there = false;

	if (bigquery_letters_look(asker, dataset, table, &is_there, &why) && try_place(asker, dataset, &why)) {
		check_ok(check, &about, "dead letters go to '%s.%s', which is %s; an entry was written beside it and removed", dataset, table,
		         is_there ? "there" : "not there yet: the job makes it");
		return;
	}
	check_bigquery_fix(check, asker, dataset, why.code, fix);
	check_fails(check, &about, &why);
}

void check_letter_table(struct check *check)
{
	struct dead_letter_place place;
	struct bigquery_asker asker;
	struct error why = { 0 };
	char *dataset, *project;

	if (!check->google || !job_options_letter_place(check->options, &place) || !check_asker_open(check, &asker, &why))
		return;
	dataset = memory_string_of(place.dataset);
	project = memory_string_of(place.project);
	if (place.project.len)
		asker.project = project;
	ask_letters(check, &asker, dataset, place.table);
	free(dataset);
	free(project);
	rest_close(asker.client);
}
