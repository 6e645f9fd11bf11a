/* The table of reason codes; its rows stand in reasons.def, sorted by code. */
#include "base/reason.h"

#include <stdlib.h>
#include <string.h>

const struct reason reasons[] = {
#define REASON(code, summary, causes, checks, next) { code, summary, causes, checks, next },
#include "base/reasons.def"
#undef REASON
};

const size_t reason_count = sizeof(reasons) / sizeof(reasons[0]);

static int reason_compare(const void *code, const void *row)
{
	return strcmp(code, ((const struct reason *)row)->code);
}

const struct reason *reason_find(const char *code)
{
	return code ? bsearch(code, reasons, reason_count, sizeof(reasons[0]), reason_compare) : NULL;
}
