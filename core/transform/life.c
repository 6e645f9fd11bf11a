/*
 * When a table was dropped and when it was made again, by places in the log. A CREATE
 * of a table that is there tells of a drop that nobody sent, so this outlives a run
 * (table_schema.history): else a run that begins between the two would empty the
 * table a second time.
 */
#include "transform/debezium_private.h"

static void life_look(struct table *table)
{
	const struct life *life = &table->life;

	table->is_dropped = life->was_dropped && (!life->was_made || position_compare(&life->made_at, &life->dropped_at) < 0);
}

/* The newest place counts: statements may be delivered twice. */
static void place_take(struct table *table, bool *was, struct position *place, const struct position *at)
{
	if (*was && position_compare(place, at) >= 0)
		return;
	*was = true;
	*place = *at;
	table->is_first_changed = true;
	life_look(table);
}

void table_dropped_at(struct table *table, const struct position *at)
{
	place_take(table, &table->life.was_dropped, &table->life.dropped_at, at);
}

void table_made_at(struct table *table, const struct position *at)
{
	place_take(table, &table->life.was_made, &table->life.made_at, at);
}

bool table_is_made_since(const struct table *table, const struct position *at)
{
	return table->life.was_made && position_compare(at, &table->life.made_at) <= 0;
}

void table_lives(struct event *e)
{
	if (e->table->is_dropped && position_compare(&e->position, &e->table->life.dropped_at) >= 0)
		table_made_at(e->table, &e->position);
}

/* "gPOSITION" gone, "mPOSITION" made: behind another position, so by letters that are no digits of it. */
void life_text(const struct table *table, struct text *out)
{
	if (table->life.was_dropped) {
		text_add_char(out, 'g');
		position_keep(out, &table->life.dropped_at);
	}
	if (table->life.was_made) {
		text_add_char(out, 'm');
		position_keep(out, &table->life.made_at);
	}
}

bool life_read(struct table *table, const char **at)
{
	struct life *life = &table->life;

	life->was_dropped = kept_char(at, 'g');
	if (life->was_dropped && !kept_position(at, &life->dropped_at))
		return false;
	life->was_made = kept_char(at, 'm');
	if (life->was_made && !kept_position(at, &life->made_at))
		return false;
	life_look(table);
	return true;
}
