/* The names in message keys, told without parsing: nearly every key has those of the one before. */
#include "transform/debezium_private.h"

#include "base/hash.h"

/* Where the names begin: a schema block in front of the payload is passed over, it is ten times as long. */
static const char *key_names_start(struct span text)
{
	static const char schema[] = "{\"schema\":", payload[] = "\"payload\":";
	const char *found = NULL;

	if (text.len > sizeof(schema) && memcmp(text.at, schema, sizeof(schema) - 1) == 0)
		found = memmem(text.at, text.len, payload, sizeof(payload) - 1);
	return found ? found : text.at;
}

/* The next name and its colon, from *at on, which moves behind it; empty: there is none. */
static struct span key_name_take(const char **at, const char *end)
{
	while (*at < end && (*at = memchr(*at, '"', (size_t)(end - *at)))) {
		const char *start = ++*at;

		while (*at < end && **at != '"')
			*at += **at == '\\' ? 2 : 1;
		if (*at >= end)
			break;
		struct span name = { start, (size_t)((*at)++ - start) };

		while (*at < end && **at == ' ')
			++*at;
		if (*at < end && **at == ':')
			return name;
	}
	*at = end;
	return NOTHING;
}

/* What the next key begins with, if it is as this one: all up to its first name and the colon behind it. */
static void key_head_remember(struct table *table, struct span head, uint64_t hash)
{
	if (head.len > KEY_HEAD_BYTES)
		return;
	if (!table->key_head)
		table->key_head = memory_alloc(sizeof(*table->key_head));
	memcpy(table->key_head->text, head.at, head.len);
	table->key_head->len = head.len;
	table->key_head->hash = hash;
}

uint64_t key_names_hash(struct table *table, struct span text)
{
	const struct key_head *head = table->key_head;
	const char *at = text.at, *end = text.at + text.len;
	bool is_known = head && text.len > head->len && memcmp(text.at, head->text, head->len) == 0;
	uint64_t hash = is_known ? head->hash : 1;
	struct span name;

	if (!text.len)
		return hash;
	at = is_known ? at + head->len : key_names_start(text);
	for (bool is_first = !is_known; (name = key_name_take(&at, end)).at; is_first = false) {
		hash = hash * 31 + hash_bytes(name);
		if (is_first)
			key_head_remember(table, span_make(text.at, (size_t)(at - text.at) + 1), hash);
	}
	return hash;
}
