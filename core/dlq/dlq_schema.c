/*
 * The file jobs/NAME.db: its tables, version by version, and every statement that touches
 * them. Counts are kept by triggers beside the rows they count, so that no
 * path through the program can let them drift.
 */
#include "dlq/dlq_private.h"

static const char version_1[] =
	"CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	"INSERT INTO meta VALUES ('incarnation', lower(hex(randomblob(16))));"
	"CREATE TABLE origins (id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, kind TEXT, file TEXT);"

	/* Bodies lie apart: a listing reads the narrow table only. */
	"CREATE TABLE letters (id INTEGER PRIMARY KEY, origin INTEGER NOT NULL, place INTEGER NOT NULL, line INTEGER,"
	" grp INTEGER NOT NULL, state INTEGER NOT NULL, stage TEXT, code TEXT, message TEXT, tbl TEXT NOT NULL, col TEXT,"
	" path TEXT, key TEXT, key_hash INTEGER, weir_key BLOB, position BLOB, ordinals TEXT, message_id TEXT,"
	" publish TEXT, ordering_key TEXT, attrs BLOB, size INTEGER NOT NULL, sha256 TEXT, is_null INTEGER NOT NULL,"
	" is_big INTEGER NOT NULL, first INTEGER, last INTEGER, attempts INTEGER NOT NULL);"
	"CREATE TABLE bodies (letter INTEGER PRIMARY KEY, bytes BLOB NOT NULL);"
	"CREATE UNIQUE INDEX letters_by_place ON letters (origin, place);"
	"CREATE INDEX letters_by_group ON letters (grp);"
	"CREATE INDEX letters_by_key ON letters (grp, key_hash) WHERE key_hash IS NOT NULL;"
	"CREATE INDEX letters_that_need ON letters (tbl) WHERE state IN (0, 5);"

	"CREATE TABLE groups (id INTEGER PRIMARY KEY, code TEXT, stage TEXT, tbl TEXT, col TEXT, path TEXT,"
	" keys INTEGER NOT NULL, first INTEGER, last INTEGER, sample INTEGER, UNIQUE (code, stage, tbl, col, path));"
	"CREATE TABLE group_states (grp INTEGER, state INTEGER, count INTEGER, PRIMARY KEY (grp, state)) WITHOUT ROWID;"
	"CREATE TABLE table_states (tbl TEXT, state INTEGER, count INTEGER, PRIMARY KEY (tbl, state)) WITHOUT ROWID;"
	"CREATE TRIGGER letter_added AFTER INSERT ON letters BEGIN"
	" INSERT INTO group_states VALUES (new.grp, new.state, 1) ON CONFLICT DO UPDATE SET count = count + 1;"
	" INSERT INTO table_states VALUES (new.tbl, new.state, 1) ON CONFLICT DO UPDATE SET count = count + 1;"
	"END;"
	"CREATE TRIGGER letter_changed AFTER UPDATE OF grp, state, tbl ON letters"
	" WHEN old.grp <> new.grp OR old.state <> new.state OR old.tbl <> new.tbl BEGIN"
	" UPDATE group_states SET count = count - 1 WHERE grp = old.grp AND state = old.state;"
	" UPDATE table_states SET count = count - 1 WHERE tbl = old.tbl AND state = old.state;"
	" INSERT INTO group_states VALUES (new.grp, new.state, 1) ON CONFLICT DO UPDATE SET count = count + 1;"
	" INSERT INTO table_states VALUES (new.tbl, new.state, 1) ON CONFLICT DO UPDATE SET count = count + 1;"
	"END;"

	/* AUTOINCREMENT: a number is never used again, so "after this one" stays true when rows go. */
	"CREATE TABLE parked (id INTEGER PRIMARY KEY AUTOINCREMENT, origin INTEGER NOT NULL, place INTEGER NOT NULL,"
	" line INTEGER, tbl TEXT NOT NULL, stage TEXT, code TEXT, message TEXT, col TEXT, path TEXT, message_id TEXT,"
	" publish TEXT, ordering_key TEXT, attrs BLOB, size INTEGER NOT NULL, sha256 TEXT, is_null INTEGER NOT NULL,"
	" is_big INTEGER NOT NULL, received INTEGER, body BLOB NOT NULL);"
	"CREATE UNIQUE INDEX parked_by_place ON parked (origin, place);"
	"CREATE INDEX parked_by_table ON parked (tbl);"
	"CREATE TABLE parked_sums (tbl TEXT PRIMARY KEY, count INTEGER, bytes INTEGER) WITHOUT ROWID;"
	"CREATE TRIGGER parked_added AFTER INSERT ON parked BEGIN"
	" INSERT INTO parked_sums VALUES (new.tbl, 1, new.size)"
	"  ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + new.size;"
	"END;"
	"CREATE TRIGGER parked_removed AFTER DELETE ON parked BEGIN"
	" UPDATE parked_sums SET count = count - 1, bytes = bytes - old.size WHERE tbl = old.tbl;"
	"END;"

	/* NULL places differ from each other: a change without a message is always a new entry. */
	"CREATE TABLE timeline (id INTEGER PRIMARY KEY, tbl TEXT NOT NULL, version INTEGER, change TEXT, columns TEXT,"
	" origin INTEGER, place INTEGER, line INTEGER, message_id TEXT, publish TEXT, at INTEGER,"
	" UNIQUE (tbl, version, change, origin, place));"
	"CREATE TABLE notes (tbl TEXT, code TEXT, col TEXT, count INTEGER NOT NULL, fresh INTEGER NOT NULL, text TEXT,"
	" first INTEGER, last INTEGER, PRIMARY KEY (tbl, code, col)) WITHOUT ROWID;"
	"CREATE TABLE notes_of (id INTEGER PRIMARY KEY CHECK (id = 1), place INTEGER NOT NULL);"
	"CREATE TABLE job (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT, code TEXT, sentence TEXT, at INTEGER);"
	"CREATE TABLE paused (tbl TEXT PRIMARY KEY, since INTEGER NOT NULL, who TEXT, why TEXT) WITHOUT ROWID;"

	/* A run is one replay of a group. A claim says which run has a letter, and the state that it falls back to. */
	"CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT, grp INTEGER NOT NULL, rate INTEGER NOT NULL, who TEXT,"
	" started INTEGER NOT NULL, ended INTEGER, state TEXT NOT NULL, done INTEGER NOT NULL, no_effect INTEGER NOT NULL,"
	" failed_again INTEGER NOT NULL, left_over INTEGER NOT NULL);"
	"CREATE TABLE claims (letter INTEGER PRIMARY KEY, run INTEGER NOT NULL, before INTEGER NOT NULL);";

/* What this job has brought into the warehouse, so that a file that is missing or older is noticed. tbl '': commits. */
static const char version_2[] =
	"CREATE TABLE remembered (dataset TEXT, tbl TEXT, identity TEXT NOT NULL, level INTEGER NOT NULL,"
	" PRIMARY KEY (dataset, tbl)) WITHOUT ROWID;";

/* A listing goes through the letters of a group state by state; those of the last minute are at the end of the list of
 * times, in which every new letter comes last. */
static const char version_3[] =
	"DROP INDEX letters_by_group;"
	"CREATE INDEX letters_by_group ON letters (grp, state);"
	"CREATE INDEX letters_by_time ON letters (first, grp);"
	"ALTER TABLE letters ADD COLUMN committed INTEGER;";

/* What changed at the source and what was done about it, column by column. */
static const char version_4[] = "ALTER TABLE timeline ADD COLUMN steps TEXT;";

/* Letters on their way to the job's dead-letter table and folder, files that are whole but have not got their name, files that were
 * read and are not yet gone, letters that came back from the folder and are to be tried again (dlq_outbound.c). */
static const char version_5[] =
	"CREATE TABLE outbound (id INTEGER PRIMARY KEY AUTOINCREMENT, letter INTEGER NOT NULL, target INTEGER NOT NULL,"
	" at INTEGER NOT NULL);"
	"CREATE INDEX outbound_by_target ON outbound (target, id);"
	"CREATE TABLE files_made (scratch TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE files_read (path TEXT PRIMARY KEY) WITHOUT ROWID;"
	"CREATE TABLE due (letter INTEGER PRIMARY KEY);";

/* How often an entry of the folder was tried again; a letter that is met again after a kill was not. */
static const char version_6[] = "CREATE TABLE retried (letter INTEGER PRIMARY KEY, count INTEGER NOT NULL);";

/* Records of a parked message that the transform makes only once (record/kept.h). */
static const char version_7[] = "ALTER TABLE parked ADD COLUMN kept BLOB;";

/* What is kept beside messages takes room too, and a letter may have such records: those that were refused. */
static const char version_8[] =
	"ALTER TABLE letters ADD COLUMN kept BLOB;"
	"DROP TRIGGER parked_added; DROP TRIGGER parked_removed;"
	"CREATE TRIGGER parked_added AFTER INSERT ON parked BEGIN"
	" INSERT INTO parked_sums VALUES (new.tbl, 1, new.size + coalesce(length(new.kept), 0))"
	"  ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + new.size + coalesce(length(new.kept), 0);"
	"END;"
	"CREATE TRIGGER parked_removed AFTER DELETE ON parked BEGIN"
	" UPDATE parked_sums SET count = count - 1, bytes = bytes - old.size - coalesce(length(old.kept), 0) WHERE tbl = old.tbl;"
	"END;"
	"UPDATE parked_sums SET bytes = (SELECT coalesce(sum(size + coalesce(length(kept), 0)), 0) FROM parked p WHERE p.tbl = parked_sums.tbl);";

/* Parked messages of a table that have no rows of their own yet (dlq_pile.c). Their numbers are of the same sequence. */
static const char version_9[] =
	"CREATE TABLE piles (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, tbl TEXT NOT NULL, origin INTEGER NOT NULL,"
	" low INTEGER NOT NULL, high INTEGER NOT NULL, stage TEXT, code TEXT, message TEXT, body BLOB NOT NULL);"
	"CREATE INDEX piles_by_table ON piles (tbl, first);"
	"CREATE INDEX piles_by_place ON piles (origin, high);"
	"INSERT INTO sqlite_sequence (name, seq) SELECT 'parked', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'parked');";

static const char *const migrations[] = { version_1, version_2, version_3, version_4, version_5, version_6, version_7, version_8,
	                                  version_9 };

const struct store_kind dlq_kind = {
	.what = "store of dead letters",
	.application_id = 0x77646c71, /* "wdlq" */
	.version = 9,
	.migrations = migrations,
};

/* In the order of enum letter_column. */
#define LETTER_COLUMNS                                                                                              \
	"l.id, l.grp, l.state, l.stage, l.code, l.message, l.tbl, l.col, l.path, l.key, o.kind, o.file, l.line, l.place," \
	" l.message_id, l.publish, l.ordering_key, l.attrs, l.size, l.sha256, l.first, l.last, l.attempts, l.weir_key,"   \
	" l.position, l.ordinals, l.is_null, l.is_big, l.committed FROM letters l LEFT JOIN origins o ON o.id = l.origin "

/* "shop.orders" is meant by its whole name, or by "orders". */
#define IS_TABLE(column, typed) "(" column " = " typed " OR substr(" column ", -length(" typed ") - 1) = '.' || " typed ")"

/* Of what is parked: the table is neither paused nor one of a JSON list, or of none (NULL). */
#define IS_NOT_LEFT_OUT(column, list)                                                                                 \
	column " NOT IN (SELECT tbl FROM paused) AND " column " NOT IN (SELECT value FROM json_each(" list "))"

#define PARKED_COLUMNS                                                                                               \
	"id, origin, place, line, message_id, publish, ordering_key, attrs, size, sha256, is_null, is_big, received, body," \
	" kept FROM parked "

#define PILE_COLUMNS "first, tbl, origin, stage, code, message, body FROM piles "

const char *const dlq_sql[DLQ_STATEMENTS] = {
	[ORIGIN_ADD] = "INSERT INTO origins (identity, kind, file) VALUES (?1, ?2, ?3)"
	               " ON CONFLICT (identity) DO UPDATE SET kind = ?2, file = ?3",
	[ORIGIN_FIND] = "SELECT id FROM origins WHERE identity = ?1",

	[LETTER_FIND] = "SELECT id, grp, state, key_hash FROM letters WHERE origin = ?1 AND place = ?2",
	[LETTER_ADD] = "INSERT INTO letters (origin, place, line, grp, state, stage, code, message, tbl, col, path, key,"
	               " key_hash, weir_key, position, ordinals, committed, message_id, publish, ordering_key, attrs, size,"
	               " sha256, is_null, is_big, first, last, attempts, kept) VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10,"
	               " ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?25, 1, ?26)",
	[LETTER_AGAIN] = "UPDATE letters SET last = max(last, ?2), attempts = attempts + 1 WHERE id = ?1",
	[LETTER_CHANGE] = "UPDATE letters SET grp = ?2, stage = ?3, code = ?4, message = ?5, tbl = ?6, col = ?7, path = ?8,"
	                  " key = ?9, key_hash = ?10, weir_key = ?11, position = ?12, ordinals = ?13, committed = ?14,"
	                  " kept = CASE WHEN ?15 OR length(?16) > 0 THEN ?16 ELSE kept END WHERE id = ?1",
	[LETTER_SET_STATE] = "UPDATE letters SET state = ?2 WHERE id = ?1",
	[LETTER_COUNT] = "SELECT (SELECT coalesce(sum(CASE WHEN o.kind = 'pubsub' THEN l.attempts ELSE 1 END), 0) FROM letters l"
	                 " LEFT JOIN origins o ON o.id = l.origin) - (SELECT count(*) FROM letters WHERE place >= ?2 AND"
	                 " origin = (SELECT id FROM origins WHERE identity = ?1))",
	[BODY_ADD] = "INSERT INTO bodies (letter, bytes) VALUES (?1, ?2)",

	[GROUP_FIND] = "SELECT id FROM groups WHERE code = ?1 AND stage = ?2 AND tbl = ?3 AND col = ?4 AND path = ?5",
	[GROUP_LAST] = "SELECT max(id) FROM groups",
	[GROUP_ADD] = "INSERT INTO groups (code, stage, tbl, col, path, keys) VALUES (?1, ?2, ?3, ?4, ?5, 0)",
	[GROUP_HAS_KEY] = "SELECT 1 FROM letters WHERE grp = ?1 AND key_hash = ?2 LIMIT 1",
	[GROUP_GREW] = "UPDATE groups SET keys = keys + ?2, first = min(coalesce(first, ?3), ?3),"
	               " last = max(coalesce(last, ?3), ?3), sample = min(coalesce(sample, ?4), ?4) WHERE id = ?1",
	[GROUP_SHRANK] = "UPDATE groups SET keys = keys - ?2, sample = (SELECT min(id) FROM letters WHERE grp = ?1)"
	                 " WHERE id = ?1",

	[PARK_ADD] = "INSERT INTO parked (id, origin, place, line, tbl, stage, code, message, col, path, message_id, publish,"
	             " ordering_key, attrs, size, sha256, is_null, is_big, received, body, kept) VALUES (?21, ?1, ?2, ?3, ?4, ?5, ?6,"
	             " ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) ON CONFLICT (origin, place) DO"
	             " NOTHING",
	[PARK_LINE] = "SELECT line FROM parked WHERE origin = ?1 AND place = ?2",
	[PARK_SUM_ADD] = "INSERT INTO parked_sums VALUES (?1, ?2, ?3)"
	                 " ON CONFLICT DO UPDATE SET count = count + ?2, bytes = bytes + ?3",
	/* By the index of each table that is not left out: however much others have parked, none of it is read. */
	[PARK_FIRST] = "SELECT min(id) FROM (SELECT (SELECT p.id FROM parked p WHERE p.tbl = s.tbl AND p.id > ?1 ORDER BY p.id"
	               " LIMIT 1) AS id FROM parked_sums s WHERE s.count > 0 AND " IS_NOT_LEFT_OUT("s.tbl", "?2")
	               " UNION ALL SELECT (SELECT min(l.first) FROM piles l WHERE l.tbl = s.tbl AND l.first > ?1)"
	               " FROM parked_sums s WHERE s.count > 0 AND " IS_NOT_LEFT_OUT("s.tbl", "?2") ")",
	[PARK_NEWEST] = "SELECT seq FROM sqlite_sequence WHERE name = 'parked'",
	[PARK_SET_NEWEST] = "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'parked'",
	[PARK_BETWEEN] = "SELECT 1 FROM parked WHERE origin = ?1 AND place BETWEEN ?2 AND ?3 LIMIT 1",
	[PARK_NEXT] = "SELECT " PARKED_COLUMNS "WHERE id >= ?1 AND id < ?3 AND " IS_NOT_LEFT_OUT("tbl", "?2") " ORDER BY id",
	[PARK_FORGET] = "DELETE FROM parked WHERE place >= ?2 AND origin = (SELECT id FROM origins WHERE identity = ?1)"
	                " AND place >= coalesce((SELECT value FROM json_each(?3) WHERE key = tbl), ?2)",
	[PARK_DONE] = "DELETE FROM parked WHERE id = ?1",
	[PARK_WHY] = "SELECT code, message FROM (SELECT * FROM (SELECT id, code, message FROM parked WHERE tbl = ?1 AND stage = 'write'"
	             " ORDER BY id DESC LIMIT 1) UNION ALL SELECT * FROM (SELECT last, code, message FROM piles WHERE tbl = ?1"
	             " AND stage = 'write' ORDER BY first DESC LIMIT 1)) ORDER BY id DESC LIMIT 1",
	[PARK_SUM] = "SELECT coalesce(sum(count), 0), coalesce(sum(bytes), 0) FROM parked_sums WHERE ?1 IS NULL OR tbl = ?1",

	[PILE_ADD] = "INSERT INTO piles (first, last, tbl, origin, low, high, stage, code, message, body)"
	             " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[PILE_DROP] = "DELETE FROM piles WHERE first = ?1",
	[PILE_ANY] = "SELECT 1 FROM parked_sums s WHERE s.count > 0 AND " IS_NOT_LEFT_OUT("s.tbl", "?2")
	             " AND EXISTS (SELECT 1 FROM piles l WHERE l.tbl = s.tbl AND l.first < ?1) LIMIT 1",
	[PILE_AT] = "SELECT " PILE_COLUMNS "WHERE origin = ?1 AND high >= ?2 AND low <= ?3 ORDER BY first LIMIT 1",
	[PILE_BEFORE] = "SELECT " PILE_COLUMNS "WHERE first < ?1 AND first = (SELECT min((SELECT min(l.first) FROM piles l"
	                " WHERE l.tbl = s.tbl)) FROM parked_sums s WHERE s.count > 0 AND " IS_NOT_LEFT_OUT("s.tbl", "?2") ")",

	[LIST_ALL] = "SELECT " LETTER_COLUMNS "WHERE l.id > ?1 ORDER BY l.id LIMIT ?2",
	[LIST_ALL_BACK] = "SELECT " LETTER_COLUMNS "WHERE l.id < ?1 ORDER BY l.id DESC LIMIT ?2",
	[LIST_ONE] = "SELECT " LETTER_COLUMNS "WHERE l.id = ?1",
	[LIST_FIRST] = "SELECT " LETTER_COLUMNS "WHERE l.tbl = ?1 AND l.state IN (0, 5) ORDER BY l.id LIMIT 1",
	[LIST_HEAD] = "SELECT substr(bytes, 1, 65536) FROM bodies WHERE letter = ?1",
	[LIST_BODY] = "SELECT bytes FROM bodies WHERE letter = ?1",
	[LIST_GROUPS] = "SELECT id, stage, code, tbl, col, keys, first, last, sample FROM groups WHERE id > ?1 ORDER BY id"
	                " LIMIT ?2",
	/* Counted by who asks: SQLite would sort them first. */
	[LIST_LATE] = "SELECT grp FROM letters WHERE first >= ?1",
	[PAIR_LIST] = "SELECT s.grp, s.state, s.count, g.stage = '' FROM group_states s JOIN groups g ON g.id = s.grp"
	              " WHERE s.count > 0 AND (?1 IS NULL OR g.code = ?1)"
	              " AND (?2 IS NULL OR g.stage = '' OR " IS_TABLE("g.tbl", "?2") ") ORDER BY s.grp, s.state",
	[PAIR_IDS] = "SELECT id FROM letters WHERE grp = ?1 AND state = ?2 AND id > ?3"
	             " AND (?4 IS NULL OR " IS_TABLE("tbl", "?4") ") ORDER BY id LIMIT ?5",
	[PAIR_IDS_BACK] = "SELECT id FROM letters WHERE grp = ?1 AND state = ?2 AND id < ?3"
	                  " AND (?4 IS NULL OR " IS_TABLE("tbl", "?4") ") ORDER BY id DESC LIMIT ?5",
	[PAIR_COUNT] = "SELECT count(*) FROM letters WHERE grp = ?1 AND state = ?2 AND " IS_TABLE("tbl", "?3"),
	[PAIR_DISCARD] = "UPDATE letters SET state = 7 WHERE grp = ?1 AND state = ?2 AND (?3 IS NULL OR " IS_TABLE("tbl", "?3") ")",
	[TROUBLES] = "SELECT g.tbl, g.id, g.code, g.col, g.first, g.sample, sum(s.count) AS n FROM groups g"
	             " JOIN group_states s ON s.grp = g.id AND s.state IN (0, 5) AND s.count > 0 WHERE ?1 IS NULL OR g.tbl = ?1"
	             " GROUP BY g.id ORDER BY n, g.id DESC", /* the last one is taken: of as many letters the older group */
	[COUNT_STATES] = "SELECT state, sum(count) FROM table_states WHERE ?1 IS NULL OR tbl = ?1 GROUP BY state",

	[TIMELINE_ADD] = "INSERT INTO timeline (tbl, version, change, columns, origin, place, line, message_id, publish, at, steps)"
	                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
	[TIMELINE_LIST] = "SELECT t.tbl, t.version, t.change, t.columns, o.kind, o.file, t.line, t.place, t.message_id,"
	                  " t.publish, t.at, t.steps FROM timeline t LEFT JOIN origins o ON o.id = t.origin"
	                  " WHERE ?1 IS NULL OR t.tbl = ?1 ORDER BY t.id",
	/* What a batch counted is fresh until the next batch shows that it was committed. */
	[NOTE_ADD] = "INSERT INTO notes (tbl, code, col, count, fresh, text, first, last) VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?6)"
	             " ON CONFLICT DO UPDATE SET fresh = fresh + ?4, text = ?5, last = ?6 RETURNING count = 0 AND fresh = ?4",
	[NOTE_PLACE] = "SELECT place FROM notes_of WHERE id = 1",
	[NOTE_SET_PLACE] = "INSERT OR REPLACE INTO notes_of (id, place) VALUES (1, ?1)",
	[NOTE_KEEP] = "UPDATE notes SET count = count + fresh, fresh = 0 WHERE fresh > 0",
	[NOTE_DROP] = "UPDATE notes SET fresh = 0 WHERE fresh > 0",
	/* What counts values. The others tell of a table once, and reading its messages again tells them not again. */
	[NOTE_RECOUNT] = "UPDATE notes SET count = 0, fresh = 0 WHERE code IN ('value_not_representable', 'unknown_column', 'unknown_field')",
	[NOTE_OVER] = "DELETE FROM notes WHERE tbl = ?1 AND code = ?2",
	[NOTE_LIST] = "SELECT tbl, code, col, count + fresh, text, first, last FROM notes"
	              " WHERE (?1 IS NULL OR tbl = ?1) AND count + fresh > 0 ORDER BY tbl, first, code, col",

	[PAUSE_ADD] = "INSERT INTO paused (tbl, since, who, why) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
	[PAUSE_DROP] = "DELETE FROM paused WHERE tbl = ?1",
	[PAUSE_LIST] = "SELECT tbl, since, who, why FROM paused WHERE ?1 IS NULL OR tbl = ?1 ORDER BY tbl",

	[RUN_ADD] = "INSERT INTO runs (grp, rate, who, started, state, done, no_effect, failed_again, left_over)"
	            " VALUES (?1, ?2, ?3, ?4, 'running', 0, 0, 0, 0)",
	/* States new and failed again. A body that lies apart, or a line that the source refused, is no message. */
	[RUN_CLAIM] = "INSERT INTO claims (letter, run, before) SELECT id, ?1, state FROM letters WHERE grp = ?2"
	              " AND state IN (0, 5) AND (?3 >> state) & 1 AND is_big = 0 AND stage <> 'source'",
	[RUN_AHEAD] = "SELECT count(*) FROM letters WHERE grp = ?1 AND state IN (0, 5) AND (?2 >> state) & 1 AND is_big = 0"
	              " AND stage <> 'source'",
	[RUN_MARK] = "UPDATE letters SET state = 2 WHERE id IN (SELECT letter FROM claims WHERE run = ?1)",
	[RUN_UNFIT] = "SELECT count(*) FROM letters WHERE grp = ?1 AND state IN (0, 5) AND (?2 >> state) & 1",
	[RUN_NEXT] = "SELECT l.id, l.origin, l.place, l.line, l.message_id, l.publish, l.ordering_key, l.attrs, l.size,"
	             " l.sha256, l.is_null, l.is_big, l.first, b.bytes,"
	             " CASE l.stage WHEN 'folder' THEN l.message ELSE l.code || ': ' || l.message END,"
	             " coalesce((SELECT count FROM retried r WHERE r.letter = l.id), 0) + 1, l.kept FROM claims c JOIN letters l ON l.id = c.letter"
	             " JOIN bodies b ON b.letter = c.letter WHERE c.run = ?1 AND c.letter > ?2 ORDER BY c.letter LIMIT 1",
	[RUN_OUTCOME] = "UPDATE letters SET state = ?2, attempts = attempts + ?3 WHERE id = ?1",
	[RUN_FALL_BACK] = "UPDATE letters SET state = (SELECT before FROM claims WHERE letter = ?1)"
	                  " WHERE id = ?1 AND EXISTS (SELECT 1 FROM claims WHERE letter = ?1)",
	[RUN_UNCLAIM] = "DELETE FROM claims WHERE letter = ?1",
	[RUN_COUNT] = "UPDATE runs SET done = done + ?2, no_effect = no_effect + ?3, failed_again = failed_again + ?4,"
	              " left_over = left_over + ?5 WHERE id = ?1",
	[RUN_FREE] = "UPDATE letters SET state = (SELECT before FROM claims WHERE letter = letters.id)"
	             " WHERE id IN (SELECT letter FROM claims WHERE run = ?1)",
	[RUN_DROP_CLAIMS] = "DELETE FROM claims WHERE run = ?1",
	[RUN_END] = "UPDATE runs SET state = ?2, ended = ?3, left_over = left_over + ?4 WHERE id = ?1",
	[RUN_GET] = "SELECT grp, rate, done, no_effect, failed_again, left_over FROM runs WHERE id = ?1",
	[RUN_STALE] = "SELECT id FROM runs WHERE state = 'running' AND id <> ?1 LIMIT 1",

	[OUTBOUND_ADD] = "INSERT INTO outbound (letter, target, at) VALUES (?1, ?2, ?3)",
	[OUTBOUND_NEXT] = "SELECT l.id, l.origin, l.place, l.line, l.message_id, l.publish, l.ordering_key, l.attrs, l.size,"
	                  " l.sha256, l.is_null, l.is_big, l.first, b.bytes, q.id,"
	                  " coalesce((SELECT count FROM retried r WHERE r.letter = l.id), 0), l.stage, l.code, l.message, l.tbl,"
	                  " o.file FROM outbound q JOIN letters l ON l.id = q.letter JOIN bodies b ON b.letter = q.letter"
	                  " LEFT JOIN origins o ON o.id = l.origin WHERE q.target = ?1 AND q.id > ?2 ORDER BY q.id LIMIT 1",
	[OUTBOUND_DONE] = "DELETE FROM outbound WHERE target = ?1 AND id <= ?2",
	[OUTBOUND_OLDEST] = "SELECT at FROM outbound WHERE target = ?1 ORDER BY id LIMIT 1",
	[FILE_ADD] = "INSERT OR REPLACE INTO files_made (scratch, name) VALUES (?1, ?2)",
	[FILE_DROP] = "DELETE FROM files_made WHERE scratch = ?1",
	[FILE_FIRST] = "SELECT scratch, name FROM files_made LIMIT 1",
	[INBOUND_ADD] = "INSERT INTO files_read (path) VALUES (?1)",
	[INBOUND_DROP] = "DELETE FROM files_read WHERE path = ?1",
	[INBOUND_FIND] = "SELECT 1 FROM files_read WHERE path = ?1",
	[DUE_ADD] = "INSERT OR IGNORE INTO due (letter) VALUES (?1)",
	[DUE_DROP] = "DELETE FROM due WHERE letter = ?1",
	[DUE_COUNT] = "SELECT count(*) FROM due d JOIN letters l ON l.id = d.letter WHERE l.state IN (0, 5)",
	[DUE_CLAIM] = "INSERT INTO claims (letter, run, before) SELECT l.id, ?1, l.state FROM due d JOIN letters l ON l.id = d.letter"
	              " WHERE l.state IN (0, 5) AND l.is_big = 0",
	[LETTER_BODY] = "SELECT l.state, b.bytes FROM letters l JOIN bodies b ON b.letter = l.id WHERE l.id = ?1",
	[LETTER_RESIZE] = "UPDATE letters SET size = ?2, sha256 = ?3 WHERE id = ?1",
	[RETRIED_SET] = "INSERT OR REPLACE INTO retried (letter, count) VALUES (?1, ?2)",
	[RETRIED_MORE] = "INSERT INTO retried (letter, count) VALUES (?1, 1) ON CONFLICT DO UPDATE SET count = count + 1",
	[BODY_CHANGE] = "UPDATE bodies SET bytes = ?2 WHERE letter = ?1",
	[PLACE_NEXT] = "SELECT coalesce(max(id), 0) + 1 FROM letters",

	/* Open: new, planned, failed again, set aside. */
	[OPEN_ONE] = "SELECT count(*) FROM letters WHERE id = ?1 AND state IN (0, 1, 5, 6)",
	[DISCARD_ONE] = "UPDATE letters SET state = 7 WHERE id = ?1 AND state IN (0, 1, 5, 6)",
	[GROUP_KNOWN] = "SELECT 1 FROM groups WHERE id = ?1",

	[JOB_SET] = "INSERT INTO job (id, state, code, sentence, at) VALUES (1, ?1, ?2, ?3, ?4)"
	            " ON CONFLICT DO UPDATE SET state = ?1, code = ?2, sentence = ?3, at = ?4",
	[JOB_GET] = "SELECT state, code, sentence FROM job WHERE id = 1",
	/* Only news is written. */
	[REMEMBER] = "INSERT INTO remembered (dataset, tbl, identity, level) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE"
	             " SET identity = ?3, level = ?4 WHERE identity <> ?3 OR level <> ?4",
	[REMEMBERED] = "SELECT tbl, identity, level FROM remembered WHERE dataset = ?1 ORDER BY tbl",
	[FORGET] = "DELETE FROM remembered WHERE dataset = ?1 AND tbl = ?2",
	[PUBLISHED_GET] = "SELECT value FROM meta WHERE name = ?1",
	[PUBLISHED_SET] = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
	[INCARNATION] = "SELECT value FROM meta WHERE name = 'incarnation'",
};
