/* The versions of tables as single changes of columns. */
#ifndef WEIR_TUI_VIEW_SCHEMA_CHANGES_H
#define WEIR_TUI_VIEW_SCHEMA_CHANGES_H

#include <jansson.h>

/* From the objects of `weir tables --schema --json`: {"job","table","column","change","time","version","where"} for each
 * column that is new, gone, of another type or position, newest first; a table's first version is one line. The caller
 * owns it. */
json_t *schema_changes(const json_t *tables);

#endif
