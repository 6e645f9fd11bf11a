/* `weird --version`: one line, or one JSON object (commands.md "version"). */
#ifndef WEIR_ENGINE_VERSION_H
#define WEIR_ENGINE_VERSION_H

#include <stdbool.h>

int version_print(bool is_json);

#endif
