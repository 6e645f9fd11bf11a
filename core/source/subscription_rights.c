/* Who may do what with a subscription, a topic or a snapshot: google.iam.v1.IAMPolicy, which Pub/Sub serves beside itself. */
#include "source/subscription_private.h"

#include "google/proto.h"

#define POLICY "/google.iam.v1.IAMPolicy/"

static void mark_granted(struct span granted, const char *const *permissions, size_t count, bool may[])
{
	for (size_t i = 0; i < count; i++)
		may[i] = may[i] || span_is(granted, permissions[i]);
}

bool pubsub_may(struct google *google, const char *resource, const char *const *permissions, size_t count,
                int64_t wait_ms, bool out_may[], struct error *err)
{
	OWNED(text) message = text_new(8192);
	OWNED(text) what = text_new(1024);
	struct admin_call call = { POLICY "TestIamPermissions", NULL, "resource", resource, message, RETRY_READS, wait_ms };
	struct grpc_message *answer = NULL;
	struct proto_reader reader;
	struct proto_field field;

	proto_put_text(message, 1, resource);
	for (size_t i = 0; i < count; i++)
		proto_put_text(message, 2, permissions[i]);
	text_add_format(what, "asking for the rights on %s", resource);
	call.what = what->at;
	if (!admin_call(google, &call, &answer, NULL, err))
		return false;
	memset(out_may, 0, count * sizeof(*out_may));
	reader = proto_open(span_make(answer->bytes, answer->len));
	while (proto_next(&reader, &field)) {
		if (field.number == 1)
			mark_granted(proto_bytes(&field), permissions, count, out_may);
	}
	grpc_message_free(answer);
	return !reader.is_broken || admin_broken(what->at, err);
}

static bool ends_with(struct span text, const char *end)
{
	size_t len = strlen(end);

	return text.len >= len && memcmp(text.at + text.len - len, end, len) == 0;
}

/* Binding: role 1, members 2. */
static bool binding_fits(struct proto_reader *outer, const struct proto_field *field, const char *role,
                         const char *member_end)
{
	struct proto_reader inner = proto_enter(outer, field);
	struct proto_field each;
	bool is_role = false, has_member = false;

	while (proto_next(&inner, &each)) {
		is_role = is_role || (each.number == 1 && span_is(proto_bytes(&each), role));
		has_member = has_member || (each.number == 2 && ends_with(proto_bytes(&each), member_end));
	}
	return proto_leave(outer, &inner) && is_role && has_member;
}

bool pubsub_has_binding(struct google *google, const char *resource, const char *role, const char *member_end,
                        int64_t wait_ms, bool *out_has, struct error *err)
{
	OWNED(text) message = text_new(2 * PUBSUB_NAME_BYTES);
	OWNED(text) what = text_new(1024);
	struct admin_call call = { POLICY "GetIamPolicy", NULL, "resource", resource, message, RETRY_READS, wait_ms };
	struct grpc_message *answer = NULL;
	struct proto_reader reader;
	struct proto_field field;
	bool has = false;

	proto_put_text(message, 1, resource);
	text_add_format(what, "reading who may use %s", resource);
	call.what = what->at;
	if (!admin_call(google, &call, &answer, NULL, err))
		return false;
	reader = proto_open(span_make(answer->bytes, answer->len));
	while (proto_next(&reader, &field))
		has = has || (field.number == 4 && binding_fits(&reader, &field, role, member_end));
	grpc_message_free(answer);
	if (reader.is_broken)
		return admin_broken(what->at, err);
	*out_has = has;
	return true;
}
