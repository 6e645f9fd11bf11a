/*
 * What an answer of Google means for the job: answers.def is the one table, for
 * REST and gRPC alike; this judges by it.
 */
#ifndef WEIR_GOOGLE_ANSWER_H
#define WEIR_GOOGLE_ANSWER_H

#include "base/error.h"
#include "base/span.h"

enum grpc_code {
	GRPC_ANY = -1, /* not said */
#define GRPC_CODE(name, number, http) GRPC_##name = number,
#include "google/grpc_codes.def"
#undef GRPC_CODE
	GRPC_CODES
};

/* "NOT_FOUND", as REST's "status" has it. A number that is none: "UNKNOWN". */
const char *grpc_code_name(int code);
enum grpc_code grpc_code_find(struct span name); /* GRPC_ANY: no such name */
/* Of an answer without grpc-status (gRPC's http-grpc-status-mapping). */
enum grpc_code grpc_code_of_http(int http_status);

enum answer_fate {
	ANSWER_FINE,
	ANSWER_RETRY,       /* in a moment, with back-off */
	ANSWER_WAIT,        /* the same, but slowly: a quota */
	ANSWER_DEAD_LETTER, /* this content will never be taken */
	ANSWER_NEEDS_YOU,
};

struct answer_row {
	int http;             /* 0: any; 2 to 5: all of that hundred */
	enum grpc_code code;
	const char *reason;   /* "": any */
	enum answer_fate fate;
	bool may_renew_token; /* with a new token the call is worth one more try */
	enum error_kind kind;
	const char *error_code;
	const char *sentence;
};

extern const struct answer_row answer_rows[];
extern const size_t answer_row_count;

/* What is known of an answer. The reason is ErrorInfo's, errors[0].reason's, or a word of the transport. */
struct answer_facts {
	int http_status;      /* 0: there was none */
	enum grpc_code code;
	struct span reason;   /* lent */
};

/* Never NULL: the last row fits everything. */
const struct answer_row *answer_judge(const struct answer_facts *facts);
/* Fills `err` by the table; `what` is the call in words ("Publish"), `text` what the other side says, cleaned and
 * cut here. retry_after_ms as it said, or 0. False always, as fail(). */
bool answer_fail(struct error *err, const struct answer_row *row, const char *what, struct span text,
                 int64_t retry_after_ms);

#endif
