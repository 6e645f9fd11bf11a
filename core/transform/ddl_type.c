/*
 * MySQL's types: what each is in BigQuery, and its implicit default, which rows
 * get that were there before a column that is NOT NULL and has no default.
 */
#include "transform/ddl_private.h"
#include "transform/ddl_value.h"

struct ddl_type {
	const char *name;
	enum bq_kind kind;
	const char *implicit; /* NULL: of its own; none, or one of its own */
};

static const struct ddl_type ddl_types[] = {
	{ "tinyint", BQ_INT64, "0" },        { "smallint", BQ_INT64, "0" },      { "mediumint", BQ_INT64, "0" },
	{ "int", BQ_INT64, "0" },            { "integer", BQ_INT64, "0" },       { "bigint", BQ_INT64, "0" },
	{ "int1", BQ_INT64, "0" },           { "int2", BQ_INT64, "0" },          { "int3", BQ_INT64, "0" },
	{ "int4", BQ_INT64, "0" },           { "int8", BQ_INT64, "0" },          { "middleint", BQ_INT64, "0" },
	{ "bool", BQ_INT64, "0" },           { "boolean", BQ_INT64, "0" },       { "year", BQ_INT64, "0" },
	{ "decimal", BQ_NUMERIC, "0" },      { "dec", BQ_NUMERIC, "0" },         { "numeric", BQ_NUMERIC, "0" },
	{ "fixed", BQ_NUMERIC, "0" },        { "float", BQ_FLOAT64, "0" },       { "double", BQ_FLOAT64, "0" },
	{ "real", BQ_FLOAT64, "0" },         { "float4", BQ_FLOAT64, "0" },      { "float8", BQ_FLOAT64, "0" },
	{ "date", BQ_DATE, "0000-00-00" },   { "datetime", BQ_DATETIME, "0000-00-00 00:00:00" },
	{ "time", BQ_TIME, "00:00:00" },     { "timestamp", BQ_TIMESTAMP, "0000-00-00 00:00:00" },
	{ "char", BQ_STRING, "" },           { "varchar", BQ_STRING, "" },       { "character", BQ_STRING, "" },
	{ "nchar", BQ_STRING, "" },          { "nvarchar", BQ_STRING, "" },      { "national", BQ_STRING, "" },
	{ "tinytext", BQ_STRING, "" },       { "text", BQ_STRING, "" },          { "mediumtext", BQ_STRING, "" },
	{ "longtext", BQ_STRING, "" },       { "long", BQ_STRING, "" },          { "enum", BQ_STRING, NULL },
	{ "set", BQ_STRING, "" },            { "uuid", BQ_STRING, "00000000-0000-0000-0000-000000000000" },
	{ "binary", BQ_BYTES, "" },          { "varbinary", BQ_BYTES, "" },      { "tinyblob", BQ_BYTES, "" },
	{ "blob", BQ_BYTES, "" },            { "mediumblob", BQ_BYTES, "" },     { "longblob", BQ_BYTES, "" },
	{ "bit", BQ_BYTES, "" },             { "json", BQ_JSON, NULL },
};

static const struct ddl_type *type_find(struct span name)
{
	for (size_t i = 0; i < sizeof(ddl_types) / sizeof(*ddl_types); i++) {
		if (ddl_word_is(name, ddl_types[i].name))
			return &ddl_types[i];
	}
	return NULL;
}

static bool is_one_bit(const struct ddl_column *column)
{
	return ddl_word_is(column->type, "bit") && (!column->size_count || column->sizes[0] == 1);
}

int32_t ddl_size(const struct ddl_column *column, size_t i, int32_t otherwise)
{
	return column->size_count > i && column->sizes[i] <= 1000 ? (int32_t)column->sizes[i] : otherwise;
}

/* NUMERIC or BIGNUMERIC or text, by the digits. */
static void decimal_type(const struct ddl_column *column, struct arena *arena, struct bq_type *out)
{
	struct source_type from;

	if (!source_type_named("org.apache.kafka.connect.data.Decimal", &from))
		return;
	from.precision = ddl_size(column, 0, 10);
	from.scale = ddl_size(column, 1, 0);
	type_default(&from, arena, out);
}

bool ddl_value_type(const struct ddl_column *column, struct arena *arena, struct bq_type *out)
{
	const struct ddl_type *type = type_find(column->type);

	if (!type)
		return false;
	*out = (struct bq_type){ .kind = is_one_bit(column) ? BQ_BOOL : type->kind };
	if (type->kind == BQ_NUMERIC)
		decimal_type(column, arena, out);
	return true;
}

/* Without blocks: days and microseconds are numbers, decimals and bytes are text. */
static const enum bq_kind plain_kinds[BQ_KINDS] = {
	[BQ_STRING] = BQ_STRING,    [BQ_INT64] = BQ_INT64,      [BQ_FLOAT64] = BQ_FLOAT64,   [BQ_BOOL] = BQ_BOOL,
	[BQ_BYTES] = BQ_STRING,     [BQ_NUMERIC] = BQ_STRING,   [BQ_BIGNUMERIC] = BQ_STRING, [BQ_DATE] = BQ_INT64,
	[BQ_TIME] = BQ_INT64,       [BQ_DATETIME] = BQ_INT64,   [BQ_TIMESTAMP] = BQ_STRING,  [BQ_JSON] = BQ_STRING,
};

bool ddl_column_type(const struct ddl_column *column, bool has_blocks, struct arena *arena, struct bq_type *out)
{
	struct bq_type type;

	if (!ddl_value_type(column, arena, &type))
		return false;
	if (!has_blocks)
		type = (struct bq_type){ .kind = plain_kinds[type.kind] };
	*out = type;
	return true;
}

const char *ddl_implicit(const struct ddl_column *column)
{
	const struct ddl_type *type = type_find(column->type);

	return type ? type->implicit : NULL;
}
