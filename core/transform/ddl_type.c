/*
 * MySQL's types: what each is in BigQuery, and its implicit default, which rows
 * get that were there before a column that is NOT NULL and has no default.
 */
#include "transform/ddl_private.h"
#include "transform/ddl_value.h"

struct ddl_type {
	const char *name;
	enum bq_kind kind;
	enum ddl_family family;
	const char *implicit; /* NULL: of its own; none, or one of its own */
};

static const struct ddl_type ddl_types[] = {
	{ "tinyint", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "smallint", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "mediumint", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "int", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "integer", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "bigint", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "int1", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "int2", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "int3", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "int4", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "int8", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "middleint", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "bool", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "boolean", BQ_INT64, FAMILY_INTEGER, "0" },
	{ "year", BQ_INT64, FAMILY_YEAR, "0" },
	{ "decimal", BQ_NUMERIC, FAMILY_DECIMAL, "0" },
	{ "dec", BQ_NUMERIC, FAMILY_DECIMAL, "0" },
	{ "numeric", BQ_NUMERIC, FAMILY_DECIMAL, "0" },
	{ "fixed", BQ_NUMERIC, FAMILY_DECIMAL, "0" },
	{ "float", BQ_FLOAT64, FAMILY_FLOAT, "0" },
	{ "double", BQ_FLOAT64, FAMILY_DOUBLE, "0" },
	{ "real", BQ_FLOAT64, FAMILY_DOUBLE, "0" },
	{ "float4", BQ_FLOAT64, FAMILY_FLOAT, "0" },
	{ "float8", BQ_FLOAT64, FAMILY_DOUBLE, "0" },
	{ "date", BQ_DATE, FAMILY_DATE, "0000-00-00" },
	{ "datetime", BQ_DATETIME, FAMILY_DATETIME, "0000-00-00 00:00:00" },
	{ "time", BQ_TIME, FAMILY_TIME, "00:00:00" },
	{ "timestamp", BQ_TIMESTAMP, FAMILY_TIMESTAMP, "0000-00-00 00:00:00" },
	{ "char", BQ_STRING, FAMILY_CHAR, "" },
	{ "varchar", BQ_STRING, FAMILY_VARCHAR, "" },
	{ "character", BQ_STRING, FAMILY_CHAR, "" },
	{ "nchar", BQ_STRING, FAMILY_CHAR, "" },
	{ "nvarchar", BQ_STRING, FAMILY_VARCHAR, "" },
	{ "national", BQ_STRING, FAMILY_VARCHAR, "" },
	{ "tinytext", BQ_STRING, FAMILY_TEXT, "" },
	{ "text", BQ_STRING, FAMILY_TEXT, "" },
	{ "mediumtext", BQ_STRING, FAMILY_TEXT, "" },
	{ "longtext", BQ_STRING, FAMILY_TEXT, "" },
	{ "long", BQ_STRING, FAMILY_TEXT, "" },
	{ "enum", BQ_STRING, FAMILY_ENUM, NULL },
	{ "set", BQ_STRING, FAMILY_SET, "" },
	{ "uuid", BQ_STRING, FAMILY_UUID, "00000000-0000-0000-0000-000000000000" },
	{ "binary", BQ_BYTES, FAMILY_BINARY, "" },
	{ "varbinary", BQ_BYTES, FAMILY_BLOB, "" },
	{ "tinyblob", BQ_BYTES, FAMILY_BLOB, "" },
	{ "blob", BQ_BYTES, FAMILY_BLOB, "" },
	{ "mediumblob", BQ_BYTES, FAMILY_BLOB, "" },
	{ "longblob", BQ_BYTES, FAMILY_BLOB, "" },
	{ "bit", BQ_BYTES, FAMILY_BIT, "" },
	{ "json", BQ_JSON, FAMILY_JSON, NULL },
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

enum ddl_family ddl_family(const struct ddl_column *column)
{
	const struct ddl_type *type = type_find(column->type);

	/* FLOAT(25) and more is a DOUBLE. */
	if (type && type->family == FAMILY_FLOAT && column->size_count == 1 && column->sizes[0] > 24)
		return FAMILY_DOUBLE;
	return type ? type->family : FAMILY_OTHER;
}

unsigned ddl_width(const struct ddl_column *column)
{
	static const struct { const char *name; unsigned bytes; } widths[] = {
		{ "tinyint", 1 }, { "int1", 1 }, { "bool", 1 }, { "boolean", 1 }, { "smallint", 2 }, { "int2", 2 },
		{ "mediumint", 3 }, { "middleint", 3 }, { "int3", 3 }, { "bigint", 8 }, { "int8", 8 },
	};

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		if (ddl_word_is(column->type, widths[i].name))
			return widths[i].bytes;
	}
	return 4;
}

const char *ddl_implicit(const struct ddl_column *column)
{
	const struct ddl_type *type = type_find(column->type);

	return type ? type->implicit : NULL;
}
