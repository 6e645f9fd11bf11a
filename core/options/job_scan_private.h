/* Strict reading of JSON text for what jansson does not tell: where a syntax
 * error begins, and both places of a member that stands twice. */
#ifndef WEIR_OPTIONS_JOB_SCAN_PRIVATE_H
#define WEIR_OPTIONS_JOB_SCAN_PRIVATE_H

#include "base/span.h"

/* Called for each repeated member; `name` is unescaped, offsets are those of the names' quotes. */
struct scan_listener {
	void (*on_duplicate)(void *context, const char *name, size_t first, size_t second);
	void *context;
};

struct scan_fault {
	size_t offset;
	const char *message; /* "a comma or '}' is missing" */
};

/* False: the text is not JSON, and *out_fault says where and why. */
bool json_scan(struct span text, const struct scan_listener *listener, struct scan_fault *out_fault);

struct json_place {
	int line, column; /* from 1; columns in bytes */
};
struct json_place json_place(struct span text, size_t offset);

#endif
