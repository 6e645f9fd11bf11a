/* Numbers of jobs and tables for lists; see facts.h. */
#include "view/facts.h"
#include "widget/chart.h"

static const struct fact {
	const char *field, *group, *member; /* `group`: an object that holds it, or NULL */
	double scale;
	bool is_age;
} facts[] = {
	{ "lag", NULL, "lag_ms", 0.001, true },
	{ "replica", NULL, "replica_age_ms", 0.001, true },
	{ "in", "rates", "received", 1, false },
	{ "out", "rates", "written", 1, false },
	{ "errors", "rates", "dead_lettered", 60, false },
	{ "dlq", NULL, "open_letters", 1, false },
	{ "parked", NULL, "parked", 1, false },
};

static const struct fact *fact_find(const char *field)
{
	for (size_t i = 0; field && i < sizeof(facts) / sizeof(*facts); i++) {
		if (strcmp(facts[i].field, field) == 0)
			return &facts[i];
	}
	return NULL;
}

bool fact_number(const json_t *thing, const char *field, double *out)
{
	const struct fact *fact = fact_find(field);
	const json_t *from = fact && fact->group ? json_object_get(thing, fact->group) : thing;

	if (!fact || !json_is_number(json_object_get(from, fact->member)))
		return false;
	*out = member_number(from, fact->member) * fact->scale;
	return true;
}

bool fact_text(const json_t *thing, const char *field, struct text *out)
{
	const struct fact *fact = fact_find(field);
	double number;

	if (!fact)
		return false;
	if (!fact_number(thing, field, &number))
		text_add(out, "-");
	else if (fact->is_age)
		age_text((int64_t)(number * 1000 + 0.5), out);
	else
		number_text((int64_t)(number + 0.5), out);
	return true;
}
