/* "Did you mean": the known word that is the fewest slips of the finger away. */
#include "base/clean.h"

#define WORD_MAX 64

/* Upper case and '-' for '_' are no slips at all. */
static char letter_fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == '-' ? '_' : c;
}

static int min_of(int a, int b)
{
	return a < b ? a : b;
}

/* A letter left out, added, changed, or two neighbours swapped: one slip each.
 * Three rows of the usual table are enough. Both words are at most WORD_MAX long. */
static int slips_between(struct span a, struct span b)
{
	int rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= b.len; j++)
		rows[0][j] = (int)j;
	for (size_t i = 1; i <= a.len; i++) {
		int *row = rows[i % 3], *above = rows[(i + 2) % 3], *over = rows[(i + 1) % 3];
		char c = letter_fold(a.at[i - 1]);

		row[0] = (int)i;
		for (size_t j = 1; j <= b.len; j++) {
			char d = letter_fold(b.at[j - 1]);

			row[j] = min_of(above[j - 1] + (c != d), min_of(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && c == letter_fold(b.at[j - 2]) && letter_fold(a.at[i - 2]) == d)
				row[j] = min_of(row[j], over[j - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}

/* Short words are near to everything, so they are allowed fewer slips. */
static int slips_allowed(size_t len)
{
	return len < 2 ? 0 : 1 + (int)(len - 1) / 4;
}

const char *nearest_word(const char *word, const char *const *words, size_t count)
{
	struct span meant = span_of(word);
	const char *nearest = NULL;

	if (meant.len == 0 || meant.len > WORD_MAX)
		return NULL;

	int best = slips_allowed(meant.len) + 1;

	for (size_t i = 0; i < count; i++) {
		struct span known = span_of(words[i]);

		if (known.len == 0 || known.len > WORD_MAX)
			continue;

		int slips = slips_between(meant, known);

		if (slips < best && (size_t)slips < known.len) {
			best = slips;
			nearest = words[i];
		}
	}
	return nearest;
}
