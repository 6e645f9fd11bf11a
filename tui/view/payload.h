/* The piece of a letter's payload that its error points at, as one line with marks under it. */
#ifndef WEIR_TUI_VIEW_PAYLOAD_H
#define WEIR_TUI_VIEW_PAYLOAD_H

#include "base/text.h"

#include <jansson.h>

/* The letter's path as it stands in this payload: an envelope with a schema block has it under "payload". NULL: not there. */
const char *payload_path(const json_t *letter, struct text *room);
/* The value that the error points at, as it stands in `payload`; empty: none. */
struct span payload_spot(const json_t *letter, struct span payload);
/* The row that has it, in at most `cols` columns, and "^^^" under the value; *out_marks stays empty where nothing is pointed
 * at. False: the payload is no text. */
bool payload_excerpt(const json_t *letter, int cols, struct text *out_line, struct text *out_marks);

#endif
