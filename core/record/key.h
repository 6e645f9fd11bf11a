/*
 * _weir_key: the identity of a row as bytes. Per key column, in key order: one
 * byte 1, the length of the canonical text as a little-endian base-128 number,
 * the text. The canonical text does not depend on how the source wrote the
 * value, so a key read from the message key equals the one read from the row.
 */
#ifndef WEIR_RECORD_KEY_H
#define WEIR_RECORD_KEY_H

#include "record/schema.h"

/* `cells` holds one cell a key column, in key order. NULL cells give an empty span: no key. */
struct span key_encode(const struct table_schema *schema, const struct cell *cells, struct arena *arena);

/* A key's cell whose source may write the same value otherwise gets the spelling that all keys have: 32-bit floats, bits,
 * UUIDs (`is_upper`: in capitals), ENUM, times with an offset. `from`: how it was written; NULL: nobody knows, and it
 * stays as it is. */
void key_spell(struct cell *cell, const struct source_type *from, bool is_upper, struct arena *arena);

/* {"id":7,"kind":"home"}: the changelog's primaryKey. */
struct span key_json(const struct table_schema *schema, const struct cell *cells, struct arena *arena);

/* The canonical texts back out of an encoded key; false if the bytes are no key of `count` parts. */
bool key_decode(struct span key, struct span *out_texts, size_t count);

#endif
