/* The ring of lines that topics are made of, between any thread that writes them and the control thread. */
#ifndef WEIR_ENGINE_EVENT_LINES_PRIVATE_H
#define WEIR_ENGINE_EVENT_LINES_PRIVATE_H

#include "base/log.h"
#include "engine/engine.h"

struct event_reader {
	enum topic_id topic;
	enum log_level level;   /* of logs: this and worse */
	uint64_t next;          /* of the ring */
	uint64_t base, told;    /* lines of the topic before, and sent or told of since */
};

/* Where a new subscription begins. */
void event_lines_begin(struct event_lines *lines, enum topic_id topic, const char *argument, uint64_t *out_next,
                       uint64_t *out_base);
/* {"lines":[..],"skipped":N} of what is new, or NULL. Moves the reader on. */
json_t *event_lines_read(struct event_lines *lines, struct event_reader *reader, size_t bytes_max);
/* One listener more or less: nobody makes lines that nobody hears. */
void event_lines_listen(struct event_lines *lines, enum topic_id topic, int more);

#endif
