/* The tables of places and of the console's own lines. */
#include "action/places.h"

const struct place place_table[] = {
#define PLACE(key, name, alias, help, exists) { key, name, alias, help, exists },
#include "action/places.def"
#undef PLACE
};
const size_t place_count = sizeof(place_table) / sizeof(*place_table);

const struct console_line console_line_table[] = {
#define LINE(id, name, usage, help) { name, usage, help },
#include "action/lines.def"
#undef LINE
};
const size_t console_line_count = sizeof(console_line_table) / sizeof(*console_line_table);

const struct place *place_find(struct span name)
{
	for (size_t i = 0; i < place_count && name.len; i++) {
		if (span_is(name, place_table[i].name) || span_is(name, place_table[i].alias))
			return &place_table[i];
	}
	return NULL;
}

const struct console_line *console_line_find(struct span name)
{
	for (size_t i = 0; i < console_line_count; i++) {
		if (span_is(name, console_line_table[i].name))
			return &console_line_table[i];
	}
	return NULL;
}
