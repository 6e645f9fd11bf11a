/*
 * A message must not name the job's own dead-letter table: its row would add columns to that
 * table, or pass for a letter.
 */
#include "transform/mapped_private.h"

void mapped_letters_find(struct mapping *mapping)
{
	const struct job_options *options = mapping->options;
	struct dead_letter_place *place = &mapping->letters;
	bool is_there = job_options_letter_place(options, place);
	bool is_in_reach = options->warehouse == WAREHOUSE_LOCAL || !place->project.len ||
	                   (options->project && span_is(place->project, options->project));

	if (!is_there || !is_in_reach)
		*place = (struct dead_letter_place){ 0 };
}

/* SQLite's names have no case, BigQuery's have. */
bool mapped_is_letters(const struct mapping *mapping, struct span dataset, struct span table)
{
	const struct dead_letter_place *place = &mapping->letters;

	if (!place->table || !span_equal(place->dataset, dataset))
		return false;
	return mapping->options->warehouse == WAREHOUSE_LOCAL ? name_equal(span_of(place->table), table)
	                                                      : span_is(table, place->table);
}
