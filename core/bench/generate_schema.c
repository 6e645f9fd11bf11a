/*
 * The columns of the generated tables, and the two ways to tell them: a schema
 * block in each message (Kafka Connect's JSON with schemas), and sourceSchema.
 */
#include "base/file.h"
#include "bench/generate_private.h"

#define BLOCK_BYTES_MAX (16u << 10)

const char *const generate_tables[GENERATE_TABLES] = {
	"orders", "invoices", "parcels", "returns", "offers", "refunds", "quotes", "leases",
};

const struct generate_column generate_columns[] = {
	{ "id", "\"type\":\"int64\",\"optional\":false", "INT64" },
	{ "customer_id", "\"type\":\"int64\",\"optional\":false", "INT64" },
	{ "status", "\"type\":\"string\",\"optional\":false", "STRING" },
	{ "total", "\"type\":\"string\",\"optional\":true", "NUMERIC" },
	{ "currency", "\"type\":\"string\",\"optional\":true", "STRING" },
	{ "placed_at", "\"type\":\"string\",\"optional\":true,\"name\":\"io.debezium.time.ZonedTimestamp\",\"version\":1",
	  "TIMESTAMP" },
	{ "touched", "\"type\":\"int64\",\"optional\":true,\"name\":\"io.debezium.time.MicroTimestamp\",\"version\":1",
	  "DATETIME" },
	{ "ship_on", "\"type\":\"int32\",\"optional\":true,\"name\":\"io.debezium.time.Date\",\"version\":1", "DATE" },
	{ "paid", "\"type\":\"boolean\",\"optional\":false", "BOOL" },
	{ "weight", "\"type\":\"double\",\"optional\":true", "FLOAT64" },
	{ "quantity", "\"type\":\"int32\",\"optional\":true", "INT64" },
	{ "note", "\"type\":\"string\",\"optional\":true", "STRING" },
};
const size_t generate_column_count = sizeof(generate_columns) / sizeof(generate_columns[0]);

static const char source_fields[] =
	"{\"type\":\"string\",\"optional\":false,\"field\":\"version\"},"
	"{\"type\":\"string\",\"optional\":false,\"field\":\"connector\"},"
	"{\"type\":\"string\",\"optional\":false,\"field\":\"name\"},"
	"{\"type\":\"int64\",\"optional\":false,\"field\":\"ts_ms\"},"
	"{\"type\":\"string\",\"optional\":true,\"name\":\"io.debezium.data.Enum\",\"version\":1,\"parameters\":"
	"{\"allowed\":\"true,first,first_in_data_collection,last_in_data_collection,last,false,incremental\"},"
	"\"default\":\"false\",\"field\":\"snapshot\"},"
	"{\"type\":\"string\",\"optional\":false,\"field\":\"db\"},"
	"{\"type\":\"string\",\"optional\":true,\"field\":\"sequence\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"ts_us\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"ts_ns\"},"
	"{\"type\":\"string\",\"optional\":false,\"field\":\"schema\"},"
	"{\"type\":\"string\",\"optional\":false,\"field\":\"table\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"txId\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"lsn\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"xmin\"},"
	"{\"type\":\"string\",\"optional\":true,\"field\":\"origin\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"origin_lsn\"}";

static const char transaction_field[] =
	"{\"type\":\"struct\",\"fields\":[{\"type\":\"string\",\"optional\":false,\"field\":\"id\"},"
	"{\"type\":\"int64\",\"optional\":false,\"field\":\"total_order\"},"
	"{\"type\":\"int64\",\"optional\":false,\"field\":\"data_collection_order\"}],"
	"\"optional\":true,\"name\":\"event.block\",\"version\":1,\"field\":\"transaction\"}";

static const char last_fields[] =
	"{\"type\":\"string\",\"optional\":false,\"field\":\"op\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"ts_ms\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"ts_us\"},"
	"{\"type\":\"int64\",\"optional\":true,\"field\":\"ts_ns\"}";

static void add_row(struct text *out, const char *table, const char *field)
{
	text_add(out, "{\"type\":\"struct\",\"fields\":[");
	for (size_t i = 0; i < generate_column_count; i++)
		text_add_format(out, "%s{%s,\"field\":\"%s\"}", i ? "," : "", generate_columns[i].node,
		                generate_columns[i].name);
	text_add_format(out, "],\"optional\":true,\"name\":\"bench.public.%s.Value\",\"field\":\"%s\"},", table, field);
}

void schema_block_make(const char *table, struct text *out)
{
	text_add(out, "{\"type\":\"struct\",\"fields\":[");
	add_row(out, table, "before");
	add_row(out, table, "after");
	text_add_format(out, "{\"type\":\"struct\",\"fields\":[%s],\"optional\":false,"
	                "\"name\":\"io.debezium.connector.postgresql.Source\",\"version\":1,\"field\":\"source\"},",
	                source_fields);
	text_add_format(out, "%s,%s],\"optional\":false,\"name\":\"bench.public.%s.Envelope\",\"version\":2}",
	                transaction_field, last_fields, table);
}

void schema_key_block_make(const char *table, struct text *out)
{
	text_add_format(out, "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"type\\\":\\\"int64\\\","
	                "\\\"optional\\\":false,\\\"field\\\":\\\"id\\\"}],\\\"optional\\\":false,"
	                "\\\"name\\\":\\\"bench.public.%s.Key\\\"}", table);
}

bool generator_source_schema(const char *path, struct error *err)
{
	OWNED(text) out = text_new(BLOCK_BYTES_MAX);

	text_add_format(out, "{\"%s\":{\"primary_key\":[\"%s\"],\"columns\":{\n", generate_tables[0],
	                generate_columns[0].name);
	for (size_t i = 0; i < generate_column_count; i++)
		text_add_format(out, "%s\"%s\":{\"debezium\":{%s},\"bigquery\":\"%s\"}", i ? ",\n" : "",
		                generate_columns[i].name, generate_columns[i].node, generate_columns[i].bigquery);
	text_add(out, "}}}\n");
	return file_replace(path, text_span(out), err);
}
