/* The ring of lines: bounded, written by any thread, read by the control thread. */
#include "engine/event_lines_private.h"

#include "base/arena.h"

#include <stdlib.h>

#define RING_LINES 1024
#define LINE_BYTES_MAX (64u << 10)

struct event_line {
	enum topic_id topic;
	enum log_level level;
	char *json;
};

struct event_lines {
	pthread_mutex_t lock;
	struct event_line ring[RING_LINES];
	uint64_t next;                       /* of the line that is written next; the ring holds the last RING_LINES */
	uint64_t written[TOPICS][LOG_LEVELS];
	atomic_int listeners[TOPICS];
};

void events_open(struct engine *engine)
{
	engine->lines = memory_zalloc(sizeof(*engine->lines));
	pthread_mutex_init(&engine->lines->lock, NULL);
}

void events_close(struct engine *engine)
{
	if (!engine->lines)
		return;
	for (size_t i = 0; i < RING_LINES; i++)
		free(engine->lines->ring[i].json);
	pthread_mutex_destroy(&engine->lines->lock);
	free(engine->lines);
	engine->lines = NULL;
}

bool events_wanted(struct engine *engine, enum topic_id topic)
{
	return engine->lines && atomic_load(&engine->lines->listeners[topic]) > 0;
}

void event_lines_listen(struct event_lines *lines, enum topic_id topic, int more)
{
	atomic_fetch_add(&lines->listeners[topic], more);
}

void events_publish(struct engine *engine, enum topic_id topic, const char *argument, json_t *line)
{
	struct event_lines *lines = engine->lines;
	char *json = json_dumps(line, JSON_COMPACT);
	enum log_level level = LEVEL_DEBUG;
	struct event_line *place;

	json_decref(line);
	/* A line longer than anybody reads is counted as skipped. */
	if (json && strlen(json) > LINE_BYTES_MAX) {
		free(json);
		json = NULL;
	}
	if (argument)
		log_level_find(argument, &level);
	pthread_mutex_lock(&lines->lock);
	place = &lines->ring[lines->next++ % RING_LINES];
	free(place->json);
	*place = (struct event_line){ topic, level, json };
	lines->written[topic][level]++;
	pthread_mutex_unlock(&lines->lock);
}

static uint64_t written_locked(const struct event_lines *lines, enum topic_id topic, enum log_level least)
{
	uint64_t count = 0;

	for (int level = (int)least; level < LOG_LEVELS; level++)
		count += lines->written[topic][level];
	return count;
}

void event_lines_begin(struct event_lines *lines, enum topic_id topic, const char *argument, uint64_t *out_next,
                       uint64_t *out_base)
{
	enum log_level least = LEVEL_DEBUG;

	if (topic == TOPIC_logs)
		log_level_find(argument, &least);
	pthread_mutex_lock(&lines->lock);
	*out_next = lines->next;
	*out_base = written_locked(lines, topic, least);
	pthread_mutex_unlock(&lines->lock);
}

static json_t *read_locked(struct event_lines *lines, struct event_reader *reader, size_t bytes_max)
{
	json_t *list = json_array();
	size_t bytes = 0;

	if (lines->next - reader->next > RING_LINES)
		reader->next = lines->next - RING_LINES;
	for (; reader->next < lines->next && bytes < bytes_max; reader->next++) {
		const struct event_line *line = &lines->ring[reader->next % RING_LINES];

		if (line->topic != reader->topic || line->level < reader->level || !line->json)
			continue;
		bytes += strlen(line->json);
		json_array_append_new(list, json_loads(line->json, 0, NULL));
	}
	return list;
}

json_t *event_lines_read(struct event_lines *lines, struct event_reader *reader, size_t bytes_max)
{
	uint64_t written, skipped;
	json_t *list;

	pthread_mutex_lock(&lines->lock);
	list = read_locked(lines, reader, bytes_max);
	/* What the limit of bytes has left for the next time is not skipped; then nothing can be said of gaps. */
	written = reader->next == lines->next ? written_locked(lines, reader->topic, reader->level) - reader->base : 0;
	pthread_mutex_unlock(&lines->lock);
	reader->told += json_array_size(list);
	skipped = written > reader->told ? written - reader->told : 0;
	reader->told += skipped;
	if (json_array_size(list) || skipped)
		return json_pack("{s:o, s:I}", "lines", list, "skipped", (json_int_t)skipped);
	json_decref(list);
	return NULL;
}
