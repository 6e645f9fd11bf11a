/* Steps into the script; their form stands in bench_private.h. */
#include "bench/baseline_private.h"

static void put_byte(struct recorder *r, char byte)
{
	putc_unlocked(byte, r->out);
}

static void put_bytes(struct recorder *r, const void *at, size_t len)
{
	if (len)
		fwrite(at, 1, len, r->out);
}

static void put_length(struct recorder *r, size_t len)
{
	uint32_t length = (uint32_t)len;

	put_bytes(r, &length, sizeof(length));
}

void put_transaction(struct recorder *r, char what, char file)
{
	put_byte(r, what);
	put_byte(r, file);
}

uint16_t put_statement(struct recorder *r, char file, const struct text *sql)
{
	put_transaction(r, 'P', file);
	put_length(r, sql->len);
	put_bytes(r, sql->at, sql->len);
	return r->statement_count++;
}

static void put_value(struct recorder *r, sqlite3_stmt *row, int column)
{
	static const char kinds[] = {
		[SQLITE_INTEGER] = 'I', [SQLITE_FLOAT] = 'F', [SQLITE_TEXT] = 'T', [SQLITE_BLOB] = 'X', [SQLITE_NULL] = 'N',
	};
	char kind = kinds[sqlite3_column_type(row, column)];
	int64_t number = kind == 'I' ? sqlite3_column_int64(row, column) : 0;
	double real = kind == 'F' ? sqlite3_column_double(row, column) : 0;

	put_byte(r, kind);
	if (kind == 'I') {
		put_bytes(r, &number, sizeof(number));
	} else if (kind == 'F') {
		put_bytes(r, &real, sizeof(real));
	} else if (kind != 'N') {
		/* Gives a text as it is stored, too. */
		const void *at = sqlite3_column_blob(row, column);

		put_length(r, (size_t)sqlite3_column_bytes(row, column));
		put_bytes(r, at, (size_t)sqlite3_column_bytes(row, column));
	}
}

void put_row(struct recorder *r, uint16_t statement, sqlite3_stmt *row, int first, int count)
{
	uint16_t values = (uint16_t)count;

	put_byte(r, 'R');
	put_bytes(r, &statement, sizeof(statement));
	put_bytes(r, &values, sizeof(values));
	for (int i = 0; i < count; i++)
		put_value(r, row, first + i);
}
