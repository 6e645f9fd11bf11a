/*
 * Where a change stands in its source's log, one function a connector. What all
 * of them need: the event's fields, and which one could not be read.
 */
#ifndef WEIR_TRANSFORM_PLACES_H
#define WEIR_TRANSFORM_PLACES_H

#include "transform/debezium_private.h"

struct place {
	struct debezium *d;
	struct event *e;
	const char *fault; /* the field that cannot be read */
};

/* An optional number of the source block; a bad one is the place's fault. */
enum reading place_uint(struct place *p, enum field field, const char *name, uint64_t *out);
/* Hexadecimal digits of a field, colons, dots and dashes left out; more than `room` are cut. */
enum reading place_hex(struct place *p, enum field field, const char *name, char *digits, size_t room,
                       size_t *out_count);
uint64_t hex_number(const char *digits, size_t count);

/* Tells the history where in its log the event stands, and gets the epoch. `sign` has name, server_id, mark, slack_ms
 * and least_epoch; `clock` is the field with the time of the change at the source. */
void place_in_history(struct place *p, const struct log_sign *sign, enum field clock, struct position *out);
#define CLOCK_SLACK_MS 1000

/* Where several events may share one position: what came later stands behind. A redelivery has its place again. */
void place_by_arrival(struct place *p, struct position *out);

/* places.c: databases with one log */
enum reading place_binlog(struct place *p, struct position *out);
enum reading place_postgresql(struct place *p, struct position *out);
enum reading place_sqlserver(struct place *p, struct position *out);
enum reading place_db2(struct place *p, struct position *out);
enum reading place_oracle(struct place *p, struct position *out);

/* places_cluster.c: databases with many */
enum reading place_mongodb(struct place *p, struct position *out);
enum reading place_vitess(struct place *p, struct position *out);
enum reading place_spanner(struct place *p, struct position *out);

#endif
