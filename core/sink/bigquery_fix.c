/* The command that mends what BigQuery said, to be pasted into a shell: one table, by reason code. */
#include "sink/bigquery.h"

/* $P project, $D dataset, $T table, $L location, $M member; names are safe where a shell meets them. */
static const struct fix_row {
	const char *code, *command;
} fix_rows[] = {
	{ "dataset_missing", "bq --location=$L mk --dataset $P:$D" },
	{ "bigquery_denied", "bq query --project_id=$P --use_legacy_sql=false 'GRANT `roles/bigquery.dataEditor` ON SCHEMA `$P`.`$D` TO "
	                     "\"$M\"'" },
	{ "google_api_disabled", "gcloud services enable bigquery.googleapis.com bigquerystorage.googleapis.com --project $P" },
	{ "google_billing", "gcloud billing projects link $P --billing-account ACCOUNT" },
	{ "no_such_project", "gcloud projects describe $P" },
	{ "table_dropped", "bq cp $P:$D.$T@-3600000 $P:$D.$T" },
	{ "column_type_differs", "bq show --schema $P:$D.$T" },
	{ "not_a_table", "bq show $P:$D.$T" },
	{ "dataset_expires", "bq update --default_table_expiration 0 $P:$D" },
};

static const char *command_of(const char *code)
{
	for (size_t i = 0; i < sizeof(fix_rows) / sizeof(fix_rows[0]); i++) {
		if (strcmp(fix_rows[i].code, code) == 0)
			return fix_rows[i].command;
	}
	return NULL;
}

static const char *name_of(char letter, const struct bigquery_names *names)
{
	switch (letter) {
	case 'P': return names->project;
	case 'D': return names->dataset;
	case 'T': return names->table ? names->table : "TABLE";
	case 'L': return names->location && *names->location ? names->location : "LOCATION";
	case 'M': return names->member ? names->member : "serviceAccount:ACCOUNT";
	default: return NULL;
	}
}

/* Bare names alone go into a command: a table with a blank in its name is quoted by whoever types it. */
static bool is_bare(const char *name)
{
	return !strpbrk(name, " '\"`$\\&|;<>()");
}

bool bigquery_fix(const char *code, const struct bigquery_names *names, struct text *out)
{
	const char *at = command_of(code);

	if (!at)
		return false;
	for (; *at; at++) {
		const char *name = *at == '$' ? name_of(at[1], names) : NULL;

		if (!name) {
			text_add_char(out, *at);
			continue;
		}
		if (!is_bare(name))
			return false;
		text_add(out, name);
		at++;
	}
	return !out->is_full;
}
