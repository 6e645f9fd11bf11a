/*
 * What is known about a failure when its message is kept: reason, key, place in
 * the log, hash of the bytes, and the packed attributes.
 */
#include "dlq/dlq_private.h"

static void text_le32(struct text *out, size_t number)
{
	for (int shift = 0; shift < 32; shift += 8)
		text_add_char(out, (char)(number >> shift & 0xff));
}

static size_t attributes_size(const struct message *message)
{
	size_t size = 0;

	for (size_t i = 0; i < message->attr_count; i++)
		size += 8 + message->attrs[i].name.len + message->attrs[i].value.len;
	return size;
}

struct text *attributes_pack(const struct message *message)
{
	struct text *out = text_new(attributes_size(message));

	for (size_t i = 0; i < message->attr_count; i++) {
		text_le32(out, message->attrs[i].name.len);
		text_add_span(out, message->attrs[i].name);
		text_le32(out, message->attrs[i].value.len);
		text_add_span(out, message->attrs[i].value);
	}
	return out;
}

bool attributes_next(struct span *rest, struct span *out_text)
{
	size_t len = 0;

	if (rest->len < 4)
		return false;
	for (size_t i = 0; i < 4; i++)
		len |= (size_t)(unsigned char)rest->at[i] << 8 * i;
	if (len > rest->len - 4)
		return false;
	*out_text = span_make(rest->at + 4, len);
	*rest = span_make(rest->at + 4 + len, rest->len - 4 - len);
	return true;
}

/* "after.tags[12].x" and "after.tags[7].x" are the same trouble. */
struct text *path_shape(struct span path)
{
	struct text *out = text_new(path.len);
	bool is_index = false;

	for (size_t i = 0; i < path.len; i++) {
		char c = path.at[i];

		is_index = is_index && c >= '0' && c <= '9';
		if (!is_index)
			text_add_char(out, c);
		is_index = is_index || c == '[';
	}
	return out;
}

/* A key change is two records of one message; the letter names those that were refused. */
static void find_records(struct finding *f, const struct batch *batch)
{
	const struct message *m = f->message;
	bool is_first = true;

	f->key = m->primary_key.len ? m->primary_key : m->key;
	f->position = span_make((const char *)m->position, m->position ? POSITION_BYTES : 0);
	f->committed_us = m->committed_ms * 1000;
	for (uint32_t i = 0; i < m->record_count; i++) {
		const struct record *r = &batch->records[m->first_record + i];

		if (r->verdict != VERDICT_REFUSED)
			continue;
		f->ordinals[0] = '[';
		f->ordinals[is_first ? 1 : 3] = (char)('0' + (r->position[POSITION_BYTES - 1] & 7));
		f->ordinals[is_first ? 2 : 4] = ']';
		if (!is_first) {
			f->ordinals[2] = ',';
			return;
		}
		is_first = false;
		f->weir_key = r->key;
		f->position = span_make((const char *)r->position, POSITION_BYTES);
		if (r->primary_key.len)
			f->key = r->primary_key;
	}
}

static void hash_key(struct finding *f)
{
	unsigned char hash[SHA256_BYTES];
	struct span key = f->weir_key.len ? f->weir_key : f->key;

	f->has_key = key.len > 0;
	sha256(key, hash);
	memcpy(&f->key_hash, hash, sizeof(f->key_hash));
}

void sha256_of_message(const struct message *message, char out[SHA256_TEXT_BYTES])
{
	unsigned char hash[SHA256_BYTES];

	if (message->big) {
		memcpy(out, message->big->sha256, SHA256_TEXT_BYTES);
		return;
	}
	sha256(message->body, hash);
	sha256_text(hash, out);
}

void finding_fill(struct finding *f, const struct batch *batch, const struct message *message, const char *table)
{
	static const struct refusal unknown = { "map", "store_failed", "refused without a reason",
	                                        { NULL, 0 }, { NULL, 0 } };

	*f = (struct finding){ .message = message, .why = message->refusal ? message->refusal : &unknown, .table = table };
	find_records(f, batch);
	hash_key(f);
	sha256_of_message(message, f->sha256);
	f->attrs = attributes_pack(message);
	f->shape = path_shape(f->why->path);
}

void finding_clear(struct finding *f)
{
	text_free(f->attrs);
	text_free(f->shape);
}
