/* What this engine is made of. */
#include "engine/version.h"

#include "control/control.h"
#include "build_info.h"

#include <jansson.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

const char *version_number(void)
{
	return WEIR_VERSION;
}

json_t *version_json(void)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:i, s:i}", "version", WEIR_VERSION, "commit",
	                 WEIR_COMMIT, "compiler", WEIR_COMPILER, "flags", WEIR_FLAGS, "libraries", "sqlite",
	                 sqlite3_libversion(), "jansson", jansson_version_str(), "sodium", sodium_version_string(),
	                 "protocol", PROTOCOL_VERSION, "state", 1);
}

static int print_json(void)
{
	json_t *version = version_json();
	char *line = json_line(version);

	fputs(line, stdout);
	free(line);
	json_decref(version);
	return 0;
}

int version_print(bool is_json)
{
	if (!is_json)
		return printf("weir %s (%s)\n", WEIR_VERSION, WEIR_COMMIT) < 0;
	return print_json();
}
