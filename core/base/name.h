/*
 * Names at the destination: what it takes (base/name_rules.def), and what a name
 * of the source becomes there.
 */
#ifndef WEIR_BASE_NAME_H
#define WEIR_BASE_NAME_H

#include "base/arena.h"

enum name_kind { NAME_DATASET, NAME_TABLE, NAME_COLUMN, NAME_KINDS };

/* Why a name is another than in the source. */
enum name_change {
	NAME_SIGNS = 1,  /* a sign that is not allowed became _ */
	NAME_MARKED = 2, /* it began like names of somebody else: one _ in front */
	NAME_CUT = 4,    /* it was too long */
};

/* Does the destination take the name as it is? Signs, length and beginning; case is no matter of one name alone. */
bool name_is_allowed(enum name_kind kind, struct span name);

/* The nearest name that the destination takes: `source` itself where that is allowed, else a text in the arena.
 * `source` is not empty. `*out_changes`: a sum of enum name_change. */
struct span name_at_destination(enum name_kind kind, struct span source, struct arena *arena, unsigned *out_changes);

/* "orders", 2 -> "orders_2", cut so that it is allowed. */
struct span name_numbered(enum name_kind kind, struct span name, unsigned number, struct arena *arena);

/* In words, for people: "it has a sign that is not allowed there". */
const char *name_change_text(unsigned changes);

#endif
