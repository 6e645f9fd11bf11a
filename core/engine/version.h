/* `weird --version`: one line, or one JSON object (commands.md "version"). */
#ifndef WEIR_ENGINE_VERSION_H
#define WEIR_ENGINE_VERSION_H

#include <jansson.h>
#include <stdbool.h>

const char *version_number(void); /* "0.1.0" */
json_t *version_json(void); /* a new reference */
int version_print(bool is_json);

#endif
