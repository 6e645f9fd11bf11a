/* The control thread: lock, socket, signals, poll loop. */
#include "engine/engine.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/journal.h"
#include "runner/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOP_WAIT_MS 500
#define HOME_CHECK_MS 1000
#define TICK_MS 1000
#define GIVE_BACK_AFTER_MS 2000   /* so long after the last call: a burst of them is over */
#define GIVE_BACK_AGAIN_MS 10000

static bool watch_signals(struct engine *engine, struct error *err)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* A file that may grow no more (ulimit -f) is an error of the write, and waited for like others. */
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* Blocked here and so in every thread made later; the loop reads them. */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	engine->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->signal_fd < 0 || engine->wake_fd < 0)
		return fail_errno(err, errno, "cannot watch signals");
	return true;
}

bool engine_open(struct engine *engine, const struct home *home, struct error *err)
{

	*engine = (struct engine){ .home = home, .lock_fd = -1, .listen_fd = -1, .wake_fd = -1, .signal_fd = -1 };
	pthread_mutex_init(&engine->lock, NULL);
	clock_cond_init(&engine->job_ended);
	engine->idle_since_ms = engine->started_ms = clock_mono_ms();
	/* In the middle of a second, so that a late tick still falls into its own. */
	engine->ticked_ms = engine->started_ms - engine->started_ms % TICK_MS - TICK_MS / 2;
	events_open(engine);
	shown_open(engine);
	again_open(engine);
	if (home_make(home, err) && lock_take(engine, err) && access_open(engine, err) && engine_listen(engine, err) &&
	    access_share(engine, err) && watch_signals(engine, err)) {
		spares_fill(engine);
		secrets_open(engine);
		records_open(engine);
		access_tell(engine);
		return true;
	}
	engine_close(engine);
	return false;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

bool engine_close(struct engine *engine)
{
	/* Who comes now is told at once that nobody is here, instead of waiting for an answer. */
	if (engine->listen_fd >= 0)
		unlink(engine->home->socket);
	close_fd(engine->listen_fd);
	engine->listen_fd = -1;
	again_end(engine);
	jobs_close(engine);
	if (!server_close_all(engine))
		return false;
	/* A call that was under way may have begun one more; its thread wakes us with its last breath. */
	jobs_close(engine);
	shown_close(engine);
	secrets_close(engine);
	records_close(engine);
	spares_close(engine);
	close_fd(engine->signal_fd);
	close_fd(engine->wake_fd);
	close_fd(engine->lock_fd);
	jobs_free(engine);
	again_close(engine);
	access_close(engine);
	events_close(engine);
	pthread_cond_destroy(&engine->job_ended);
	pthread_mutex_destroy(&engine->lock);
	return true;
}

void engine_wake(struct engine *engine)
{
	uint64_t one = 1;
	ssize_t ignored = write(engine->wake_fd, &one, sizeof(one));

	(void)ignored;
}

void engine_stop(struct engine *engine)
{
	atomic_store(&engine->is_stopping, true);
	pthread_mutex_lock(&engine->lock);
	for (struct job *job = engine->jobs; job; job = job->next)
		run_wish_for(&job->wish, RUN_DRAIN);
	pthread_mutex_unlock(&engine->lock);
	engine_wake(engine);
}

/* First signal: drain and end. Second: end now; what is committed is safe. */
static void take_signal(struct engine *engine)
{
	struct signalfd_siginfo info;

	while (read(engine->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (atomic_load(&engine->is_stopping))
			_exit(1);
		engine_stop(engine);
	}
}

static int running_jobs(struct engine *engine)
{
	int count;

	pthread_mutex_lock(&engine->lock);
	count = engine->running_jobs;
	pthread_mutex_unlock(&engine->lock);
	return count;
}

/* The home was deleted under us, or another engine's lock lies there: nothing of ours can be found any more. */
static bool home_is_gone(struct engine *engine, int64_t now_ms)
{
	if (now_ms - engine->checked_home_ms < HOME_CHECK_MS)
		return false;
	engine->checked_home_ms = now_ms;
	if (!lock_keep(engine))
		return true;
	engine_listen_again(engine);
	return false;
}

static bool loop_ends(struct engine *engine, atomic_bool *is_done)
{
	int64_t now_ms = clock_mono_ms();
	int jobs = running_jobs(engine);

	if (jobs || engine->session_count || jobs_hope(engine))
		engine->idle_since_ms = now_ms;
	if (home_is_gone(engine, now_ms))
		engine_stop(engine);
	if (atomic_load(&engine->is_stopping))
		return jobs == 0;
	if (is_done)
		return atomic_load(is_done) && jobs == 0;
	return engine->ends_when_idle && now_ms - engine->idle_since_ms >= IDLE_END_MS;
}

/* Up to the next second that somebody wants to see. */
static int wait_ms(struct engine *engine)
{
	int64_t left_ms = engine->ticked_ms + TICK_MS - clock_mono_ms();

	return left_ms < 0 ? 0 : left_ms < LOOP_WAIT_MS ? (int)left_ms : LOOP_WAIT_MS;
}

/* A call's thread leaves what it has freed with the allocator: after many calls that is more than a hundred jobs at rest
 * have. A console that asks every second is no burst; it needs that memory again. */
static void give_back(struct engine *engine, int64_t now_ms)
{
	if (!engine->call_ended_ms || now_ms - engine->call_ended_ms < GIVE_BACK_AFTER_MS ||
	    now_ms - engine->gave_back_ms < GIVE_BACK_AGAIN_MS)
		return;
	engine->call_ended_ms = 0;
	engine->gave_back_ms = now_ms;
	memory_give_back();
}

static void tick(struct engine *engine, int64_t now_ms)
{
	if (now_ms - engine->ticked_ms < TICK_MS)
		return;
	/* Late ones are not caught up with, early ones would drift. */
	engine->ticked_ms = now_ms - engine->ticked_ms < 2 * TICK_MS ? engine->ticked_ms + TICK_MS : now_ms;
	metrics_tick(engine, now_ms);
	log_tick(engine->log, now_ms);
	if (events_want_states(engine))
		shown_want(engine);
	events_tick(engine, now_ms);
	if (!engine->session_count)
		spares_fill(engine);
	give_back(engine, now_ms);
}

static void poll_once(struct engine *engine)
{
	struct pollfd fds[SESSIONS_MAX + 3] = {
		{ .fd = engine->signal_fd, .events = POLLIN },
		{ .fd = engine->wake_fd, .events = POLLIN },
		{ .fd = clock_mono_ms() < engine->accept_from_ms ? -1 : engine->listen_fd, .events = POLLIN },
	};
	struct session *sessions[SESSIONS_MAX + 3];
	nfds_t count = 3;
	uint64_t wakes;
	ssize_t ignored;

	for (struct session *s = engine->sessions; s && count < SESSIONS_MAX + 3; s = session_next(s)) {
		sessions[count] = s;
		fds[count++] = (struct pollfd){ .fd = session_fd(s), .events = session_events(s) };
	}
	if (poll(fds, count, wait_ms(engine)) < 0)
		return;
	if (fds[0].revents)
		take_signal(engine);
	if (fds[1].revents) {
		ignored = read(engine->wake_fd, &wakes, sizeof(wakes));
		(void)ignored;
	}
	for (nfds_t i = 3; i < count; i++) {
		if (fds[i].revents)
			server_serve(sessions[i], fds[i].revents);
	}
	if (fds[2].revents)
		server_accept(engine);
}

void engine_loop(struct engine *engine, atomic_bool *is_done)
{
	while (!loop_ends(engine, is_done)) {
		poll_once(engine);
		server_sweep(engine, clock_mono_ms());
		tick(engine, clock_mono_ms());
	}
}
