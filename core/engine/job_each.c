/*
 * All jobs, or one: one after the other where what is said goes out at once, several at a
 * time where their files are looked at. While many jobs write as fast as they can, each
 * opening of a file may wait for the disk; who asks waits for the slowest of them then,
 * not for their sum.
 */
#include "base/arena.h"
#include "engine/engine.h"

#include <stdatomic.h>
#include <stdlib.h>

#define LOOKERS_MAX 8

static json_t *names_meant(struct call *call, const char *only)
{
	return only ? json_pack("[s]", only) : job_names(call->engine->home);
}

/* The first failure is the call's, the others are said beside it. */
static void failed(struct call *call, const struct error *failure, bool is_first, struct error *err)
{
	if (is_first)
		*err = *failure;
	else
		call_note(call, "%s: %s", failure->code, failure->message);
}

static bool each_of(struct call *call, const json_t *names, bool is_back, on_job_function *on_job, void *context,
                    struct error *err)
{
	size_t count = json_array_size(names);
	bool is_fine = true;

	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_array_get(names, is_back ? count - 1 - i : i));
		struct error failure = { 0 };
		struct job_options *options = job_load_named(call->engine->home, name, &failure);

		if (!options || !on_job(call, options, context, &failure)) {
			failed(call, &failure, is_fine, err);
			is_fine = false;
		}
		job_options_free(options);
	}
	return is_fine;
}

bool job_each(struct call *call, const char *only, on_job_function *on_job, void *context, struct error *err)
{
	json_t *names = names_meant(call, only);
	bool is_fine = each_of(call, names, false, on_job, context, err);

	json_decref(names);
	return is_fine;
}

bool job_each_back(struct call *call, const char *only, on_job_function *on_job, void *context, struct error *err)
{
	json_t *names = names_meant(call, only);
	bool is_fine = each_of(call, names, true, on_job, context, err);

	json_decref(names);
	return is_fine;
}

/*
 * Several at a time
 */

struct looked {
	json_t *answer; /* as far as it came; NULL: nothing */
	struct error failure;
};

struct looks {
	struct call *call;
	const json_t *names;
	look_at_job_function *look;
	void *context;
	struct looked *looked;
	atomic_size_t next;
};

static void *look_on(void *context)
{
	struct looks *looks = context;
	size_t at;

	while ((at = atomic_fetch_add(&looks->next, 1)) < json_array_size(looks->names)) {
		const char *name = json_string_value(json_array_get(looks->names, at));
		struct looked *looked = &looks->looked[at];
		struct job_options *options = job_load_named(looks->call->engine->home, name, &looked->failure);

		if (options)
			looked->answer = looks->look(looks->call, options, looks->context, &looked->failure);
		job_options_free(options);
	}
	return NULL;
}

/* This thread looks too: without others it looks at all of them. */
static void look_at_all(struct looks *looks)
{
	size_t wanted = json_array_size(looks->names), count = 0;
	pthread_t threads[LOOKERS_MAX];

	while (count + 1 < wanted && count < LOOKERS_MAX && pthread_create(&threads[count], NULL, look_on, looks) == 0)
		count++;
	look_on(looks);
	while (count)
		pthread_join(threads[--count], NULL);
}

json_t *job_look_all(struct call *call, const char *only, look_at_job_function *look, void *context, bool *out_is_fine,
                     struct error *err)
{
	json_t *names = names_meant(call, only), *answers = json_array();
	size_t count = json_array_size(names);
	struct looks looks = { .call = call, .names = names, .look = look, .context = context,
		               .looked = memory_zalloc((count + 1) * sizeof(*looks.looked)) };

	*out_is_fine = true;
	look_at_all(&looks);
	for (size_t i = 0; i < count; i++) {
		if (looks.looked[i].answer)
			json_array_append_new(answers, looks.looked[i].answer);
		if (looks.looked[i].failure.kind == ERROR_NONE)
			continue;
		failed(call, &looks.looked[i].failure, *out_is_fine, err);
		*out_is_fine = false;
	}
	free(looks.looked);
	json_decref(names);
	return answers;
}
