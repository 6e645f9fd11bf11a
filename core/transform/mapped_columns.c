/* Which types columns of JSON rows get, and which are required. */
#include "transform/mapped_private.h"

bool mapped_is_metadata(struct span name)
{
	return span_is(name, "_metadata_error") || span_is(name, "_metadata_retry_count");
}

static const struct file_column *told_by_file(const struct debezium *d, const struct table *table, size_t column)
{
	bool is_original = d->options->schema_file_reading == SCHEMA_FILE_ORIGINAL;

	return schema_file_column(d->mapping->file, table->columns[column].source_name, is_original);
}

static void require(struct table *table, size_t column, const struct file_column *told)
{
	bool is_required = told && told->is_required;

	table->required_count += is_required && !table->more[column].is_required;
	table->more[column].is_required = is_required;
}

/* The owner's word for the column, else the file's, else STRING; or what values say, where that is asked for. */
void mapped_column_first(struct debezium *d, struct event *e, int column, const struct column_rule *rule)
{
	struct table *table = e->table;
	struct column *c = &table->columns[column];
	const struct file_column *told = told_by_file(d, table, (size_t)column);

	require(table, (size_t)column, told);
	table->more[column].is_fixed = true;
	if (rule->has_type) {
		c->type = rule->type;
	} else if (told) {
		c->type = told->type;
	} else if (d->options->new_column_types == NEW_COLUMNS_STRING) {
		c->type = (struct bq_type){ .kind = BQ_STRING };
	} else {
		c->type = (struct bq_type){ .kind = BQ_STRING };
		c->is_provisional = c->is_inferred = true;
		table->schema.notes |= NOTE_INFERRED;
		table->more[column].is_fixed = false;
	}
}

/* A column that the table has is never altered, but for guesses. */
void mapped_column_known(struct debezium *d, struct table *table, size_t column)
{
	table->more[column].is_fixed = !table->columns[column].is_inferred;
	require(table, column, told_by_file(d, table, column));
}
