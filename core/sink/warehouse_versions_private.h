/*
 * The tables that a warehouse's file has of our own, version by version. Books that lie elsewhere (bigquery_books.c) are
 * made of the same statements, so that the same code reads and writes them.
 */
#ifndef WEIR_SINK_WAREHOUSE_VERSIONS_PRIVATE_H
#define WEIR_SINK_WAREHOUSE_VERSIONS_PRIVATE_H

#define WAREHOUSE_V1 \
	"CREATE TABLE _weir_position(" \
	"job TEXT PRIMARY KEY, incarnation TEXT NOT NULL, identity BLOB NOT NULL, byte_offset INTEGER NOT NULL, " \
	"line INTEGER NOT NULL, unparked BLOB NOT NULL) WITHOUT ROWID;" \
	"CREATE TABLE _weir_ledger(" \
	"job TEXT, number INTEGER, table_name TEXT NOT NULL, received INTEGER NOT NULL, written INTEGER NOT NULL, " \
	"filtered INTEGER NOT NULL, dead_lettered INTEGER NOT NULL, parked INTEGER NOT NULL, " \
	"repeated INTEGER NOT NULL, row_count INTEGER NOT NULL, PRIMARY KEY(job, number)) WITHOUT ROWID;" \
	"CREATE TABLE _weir_tables(" \
	"job TEXT, number INTEGER, source TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, " \
	"notes INTEGER NOT NULL, changelog TEXT, has_history_index INTEGER NOT NULL, history TEXT NOT NULL, " \
	"PRIMARY KEY(job, number)) WITHOUT ROWID;" \
	"CREATE TABLE _weir_columns(" \
	"table_name TEXT, part TEXT, ordinal INTEGER, name TEXT NOT NULL, source_name TEXT NOT NULL, " \
	"type TEXT NOT NULL, key_ordinal INTEGER NOT NULL, is_provisional INTEGER NOT NULL, " \
	"is_inferred INTEGER NOT NULL, is_wide INTEGER NOT NULL, PRIMARY KEY(table_name, part, ordinal)) WITHOUT ROWID;" \
	"CREATE TABLE _weir_replica(" \
	"table_name TEXT PRIMARY KEY, dataset TEXT, changelog TEXT, watermark INTEGER NOT NULL, " \
	"hidden BLOB NOT NULL, dropped BLOB NOT NULL, newest BLOB NOT NULL) WITHOUT ROWID;" \
	"CREATE TABLE _weir_deleted(" \
	"table_name TEXT, key BLOB, position BLOB NOT NULL, deleted_row TEXT, PRIMARY KEY(table_name, key)) WITHOUT ROWID;" \
	"CREATE TABLE _weir_unavailable(" \
	"table_name TEXT, key BLOB, column_name TEXT, PRIMARY KEY(table_name, key, column_name)) WITHOUT ROWID;"

/* What a job's store remembers of its files can be told from what is there (local_lost.c). */
#define WAREHOUSE_V2 \
	"ALTER TABLE _weir_position ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;" \
	"ALTER TABLE _weir_tables ADD COLUMN identity TEXT NOT NULL DEFAULT '';" \
	"ALTER TABLE _weir_replica ADD COLUMN made_from TEXT NOT NULL DEFAULT '';" \
	"UPDATE _weir_tables SET identity = lower(hex(randomblob(16)));"

/* Schema changes that reach the rows of a replica (local_alter.c). */
#define WAREHOUSE_V3 \
	"CREATE TABLE _weir_altered(" \
	"table_name TEXT, position BLOB, change TEXT NOT NULL, row_count INTEGER NOT NULL, " \
	"PRIMARY KEY(table_name, position)) WITHOUT ROWID;"

/* A log that goes back while nobody looks (transform/history.c). */
#define WAREHOUSE_V4 \
	"ALTER TABLE _weir_position ADD COLUMN logs TEXT NOT NULL DEFAULT '';"

/* A number that a turned bit has made another one (local_digest.c). */
#define WAREHOUSE_V5 \
	"ALTER TABLE _weir_position ADD COLUMN digest BLOB NOT NULL DEFAULT x'';" \
	"ALTER TABLE _weir_ledger ADD COLUMN digest BLOB NOT NULL DEFAULT x'';"

/* Jobs whose messages choose their dataset (local_many.c). */
#define WAREHOUSE_V6 \
	"CREATE TABLE _weir_datasets(" \
	"job TEXT, number INTEGER, dataset TEXT NOT NULL, commits INTEGER NOT NULL, PRIMARY KEY(job, number)) WITHOUT ROWID;" \
	"CREATE TABLE _weir_order(" \
	"job TEXT, number INTEGER, source TEXT NOT NULL, PRIMARY KEY(job, number)) WITHOUT ROWID;"

#endif
