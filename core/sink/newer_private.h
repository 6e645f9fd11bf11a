/* Shared by who asks whether a change is the newest of its key: for one (local_newer.c), for many. */
#ifndef WEIR_SINK_NEWER_PRIVATE_H
#define WEIR_SINK_NEWER_PRIVATE_H

#include "sink/local_private.h"

/* Read only; *out NULL: the file does not exist yet, and holds nothing newer. */
bool newer_open_file(const struct sink_setup *setup, const char *dataset, struct store **out, struct error *err);
/* "orders" or "shop.orders". */
struct span newer_plain_name(const struct sink_setup *setup, const char *table);

#endif
