/*
 * How a table's columns come to be and change: by a schema block, by the
 * owner's word, or by what the values say. Never a change that loses digits.
 */
#include "transform/debezium_private.h"

#include "base/text.h"

int column_find(const struct table *table, struct span source_name)
{
	for (size_t i = 0; i < table->schema.count; i++) {
		if (span_equal(table->columns[i].source_name, source_name))
			return (int)i;
	}
	/* The destination's names have no case: userId and userid are one column. */
	for (size_t i = 0; i < table->schema.count; i++) {
		if (name_equal(table->columns[i].source_name, source_name))
			return (int)i;
	}
	return -1;
}

/* A name by which no other column is stored; two names of the source may become one, "a.b" and "a/b". */
static struct span column_name(struct event *e, struct span source_name)
{
	struct table *table = e->table;
	unsigned changes;
	struct span wanted = name_at_destination(NAME_COLUMN, source_name, table->arena, &changes), name = wanted;
	int other = schema_find(&table->schema, wanted);

	for (unsigned n = 2; schema_find(&table->schema, name) >= 0; n++)
		name = name_numbered(NAME_COLUMN, wanted, n, table->arena);
	if (!changes && other < 0)
		return name;
	table->schema.notes |= NOTE_RENAMED;
	if (other >= 0)
		batch_add_note(e->batch, table->number, name, "renamed", 1,
		               "column %.*s is stored as %.*s, because column %.*s is %.*s already", SPAN_ARG(source_name),
		               SPAN_ARG(name), SPAN_ARG(table->columns[other].source_name), SPAN_ARG(wanted));
	else
		batch_add_note(e->batch, table->number, name, "renamed", 1, "column %.*s is stored as %.*s: %s",
		               SPAN_ARG(source_name), SPAN_ARG(name), name_change_text(changes));
	return name;
}

/* Two names but for their case are one column; that is said once, for they may be meant as two. */
void column_tell_case(struct event *e, int column, struct span source_name)
{
	const struct column *c = &e->table->columns[column];
	struct column_more *more = &e->table->more[column];

	if (more->is_case_told || span_equal(c->source_name, source_name))
		return;
	more->is_case_told = true;
	batch_add_note(e->batch, e->table->number, c->name, "column_case_collision", 1,
	               "columns %.*s and %.*s differ only by case: they are one column here", SPAN_ARG(c->source_name),
	               SPAN_ARG(source_name));
}

static struct span name_quoted(struct arena *arena, struct span name)
{
	struct text *out = text_new(6 * NAME_BYTES_MAX + 16);
	static const char hex[] = "0123456789abcdef";

	text_add_char(out, '"');
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.at[i];

		if (c == '"' || c == '\\')
			text_add_char(out, '\\');
		if (c < 0x20)
			text_add_format(out, "\\u00%c%c", hex[c >> 4], hex[c & 15]);
		else
			text_add_char(out, (char)c);
	}
	text_add(out, "\":");
	struct span copy = arena_copy(arena, text_span(out));

	text_free(out);
	return copy;
}

/* The owner's word about a column of the table, new or known. */
static void column_rule_apply(struct debezium *d, struct table *table, size_t i, struct column_rule *rule)
{
	struct column_more *more = &table->more[i];

	table->type_version++;
	source_schema_column(d->rules, table->rule, table->schema.source, table->name, table->columns[i].source_name,
	                     rule);
	*more = (struct column_more){ .from = rule->from, .is_fixed = rule->has_type, .is_encoded = rule->is_encoded,
		.first_default = more->first_default, .quoted = name_quoted(table->arena, table->columns[i].name) };
}

static struct column *column_room(struct table *table)
{
	size_t count = table->schema.count;

	if (count == table->column_room) {
		table->column_room = count ? count * 2 : 16;
		table->columns = memory_grow(table->columns, table->column_room * sizeof(*table->columns));
		table->more = memory_grow(table->more, table->column_room * sizeof(*table->more));
	}
	table->columns[count] = (struct column){ 0 };
	table->more[count] = (struct column_more){ 0 };
	table->schema.count++;
	table_sync(table);
	return &table->columns[count];
}

/* Types live as long as the table: a STRUCT's fields are copied there, for the schema block may be forgotten. */
static void type_keep(struct arena *arena, const struct bq_type *type, struct bq_type *out)
{
	struct bq_field *fields = NULL;

	if (type->field_count)
		fields = arena_alloc(arena, type->field_count * sizeof(*fields));
	for (size_t i = 0; i < type->field_count; i++) {
		fields[i] = type->fields[i];
		fields[i].name = arena_copy(arena, type->fields[i].name);
		type_keep(arena, &type->fields[i].type, &fields[i].type);
	}
	*out = *type;
	out->fields = fields;
}

void column_told(struct table *table, int column, uint32_t told)
{
	table->is_quietly_changed |= table->columns[column].told != told;
	table->columns[column].told = told;
}

/* What a later schema change needs of it (schema_convert.c). */
static uint32_t told_of(const struct source_type *from)
{
	const char *name = source_type_name(from);

	if (strcmp(name, "float") == 0)
		return TOLD_ANYTHING | TOLD_SINGLE;
	if (strcmp(name, "io.debezium.data.Enum") == 0 || strcmp(name, "io.debezium.data.EnumSet") == 0)
		return TOLD_ANYTHING | TOLD_LIST;
	if (strcmp(name, "org.apache.kafka.connect.data.Decimal") == 0 && from->scale >= 0)
		return TOLD_ANYTHING | TOLD_DECIMAL | (uint32_t)from->scale << TOLD_SCALE_BITS;
	return TOLD_ANYTHING;
}

static void column_type_first(struct event *e, struct column *column, const struct column_rule *rule,
                              const struct source_type *from)
{
	struct bq_type type;

	if (rule->has_type) {
		column->type = rule->type;
	} else if (from) {
		type_default(from, e->batch->arena, &type);
		type_keep(e->table->arena, &type, &column->type);
	} else {
		column->type = (struct bq_type){ .kind = BQ_STRING };
		column->is_provisional = column->is_inferred = true;
		e->table->schema.notes |= NOTE_INFERRED;
	}
}

static void step_added(struct event *e, const struct column *column, const struct source_type *from)
{
	OWNED(text) did = text_new(4096);

	text_add(did, "added ");
	bq_type_print(did, &column->type);
	table_step(e->table, column->name, from ? arena_printf(e->batch->arena, "new, %s", source_type_name(from)) : "new",
	           did->at);
}

size_t columns_most(const struct debezium *d)
{
	return d->options->warehouse == WAREHOUSE_LOCAL ? SCHEMA_COLUMNS_MAX : SCHEMA_COLUMNS_FAR_MAX;
}

int column_add(struct debezium *d, struct event *e, struct span source_name, const struct source_type *from)
{
	struct table *table = e->table;
	struct column_rule rule;

	/* The original takes names as they are, and BigQuery those that it takes. */
	if (d->mapping && !name_is_allowed(NAME_COLUMN, source_name)) {
		REFUSE(e, "bad_name", source_name, source_name, "no column may have the name '%.*s'", SPAN_ARG(source_name));
		return -1;
	}
	if (!name_is_fine(source_name)) {
		REFUSE(e, "bad_name", source_name, NOTHING,
		       "a column's name is empty, holds a back-quote or a control character, or is longer than %d bytes",
		       NAME_BYTES_MAX);
		return -1;
	}
	if (table->schema.count >= columns_most(d)) {
		REFUSE_MAP(e, "too_many_columns", source_name, NOTHING, "table %.*s has %zu columns already, more are not allowed",
		           SPAN_ARG(table->schema.source), columns_most(d));
		return -1;
	}
	struct span name = column_name(e, arena_copy(table->arena, source_name));
	struct column *column = column_room(table);
	int index = (int)table->schema.count - 1;

	column->source_name = arena_copy(table->arena, source_name);
	column->name = name;
	column_rule_apply(d, table, (size_t)index, &rule);
	if (d->mapping)
		mapped_column_first(d, e, index, &rule);
	else
		column_type_first(e, column, &rule, rule.from && (rule.is_encoded || !from) ? rule.from : from);
	if (from)
		column_told(table, index, told_of(from));
	if (table->schema.version) {
		table_change(table, "new column", column->name);
		step_added(e, column, from);
	}
	return index;
}

int column_expect(struct debezium *d, struct event *e, struct span source_name, const struct bq_type *type)
{
	struct table *table = e->table;
	size_t steps = table->steps->len;
	int index = column_add(d, e, source_name, NULL);

	/* The schema change has a step of its own, which says more. */
	table->steps->at[steps] = '\0';
	table->steps->len = steps;
	if (index >= 0 && type && !table->more[index].is_fixed) {
		type_keep(table->arena, type, &table->columns[index].type);
		table->columns[index].is_provisional = true;
		table->columns[index].is_inferred = false;
	}
	return index;
}

bool column_may_change(const struct debezium *d, const struct table *table, int column)
{
	return d->options->schema_changes == SCHEMA_ADD && !table->more[column].is_fixed;
}

static void column_tell(struct event *e, const struct column *column, const struct bq_type *before)
{
	struct text *out = text_new(4096);

	text_add_span(out, column->name);
	text_add(out, " is now ");
	bq_type_print(out, &column->type);
	table_change(e->table, "column", text_span(out));
	text_clear(out);
	if (before)
		bq_type_print(out, before);
	text_add(out, before ? " -> " : "first value, ");
	bq_type_print(out, &column->type);
	table_step(e->table, column->name, out->at, before ? "widened" : "made so");
	text_free(out);
}

/* Told once a table or column: what the type of is only a guess. */
static void column_guessed(struct event *e, const struct column *c)
{
	struct text *guesses = e->table->guesses;

	if (!type_guess(&c->type))
		return;
	text_add(guesses, guesses->len ? ", " : "");
	text_add_span(guesses, c->name);
	text_add(guesses, " ");
	bq_type_print(guesses, &c->type);
	e->table->guessed = e->table->guess_count++ ? NOTHING : c->name;
}

/* The first real value of a column of which only NULL was seen. */
void column_settle(struct event *e, int column, const struct bq_type *type)
{
	struct column *c = &e->table->columns[column];

	bool was_so = bq_type_equal(&c->type, type) && !c->is_inferred;

	c->is_provisional = false;
	e->table->type_version++;
	type_keep(e->table->arena, type, &c->type);
	if (c->is_inferred)
		column_guessed(e, c);
	if ((size_t)column < e->table->told_count && !was_so)
		column_tell(e, c, NULL);
	else if (was_so) /* as a schema change had said: nothing to tell, but to remember */
		e->table->is_quietly_changed = true;
}

void column_widen(struct event *e, int column, const struct bq_type *seen, bool value_fits)
{
	struct column *c = &e->table->columns[column];
	struct bq_type wide = c->type, before = c->type;

	if (!bq_type_widen(&wide, seen, value_fits))
		return;
	e->table->type_version++;
	type_keep(e->table->arena, &wide, &c->type);
	if (c->key_ordinal)
		key_tell_type(e, c, &before);
	if ((size_t)column < e->table->told_count)
		column_tell(e, c, &before);
}

static void column_type_kept(struct event *e, const struct column *c, const struct bq_type *wanted)
{
	OWNED(text) words = text_new(8192);

	text_add(words, "the job says ");
	bq_type_print(words, wanted);
	text_add(words, ", and the column stays ");
	bq_type_print(words, &c->type);
	batch_add_note(e->batch, e->table->number, c->name, "column_type_kept", 1, "%s: not all that it may hold is one", words->at);
}

/*
 * The owner's word about a column that rows have been written to: it gets the type that he says if that holds all of its
 * values. A column that is text already holds everything.
 */
static void column_retype(struct event *e, size_t column, const struct column_rule *rule)
{
	struct column *c = &e->table->columns[column];
	struct bq_type before = c->type, wide = c->type;

	if (!rule->has_type)
		return;
	if (c->is_provisional) {
		c->is_inferred = false;
		column_settle(e, (int)column, &rule->type);
		return;
	}
	if ((c->type.kind == BQ_STRING && !c->type.is_array) || bq_type_equal(&c->type, &rule->type))
		return;
	bq_type_widen(&wide, &rule->type, !c->is_wide);
	if (!bq_type_equal(&wide, &rule->type)) {
		column_type_kept(e, c, &rule->type);
		return;
	}
	c->is_inferred = false;
	type_keep(e->table->arena, &rule->type, &c->type);
	if (c->key_ordinal)
		key_tell_type(e, c, &before);
	column_tell(e, c, &before);
}

/* Columns that the file names exist from the start; so does what it says of columns of earlier runs. */
void columns_of_rule(struct debezium *d, struct event *e)
{
	struct table *table = e->table;
	struct column_rule rule;

	for (size_t i = 0; i < table->schema.count; i++) {
		column_rule_apply(d, table, i, &rule);
		if (d->mapping)
			mapped_column_known(d, table, i);
		else
			column_retype(e, i, &rule);
	}
	for (size_t i = 0; table->rule && i < table->rule->column_count; i++) {
		if (column_find(table, table->rule->columns[i].name) < 0 &&
		    column_add(d, e, table->rule->columns[i].name, NULL) < 0)
			return;
	}
}

/* A schema block says how a column is written: the column's type follows as far as it may. */
void column_adopt(struct debezium *d, struct event *e, int column, const struct source_type *from)
{
	struct column *c = &e->table->columns[column];
	struct bq_type type;

	column_told(e->table, column, told_of(from));
	if (e->table->more[column].is_fixed || e->table->more[column].is_encoded)
		return;
	type_default(from, e->batch->arena, &type);
	if (c->is_provisional) {
		c->is_inferred = false;
		column_settle(e, column, &type);
	} else if (!bq_type_equal(&c->type, &type) && column_may_change(d, e->table, column)) {
		column_widen(e, column, &type, !c->is_wide);
	}
}
