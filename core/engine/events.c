/* placeholder */
#include "engine/session_private.h"
void events_open(struct engine *engine) { (void)engine; }
void events_close(struct engine *engine) { (void)engine; }
void events_tick(struct engine *engine, int64_t now_ms) { (void)engine; (void)now_ms; }
void events_publish(struct engine *engine, enum topic_id topic, const char *argument, json_t *line) { (void)engine; (void)topic; (void)argument; json_decref(line); }
bool events_wanted(struct engine *engine, enum topic_id topic) { (void)engine; (void)topic; return false; }
bool events_call(struct session *session, const char *name, int64_t id, const json_t *args) { (void)session;(void)name;(void)id;(void)args; return false; }
void events_forget(struct session *session) { (void)session; }
void metrics_tick(struct engine *engine, int64_t now_ms) { (void)engine; (void)now_ms; }
void metrics_free(struct job_metrics *metrics) { (void)metrics; }
