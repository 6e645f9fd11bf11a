/*
 * Random small histories of one table, delivered shuffled, doubled, in random
 * batches with merges between them, against what the source itself would hold.
 * After every merge the replica must equal the rebuild by SQL.
 *
 *   WEIR_SEED=N repeats one; WEIR_ROUNDS=N makes more; WEIR_SEEDS=N says where they begin.
 */
#include "sink/merger_private.h"
#include "unit/local_help.h"

#include <time.h>

#define KEYS 5
#define EVENTS_MOST 60

struct row {
	bool is_there;
	int a;          /* below 0: text, after the widening */
	int big;
	int moved;      /* in whichever of p, q, r has it now */
	int set, filled; /* 0: NULL */
	int milli;      /* column d: a decimal of three digits behind the point, until a type takes some away */
};

struct event {
	enum operation operation;
	uint64_t at;
	uint8_t ordinal;
	int key, old_key; /* -1: none */
	struct row row;
	bool is_unavailable;
	bool is_text;     /* column a is written as text */
	int name;         /* 0 to 2: p, q or r has the value that is moved */
	bool has_set, has_filled; /* the table has these columns */
	char alter[160];   /* OP_ALTER: what it does to rows below */
};

struct history {
	struct event events[EVENTS_MOST * 3];
	size_t count;
	struct row rows[KEYS];
	uint64_t at;
	int values;
	bool is_wide;
	int name;
	bool has_set, has_filled;
	bool has_alters;
	bool has_text_key; /* then the replica is a table without rowid */
};

static uint64_t random_state;

static unsigned dice(unsigned sides)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % sides;
}

static void event_add(struct history *h, enum operation operation, int key, int old_key, uint8_t ordinal,
                      bool is_unavailable)
{
	struct event *event = &h->events[h->count++];

	*event = (struct event){ operation, h->at, ordinal, key, old_key, { 0 }, is_unavailable, h->is_wide, h->name,
	                         h->has_set, h->has_filled, "" };
	if (key >= 0)
		event->row = h->rows[key];
}

static void row_change(struct history *h, int key)
{
	bool keeps_big = h->rows[key].is_there && dice(2);

	if (!keeps_big)
		h->rows[key].big = ++h->values;
	h->rows[key].a = ++h->values;
	if (!h->rows[key].is_there || dice(2))
		h->rows[key].moved = ++h->values;
	if (!h->rows[key].is_there || dice(2))
		h->rows[key].set = h->has_set && dice(3) ? ++h->values : 0;
	if (!h->rows[key].is_there || dice(2))
		h->rows[key].filled = h->has_filled && dice(3) ? ++h->values : 0;
	if (!h->rows[key].is_there || dice(2))
		h->rows[key].milli = (int)dice(30000) - 15000;
	event_add(h, h->rows[key].is_there ? OP_UPDATE : dice(4) ? OP_INSERT : OP_READ, key, -1, 0, keeps_big);
	h->rows[key].is_there = true;
}

static void key_change(struct history *h, int key)
{
	int to = (int)dice(KEYS);
	bool keeps_big = dice(3);

	if (h->rows[to].is_there)
		return;
	event_add(h, OP_DELETE, key, -1, 0, false);
	h->rows[to] = h->rows[key];
	h->rows[key].is_there = false;
	if (!keeps_big)
		h->rows[to].big = ++h->values;
	event_add(h, OP_INSERT, to, key, 1, keeps_big);
}

/* Half away from zero. */
static int rounded(int milli, int unit)
{
	int half = milli < 0 ? -unit / 2 : unit / 2;

	return unit == 1 ? milli : (milli + half) / unit * unit;
}

static const char *decimal_text(int milli)
{
	static char text[32];
	size_t len;

	snprintf(text, sizeof(text), "%s%d.%03d", milli < 0 ? "-" : "", abs(milli) / 1000, abs(milli) % 1000);
	for (len = strlen(text); text[len - 1] == '0'; len--)
		text[len - 1] = '\0';
	if (text[len - 1] == '.')
		text[len - 1] = '\0';
	return text;
}

/* Columns take each other's names, a column is added (or added anew) with a default, or first appears with one. */
static void alter(struct history *h)
{
	int to = (h->name + 1 + (int)dice(2)) % 3, set = 0, filled = 0;
	bool moves = dice(2), casts = dice(4) == 0;
	int scale = (int)dice(4), unit = scale == 0 ? 1000 : scale == 1 ? 100 : scale == 2 ? 10 : 1;
	struct event *event;

	if (dice(2))
		set = ++h->values;
	if (!h->has_filled && dice(3) == 0)
		filled = ++h->values;
	for (int i = 0; i < KEYS; i++) {
		h->rows[i].set = set ? set : h->rows[i].set;
		h->rows[i].filled = filled ? filled : h->rows[i].filled;
		h->rows[i].milli = casts ? rounded(h->rows[i].milli, unit) : h->rows[i].milli;
	}
	event_add(h, OP_ALTER, -1, -1, 0, false);
	event = &h->events[h->count - 1];
	snprintf(event->alter, sizeof(event->alter), "{\"move\":{");
	if (moves)
		snprintf(event->alter + strlen(event->alter), 30, "\"%c\":\"%c\"", 'p' + h->name, 'p' + to);
	if (casts)
		snprintf(event->alter + strlen(event->alter), 40, "},\"cast\":{\"d\":\"decimal:%d\"", scale);
	snprintf(event->alter + strlen(event->alter), 30, set ? "},\"set\":{\"s\":%d}" : "},\"set\":{}", set);
	snprintf(event->alter + strlen(event->alter), 30, filled ? ",\"fill\":{\"f\":%d}}" : ",\"fill\":{}}", filled);
	h->name = moves ? to : h->name;
	h->has_set |= set > 0;
	h->has_filled |= filled > 0;
}

static void step(struct history *h, bool has_table_events)
{
	int key = (int)dice(KEYS);

	h->at++;
	if (h->has_alters && dice(6) == 0) {
		alter(h);
		return;
	}
	if (has_table_events && dice(12) == 0) {
		event_add(h, dice(2) ? OP_TRUNCATE : OP_DROP, -1, -1, 0, false);
		for (int i = 0; i < KEYS; i++)
			h->rows[i].is_there = false;
	} else if (!h->rows[key].is_there || dice(2)) {
		row_change(h, key);
	} else if (dice(2)) {
		key_change(h, key);
	} else {
		event_add(h, OP_DELETE, key, -1, 0, false);
		h->rows[key].is_there = false;
	}
}

static void history_make(struct history *h, bool has_table_events)
{
	unsigned steps = 3 + dice(EVENTS_MOST - 3);
	unsigned wide_at = dice(steps * 2);

	memset(h, 0, sizeof(*h));
	h->has_text_key = dice(3) == 0;
	h->has_alters = dice(2);
	h->at = 10;
	for (unsigned i = 0; i < steps; i++) {
		h->is_wide = i >= wide_at;
		step(h, has_table_events);
	}
	/* Without placeholders a step need not hold all of its rows. */
	for (size_t i = 0, all = dice(2); all && i < h->count; i++)
		h->events[i].is_unavailable = false;
}

/* Some come twice; each may move up to `reach` places. */
static void deliver(struct history *h, unsigned reach, bool doubles)
{
	size_t count = h->count;

	for (size_t i = 0; doubles && i < count && h->count < EVENTS_MOST * 3 - 1; i++) {
		if (dice(6) == 0)
			h->events[h->count++] = h->events[i];
	}
	for (size_t i = 0; reach && i + 1 < h->count; i++) {
		size_t j = i + dice(reach);
		struct event swap = h->events[i];

		if (j >= h->count)
			continue;
		h->events[i] = h->events[j];
		h->events[j] = swap;
	}
}

/* With WEIR_SEED: what is delivered, to be read beside a failure. */
static void history_print(const struct history *h)
{
	for (size_t i = 0; getenv("WEIR_SEED") && i < h->count; i++) {
		const struct event *e = &h->events[i];

		print_message("%3llu.%d %-8s key %2d old %2d a %d big %d%s%s %s\n", (unsigned long long)e->at, e->ordinal,
		              operation_names[e->operation], e->key, e->old_key, e->row.a, e->row.big,
		              e->is_unavailable ? " unavailable" : "", e->is_text ? " text" : "", e->alter);
	}
}

static void schema_say(struct world *world, const struct history *h, bool is_wide, uint32_t version)
{
	const char *columns[][2] = { { "id", h->has_text_key ? "STRING" : "INT64" }, { "a", is_wide ? "STRING" : "INT64" },
		                     { "big", "STRING" }, { "p", "INT64" }, { "q", "INT64" }, { "r", "INT64" },
		                     { "s", "INT64" }, { "f", "INT64" }, { "d", "NUMERIC" }, { "new", "BYTES" } };

	batch_add_change(world->batch, 0, schema_of(world->batch, "order", version, columns, is_wide ? 10 : 9, 1), "test");
}

static struct span key_number(struct world *world, int key)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", key);
	return key_one(world->batch, text);
}

static void member_put(char more[128], bool is_there, char name, int value)
{
	size_t len = strlen(more);

	if (is_there)
		snprintf(more + len, 128 - len, value ? ",\"%c\":%d" : ",\"%c\":null", name, value);
}

static void event_put(struct world *world, const struct history *h, const struct event *event)
{
	char json[400] = "";
	char big[64], more[128];
	struct record *record;

	snprintf(big, sizeof(big), event->is_unavailable ? "null" : "\"\\u0000'x%d\\\"\"", event->row.big);
	snprintf(more, sizeof(more), ",\"%c\":%d,\"d\":\"%s\"", 'p' + event->name, event->row.moved,
	         decimal_text(event->row.milli));
	member_put(more, event->has_set, 's', event->row.set);
	member_put(more, event->has_filled, 'f', event->row.filled);
	if (event->operation == OP_ALTER)
		snprintf(json, sizeof(json), "%s", event->alter);
	else if (event->key >= 0)
		snprintf(json, sizeof(json),
		         event->is_text ? "{\"id\":%s%d%s,\"a\":\"%d\",\"big\":%s%s}" : "{\"id\":%s%d%s,\"a\":%d,\"big\":%s%s}",
		         h->has_text_key ? "\"" : "", event->key, h->has_text_key ? "\"" : "", event->row.a, big, more);
	record = put(world, event->operation, event->at, event->ordinal,
	             event->key < 0 ? (struct span){ 0 } : key_number(world, event->key),
	             event->operation != OP_ALTER && (event->key < 0 || event->operation == OP_DELETE) ? NULL : json);
	if (event->old_key >= 0)
		record->old_key = key_number(world, event->old_key);
	if (event->is_unavailable)
		record->unavailable = SPAN("[\"big\"]");
}

/* big is NUL, quote, x, number, quote: the number between the fixed bytes. */
#define ROWS_SQL "SELECT id, CAST(a AS TEXT), '2778' || substr(CAST(big AS BLOB), 4, length(CAST(big AS BLOB)) - 4) || '22', " \
                 "hex(substr(CAST(big AS BLOB), 1, 3)), p, q, r, s, f, d FROM \"order\" ORDER BY id"

static void number_put(char text[2048], size_t *len, int number)
{
	*len += (size_t)snprintf(text + *len, 2048 - *len, number ? "|%d" : "|NULL", number);
}

static const char *expected_rows(const struct history *h)
{
	static char text[2048];
	size_t len = 0;

	text[0] = '\0';
	for (int i = 0; i < KEYS; i++) {
		const struct row *row = &h->rows[i];

		if (!row->is_there)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d|%d|2778%d22|002778", len ? "\n" : "", i, row->a,
		                        row->big);
		for (int name = 0; name < 3; name++)
			number_put(text, &len, name == h->name ? row->moved : 0);
		number_put(text, &len, row->set);
		number_put(text, &len, row->filled);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "|%s", decimal_text(row->milli));
	}
	return text;
}

static void check_equal(struct world *world, uint64_t seed)
{
	struct verified verified;

	if (!verify(world, &verified))
		fail_msg("seed %llu: %s", (unsigned long long)seed, verified.difference);
}

/* A row event in or behind the newest DROP has made the table again. */
static bool is_made_again(const struct history *h)
{
	uint64_t dropped = 0, newest = 0;

	for (size_t i = 0; i < h->count; i++) {
		if (h->events[i].operation == OP_DROP && h->events[i].at > dropped)
			dropped = h->events[i].at;
		if (h->events[i].key >= 0 && h->events[i].operation != OP_DELETE && h->events[i].at > newest)
			newest = h->events[i].at;
	}
	return newest >= dropped;
}

/* Steps, piles and chunks of a few changes: what a step holds must not show. */
static void limits_choose(struct merger *merger)
{
	merger->limits.changes = 1 + dice(30);
	merger->limits.pile_changes = 1 + dice(5);
	merger->limits.pile_bytes = 1 + dice(400);
	merger->limits.chunk_changes = 1 + dice(3);
	merger->limits.history_changes = 1 + dice(20);
}

static void merge_to_the_end(struct merger *merger, uint64_t seed)
{
	struct error err = { 0 };
	struct merge_result result = { .has_more = true };

	while (result.has_more) {
		size_t most = merger->limits.changes;

		limits_choose(merger);
		if (!merger_step(merger, NULL, &result, &err))
			fail_msg("seed %llu: merge: %s", (unsigned long long)seed, err.message);
		/* Of what was read ahead as much as was allowed then. */
		assert_true(result.changes <= merger->limits.changes || result.changes <= most);
	}
}

static void merge_in_pieces(struct world *world, uint64_t seed)
{
	struct error err = { 0 };
	struct merger *merger = merger_open(&world->setup, &err);

	assert_non_null(merger);
	limits_choose(merger);
	merge_to_the_end(merger, seed);
	merger_close(merger);
}

/* The merger of a job that runs: it stays open, reads ahead, and now and then another one merges beside it. */
static void merge_meanwhile(struct world *world, struct merger **merger, uint64_t seed)
{
	struct error err = { 0 };

	if (!*merger) {
		assert_non_null(*merger = merger_open(&world->setup, &err));
		limits_choose(*merger);
	}
	for (unsigned i = dice(3); i-- > 0;)
		merger_read_ahead(*merger);
	if (dice(12) == 0)
		merge_in_pieces(world, seed);
	if (dice(4) == 0) {
		merge_to_the_end(*merger, seed);
		check_equal(world, seed);
	}
	if (dice(20) == 0) {
		merger_close(*merger);
		*merger = NULL;
	}
}

static void play(struct world *world, const struct history *h, bool merges, uint64_t seed)
{
	bool is_wide = false, reads_ahead = merges && dice(2);
	struct merger *merger = NULL;

	schema_say(world, h, false, 1);
	for (size_t i = 0; i < h->count; i++) {
		if (h->events[i].is_text && !is_wide)
			schema_say(world, h, true, 2);
		is_wide = is_wide || h->events[i].is_text;
		event_put(world, h, &h->events[i]);
		if (dice(4) == 0)
			flush_batch(world);
		if (merges && dice(6) == 0) {
			if (getenv("WEIR_SEED"))
				print_message("merge after %zu\n", i + 1 - world->batch->message_count);
			merge_in_pieces(world, seed);
			check_equal(world, seed);
		}
		if (reads_ahead && world->batch->message_count == 0)
			merge_meanwhile(world, &merger, seed);
		if (dice(30) == 0 && world->batch->message_count == 0)
			world_reopen(world);
	}
	flush_batch(world);
	if (merger)
		merge_to_the_end(merger, seed);
	merger_close(merger);
}

static void round_merge(uint64_t seed)
{
	struct history h;
	struct world world;
	struct merge_result result;
	struct error err = { 0 };
	struct merger *merger;

	random_state = seed;
	world_make(&world, REPLICATION_MERGE, dice(2));
	history_make(&h, dice(2));
	deliver(&h, dice(3) ? 1 + dice(12) : 0, true);
	history_print(&h);
	play(&world, &h, true, seed);
	merge_in_pieces(&world, seed);
	check_equal(&world, seed);
	if (is_made_again(&h) && strcmp(ask(&world, "shop", ROWS_SQL), expected_rows(&h)) != 0)
		fail_msg("seed %llu: got\n%s\nexpected\n%s", (unsigned long long)seed, ask(&world, "shop", ROWS_SQL),
		         expected_rows(&h));
	assert_non_null(merger = merger_open(&world.setup, &err));
	if (!merger_rebuild(merger, "order", &result, &err))
		fail_msg("seed %llu: rebuild: %s", (unsigned long long)seed, err.message);
	merger_close(merger);
	check_equal(&world, seed);
	world_end(&world);
}

static void round_upsert(uint64_t seed)
{
	struct history h;
	struct world world;

	random_state = seed;
	world_make(&world, REPLICATION_UPSERT, false);
	history_make(&h, true);
	history_print(&h);
	play(&world, &h, false, seed);
	if (is_made_again(&h) && strcmp(ask(&world, "shop", ROWS_SQL), expected_rows(&h)) != 0)
		fail_msg("upsert, seed %llu: got\n%s\nexpected\n%s", (unsigned long long)seed, ask(&world, "shop", ROWS_SQL),
		         expected_rows(&h));
	world_end(&world);
}

static unsigned long long from_environment(const char *name, unsigned long long fallback)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : fallback;
}

static void rounds(void (*round)(uint64_t))
{
	unsigned long long seed = from_environment("WEIR_SEED", 0);
	unsigned long long count = seed ? 1 : from_environment("WEIR_ROUNDS", 40);

	if (!seed)
		seed = from_environment("WEIR_SEEDS", (unsigned long long)time(NULL) * 1000);
	print_message("seeds %llu to %llu; WEIR_SEED=N repeats one\n", seed, seed + count - 1);
	for (unsigned long long i = 0; i < count; i++)
		round(seed + i);
}

static void replica_equals_the_source_whatever_the_order(void **state)
{
	(void)state;
	rounds(round_merge);
}

static void upsert_equals_the_source_in_order(void **state)
{
	(void)state;
	rounds(round_upsert);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replica_equals_the_source_whatever_the_order),
		cmocka_unit_test(upsert_equals_the_source_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
