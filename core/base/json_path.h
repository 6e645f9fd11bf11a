/*
 * Finds line and column of a value in JSON text (configuration files), so that
 * messages can point at it: jansson forgets where values stood.
 */
#ifndef WEIR_BASE_JSON_PATH_H
#define WEIR_BASE_JSON_PATH_H

#include "base/span.h"

struct json_spot {
	int line;   /* from 1; 0: not found */
	int column; /* from 1, in bytes */
};

/* `path` is member names and array indices joined by '.': "parameters.primaryKey.orders.0".
 * A name is matched after unescaping. Finds the value; with a leading '@' the member's name. */
struct json_spot json_path_find(struct span text, const char *path);
/* The bytes of what is found there, as they stand in `text`: with its quotes or brackets; of a value that is broken off, what is
 * left. Empty, at NULL: not found. */
struct span json_path_value(struct span text, const char *path);

#endif
