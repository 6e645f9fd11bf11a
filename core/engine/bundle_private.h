/* Shared by the rooms of `weir debug bundle`. */
#ifndef WEIR_ENGINE_BUNDLE_PRIVATE_H
#define WEIR_ENGINE_BUNDLE_PRIVATE_H

#include "base/text.h"
#include "options/options.h"

#include <jansson.h>

/* One object as a line; the reference is taken. */
void bundle_add(struct text *out, json_t *object);

/* A line a file: name, size, age, mode; nothing of what is in it. */
void bundle_files(struct text *out, const struct home *home);
json_t *bundle_system(const struct home *home);

#endif
