/* The table of documents. */
#include "manual/manual.h"

const struct manual_document manual_documents[] = {
	{ "weir.1", manual_weir },
	{ "weird.8", manual_weird },
	{ "weir-job.5", manual_job },
	{ "weir.bash", manual_completion },
};
const size_t manual_document_count = sizeof(manual_documents) / sizeof(manual_documents[0]);
