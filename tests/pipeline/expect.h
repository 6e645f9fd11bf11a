/* What a conversation may expect. Included by talk.h, behind its words. */
#ifndef WEIR_TESTS_EXPECT_H
#define WEIR_TESTS_EXPECT_H

static inline void expect_text(const struct world *world, const char *what, const char *want, const char *got)
{
	if (strcmp(want, got) != 0)
		SAY_FAIL(world, "%s: expected '%s', found '%s'", what, want, got);
}

/* "nothing" stands for an empty list. */
static inline void expect_list(const struct world *world, const struct words *words, const char *got)
{
	char want[SHOWN_BYTES];

	words_join(words, 2, want, sizeof(want));
	expect_text(world, words->at[1], strcmp(want, "nothing") == 0 ? "" : want, got);
}

static inline void expect_number(const struct world *world, const char *what, const char *want, uint64_t got)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, got);
	expect_text(world, what, want, text);
}

static inline void expect_written(struct world *world, const struct words *words)
{
	char got[SHOWN_BYTES] = "";

	for (size_t i = 0; i < world->stored.row_count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "", world->stored.rows[i]);
	expect_list(world, words, got);
}

static inline void expect_rows(struct world *world, const struct words *words)
{
	expect_number(world, "rows", words->at[2], world->stored.row_count);
}

static inline void expect_letters(struct world *world, const struct words *words)
{
	char got[SHOWN_BYTES];

	store_cell(world, "SELECT message_id FROM letters ORDER BY id", NULL, got, sizeof(got));
	expect_list(world, words, got);
}

static const struct {
	const char *name, *sql;
} letter_cells[] = {
	{ "code", "SELECT code FROM letters WHERE message_id = ?1" },
	{ "stage", "SELECT stage FROM letters WHERE message_id = ?1" },
	{ "table", "SELECT tbl FROM letters WHERE message_id = ?1" },
	{ "ordinals", "SELECT ordinals FROM letters WHERE message_id = ?1" },
	{ "attempts", "SELECT attempts FROM letters WHERE message_id = ?1" },
	{ "text", "SELECT message FROM letters WHERE message_id = ?1" },
	{ "body", "SELECT b.bytes FROM letters l JOIN bodies b ON b.letter = l.id WHERE message_id = ?1" },
};

/* expect letter NAME code CODE ordinals [0,1] ... */
static inline void expect_letter(struct world *world, const struct words *words)
{
	for (size_t i = 3; i + 1 < words->count; i += 2) {
		bool is_known = false;
		char got[200];

		for (size_t j = 0; j < sizeof(letter_cells) / sizeof(*letter_cells); j++) {
			if (strcmp(letter_cells[j].name, words->at[i]) != 0)
				continue;
			is_known = true;
			store_cell(world, letter_cells[j].sql, words->at[2], got, sizeof(got));
			expect_text(world, words->at[i], words->at[i + 1], got);
		}
		if (!is_known)
			SAY_FAIL(world, "a letter has no '%s'", words->at[i]);
	}
}

static inline void expect_parked(struct world *world, const struct words *words)
{
	char got[SHOWN_BYTES];

	store_cell(world, "SELECT message_id FROM parked ORDER BY id", NULL, got, sizeof(got));
	expect_list(world, words, got);
}

static inline void expect_note(struct world *world, const struct words *words)
{
	expect_number(world, "note", words->at[3],
	              store_number(world, "SELECT sum(count + fresh) FROM notes WHERE code = ?1", words->at[2]));
}

static inline void expect_confirmed(struct world *world, const struct words *words)
{
	uint64_t offset = world->stored.position.offset;

	expect_text(world, "confirmed", words->at[2], offset ? world->names[offset - 1] : "nothing");
}

static inline void expect_nothing(struct world *world, const struct words *words)
{
	struct ledger sum = stored_sum(&world->stored);

	(void)words;
	assert_int_equal(world->stored.row_count, 0);
	assert_int_equal(world->stored.position.offset, 0);
	assert_int_equal(sum.received, 0);
}

static inline void expect_error(struct world *world, const struct words *words)
{
	expect_text(world, "error", words->at[2], world->err.code);
	world->err = (struct error){ 0 };
}

static inline void expect_fine(struct world *world, const struct words *words)
{
	(void)words;
	if (world->err.code[0])
		SAY_FAIL(world, "%s: %s", world->err.code, world->err.message);
}

/* expect ledger received 3 written 2 ...: what is not named is 0. */
static inline void expect_ledger(struct world *world, const struct words *words)
{
	struct ledger sum = stored_sum(&world->stored);
	const struct {
		const char *name;
		uint64_t got;
	} counters[] = {
		{ "received", sum.received }, { "written", sum.written }, { "filtered", sum.filtered },
		{ "dead_lettered", sum.dead_lettered }, { "parked", sum.parked }, { "repeated", sum.repeated },
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		const char *want = "0";

		for (size_t j = 2; j + 1 < words->count; j += 2)
			want = strcmp(words->at[j], counters[i].name) == 0 ? words->at[j + 1] : want;
		expect_number(world, counters[i].name, want, counters[i].got);
	}
}

static const struct verb expectations[] = {
	{ "written", NULL, expect_written },
	{ "rows", NULL, expect_rows },
	{ "letters", NULL, expect_letters },
	{ "letter", NULL, expect_letter },
	{ "parked", NULL, expect_parked },
	{ "note", NULL, expect_note },
	{ "confirmed", NULL, expect_confirmed },
	{ "nothing", NULL, expect_nothing },
	{ "error", NULL, expect_error },
	{ "fine", NULL, expect_fine },
	{ "ledger", NULL, expect_ledger },
};

static inline void play_expect(struct world *world, const struct words *words)
{
	for (size_t i = 0; i < sizeof(expectations) / sizeof(*expectations); i++) {
		if (strcmp(expectations[i].first, words->at[1]) == 0) {
			expectations[i].play(world, words);
			return;
		}
	}
	SAY_FAIL(world, "nobody can expect '%s'", words->at[1]);
}

/* After every step: the destination's counters balance, the pipeline and what it shows agree with them, and no more is
 * counted than the store has. */
static inline void check_agreement(const struct world *world)
{
	struct ledger sum = stored_sum(&world->stored);
	struct progress_view view;

	if (!ledger_balances(&sum, 0))
		SAY_FAIL(world, "the ledger does not balance");
	if (!world->pipeline)
		return;
	progress_look(world->progress, &view);
	if (memcmp(&sum, &world->pipeline->total, sizeof(sum)) != 0)
		SAY_FAIL(world, "the pipeline and the destination count differently");
	if (memcmp(&sum, &view.total, sizeof(sum)) != 0)
		SAY_FAIL(world, "the job shows other figures than the destination has");
	if (store_number(world, "SELECT count(*) FROM letters", NULL) < sum.dead_lettered)
		SAY_FAIL(world, "more letters are counted than there are");
	if (store_number(world, "SELECT coalesce(sum(count), 0) FROM parked_sums", NULL) < sum.parked)
		SAY_FAIL(world, "more is counted as parked than there is");
}

#endif
