/* What the warehouse says of dead letters, as a listing asks for it (struct dlq_filter); `context` is a struct sink_setup. */
#ifndef WEIR_ENGINE_LETTER_REPLICA_H
#define WEIR_ENGINE_LETTER_REPLICA_H

#include "dlq/dlq.h"

void letters_ask_newer(void *context, struct span table, struct letter_question *questions, size_t count);
void letter_add_row(void *context, struct span table, struct span key, struct span json_key, struct text *out);

#endif
