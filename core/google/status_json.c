/*
 * The errors of REST: {"error":{"code":404,"message":"..","status":"NOT_FOUND",
 * "errors":[{"reason":"notFound",..}],"details":[..]}}, alone or as the only element
 * of a list (streaming calls). Front ends answer with pages instead: then false.
 */
#include "google/status.h"

#include "google/wait.h"

#include <jansson.h>

#define BODY_BYTES (1 << 20)

static void keep(char *out, size_t room, const json_t *text)
{
	const char *at = json_string_value(text);

	if (at)
		snprintf(out, room, "%s", at);
}

#define KEEP(out, object, name) keep(out, sizeof(out), json_object_get(object, name))

static void read_violations(const json_t *detail, const char *list, const char *subject, struct google_status *status)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(detail, list), i, entry) {
		struct status_violation *next = &status->violations[status->violation_count];

		if (status->violation_count == STATUS_VIOLATIONS)
			return;
		KEEP(next->subject, entry, subject);
		KEEP(next->text, entry, "description");
		status->violation_count++;
	}
}

static void read_detail(const json_t *detail, struct google_status *status)
{
	const char *type = json_string_value(json_object_get(detail, "@type"));
	const char *name = type ? strrchr(type, '.') : NULL;
	int64_t delay_ms;

	if (!name)
		return;
	if (strcmp(name, ".ErrorInfo") == 0) {
		KEEP(status->reason, detail, "reason");
		KEEP(status->domain, detail, "domain");
	} else if (strcmp(name, ".RetryInfo") == 0) {
		if (wait_read_duration(span_of(json_string_value(json_object_get(detail, "retryDelay"))), &delay_ms))
			status->retry_delay_ms = delay_ms;
	} else if (strcmp(name, ".BadRequest") == 0) {
		read_violations(detail, "fieldViolations", "field", status);
	} else if (strcmp(name, ".QuotaFailure") == 0) {
		read_violations(detail, "violations", "subject", status);
	} else if (strcmp(name, ".PreconditionFailure") == 0) {
		read_violations(detail, "violations", "type", status);
	} else if (strcmp(name, ".RequestInfo") == 0) {
		KEEP(status->request_id, detail, "requestId");
	}
}

/* Token servers answer {"error":"invalid_grant","error_description":".."} instead. */
static bool read_plain(const json_t *root, struct google_status *status)
{
	const json_t *error = json_object_get(root, "error");

	if (!json_is_string(error))
		return false;
	KEEP(status->reason, root, "error");
	KEEP(status->message, root, "error_description");
	return true;
}

static void read_error(const json_t *error, struct google_status *status)
{
	const json_t *first = json_array_get(json_object_get(error, "errors"), 0), *detail;
	size_t i;

	KEEP(status->message, error, "message");
	status->code = grpc_code_find(span_of(json_string_value(json_object_get(error, "status"))));
	KEEP(status->reason, first, "reason");
	json_array_foreach(json_object_get(error, "details"), i, detail)
		read_detail(detail, status);
}

bool status_read_json(struct span body, struct google_status *out)
{
	struct google_status status = { .code = GRPC_ANY, .retry_delay_ms = -1 };
	json_t *root = body.len && body.len <= BODY_BYTES ? json_loadb(body.at, body.len, JSON_ALLOW_NUL, NULL) : NULL;
	const json_t *object = json_is_array(root) ? json_array_get(root, 0) : root;
	const json_t *error = json_object_get(object, "error");
	bool is_one = json_is_object(error);

	if (is_one)
		read_error(error, &status);
	else
		is_one = read_plain(object, &status);
	if (is_one)
		*out = status;
	json_decref(root);
	return is_one;
}
