/* `weir engine status` and `weir engine stop`. */
#include "engine/commands_private.h"
#include "engine/health_private.h"
#include "pipeline/pipeline.h"

#include <unistd.h>

/* The health lines, and last what the engine is. */
bool run_engine_status(struct call *call, struct error *err)
{
	struct engine *engine = call->engine;
	int running;

	if (!health_lines(call, err))
		return false;
	pthread_mutex_lock(&engine->lock);
	running = engine->running_jobs;
	pthread_mutex_unlock(&engine->lock);
	call_line(call, json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:s, s:s?, s:O}", "state", "ok", "pid", (int)getpid(), "home",
	                          engine->home->state, "running_jobs", running, "protocol", PROTOCOL_VERSION, "sessions",
	                          atomic_load(&engine->session_count), "access", access_name(call->access), "socket_group",
	                          engine->settings.group_name, "operators", engine->settings.operator_names));
	return true;
}

bool run_engine_stop(struct call *call, struct error *err)
{
	(void)err;
	call_line(call, json_pack("{s:s, s:i}", "state", "draining", "pid", (int)getpid()));
	engine_stop(call->engine);
	return true;
}
