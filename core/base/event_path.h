/* Where the value that an error points at stands in the text of an event: by the error's path, else by the column that it names. */
#ifndef WEIR_BASE_EVENT_PATH_H
#define WEIR_BASE_EVENT_PATH_H

#include "base/text.h"

/* A path in the event as it is: an envelope with a schema block has it under "payload". `path` and `column` may be "".
 * NULL: there is no such value. The text lives in `room` or is `path`. */
const char *event_path(struct span event, const char *path, const char *column, struct text *room);
/* The object around the value at `path`; NULL: the row after the change, else before it, else the whole event. */
struct span event_row(struct span event, const char *path);

#endif
