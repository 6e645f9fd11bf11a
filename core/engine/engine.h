/*
 * The engine: jobs, sessions, commands. The control thread (engine_loop) never
 * waits for a job's disk or network: each call runs in a thread of its own,
 * which also writes the answer, so that a slow reader slows only itself.
 */
#ifndef WEIR_ENGINE_ENGINE_H
#define WEIR_ENGINE_ENGINE_H

#include "control/control.h"
#include "options/settings.h"
#include "pipeline/progress.h"

#include <pthread.h>
#include <stdatomic.h>

struct google;

#define IDLE_END_MS (10 * 60 * 1000)

/* How a job was asked to run. */
struct job_run {
	bool until_idle, from_start;
	bool is_replay; /* only the replay on its desk; its source is not read, its state stays */
	bool is_kept;   /* by `weir start`: it runs again when the engine is started again */
	int64_t pace;   /* messages a second, 0: as fast as it goes */
};

/* What the journal was told of a job's waits: a lock that comes and goes is one event, not hundreds. */
struct job_told {
	char code[40];    /* of the wait told last */
	int64_t told_ms;
	bool waits;
};

/* What its files said of its tables when they were last looked at (shown.c), and after which signs that was. */
struct shown_signs {
	uint64_t run_number, dead_lettered, parked;
	unsigned acts;
	int replay_phase;
	bool is_running;
};
struct job_shown {
	enum job_state tables; /* the worst of them; STATE_OK also while nothing is known */
	struct shown_signs signs;
	int64_t looked_ms;
	bool is_known;
};

/* A job that runs, or has run in this engine: one thread (the writer), which makes the others. */
struct job {
	struct job *next;
	struct engine *engine;
	char name[JOB_NAME_MAX + 1]; /* never changes */
	struct job_options *options; /* replaced at each start and by the job's own thread, under engine->lock */
	struct progress *progress;   /* replaced at each start, under engine->lock; others hold it (job_progress) */
	struct replay_desk *desk;    /* made with the job, for as long as it is here */
	atomic_int wish;             /* enum run_wish */
	struct job_run run;
	struct job_run start;        /* asked for while it runs for a replay alone; taken by its own thread */
	bool has_start;              /* both under engine->lock */
	bool is_running, has_thread; /* under engine->lock */
	uint64_t run_number;         /* counts its runs, from 1; under engine->lock */
	pthread_t thread;

	/* of the run that ended last; written before is_running falls */
	struct error failure, note;
	bool has_run;                /* it got as far as reading */

	struct job_told told;        /* under engine->lock */
	struct job_shown shown;      /* under engine->lock */

	struct job_metrics *metrics; /* under engine->lock; NULL until something flows */
};

/* What the console and `weir status` show besides the ledger (metrics.c), and lines for who has subscribed (events.c). */
struct job_metrics;
struct event_lines;

/* A name that nobody else may begin, since its job is being deleted or its start is being written down; or that nobody may
 * delete, since its files are being changed. */
struct taken_name;

struct journal;
struct shown;
struct again;
struct log;
struct replay_view;
struct replay_wish;
struct secrets;

/* A session, and what a call opens: a store with its log and shared memory, twice. */
#define SPARE_FDS 8

struct engine {
	const struct home *home;
	int lock_fd, listen_fd, wake_fd, signal_fd;
	ino_t socket_inode;         /* of the socket as it was made */
	ino_t home_inode;           /* of the home's folder, when the lock was taken */
	bool has_missed_lock;       /* at the last look */
	bool has_told_socket;       /* that it cannot be made again */
	pthread_mutex_t lock;       /* jobs, taken_names, running_jobs */
	pthread_cond_t job_ended;
	struct job *jobs;
	struct taken_name *taken_names;
	int running_jobs;
	pthread_t restorer;         /* starts kept jobs */
	bool has_restorer;
	struct log *log;            /* NULL until the home is ours */
	struct journal *journal;    /* the same */
	struct event_lines *lines;  /* for topics that are made of lines; any thread's */
	atomic_uint dlq_acts;       /* acts on dead letters since the start */
	atomic_uint acts;           /* acts of any kind */
	struct shown *shown;        /* its thread (shown.c) */
	struct secrets *secrets;    /* the vault (run_secret.c); any thread's */
	struct again *again;        /* jobs that broke, and may go on by themselves (job_again.c) */
	int64_t ticked_ms, started_ms;
	struct settings settings;                /* config.json, as it was when the engine started */
	struct option_problems setting_warnings;
	struct session *sessions;   /* the control thread's own */
	atomic_int session_count;   /* others only look */
	int64_t accept_from_ms;     /* no sessions are taken before */
	int spare_fds[SPARE_FDS];   /* given up for a session when there are no descriptors left */
	size_t spare_count;
	bool ends_when_idle;
	atomic_bool is_stopping;    /* drain everything, then end */
	int64_t idle_since_ms;
	int64_t call_ended_ms;  /* the last one; 0: what calls have freed was given back since */
	int64_t gave_back_ms;
	int64_t checked_home_ms;
};

/* Takes the lock (`engine_running`) and the socket. */
bool engine_open(struct engine *engine, const struct home *home, struct error *err);
/* The socket (listen.c); again, once a second, if somebody has taken it away. */
bool engine_listen(struct engine *engine, struct error *err);
void engine_listen_again(struct engine *engine);

/* lock.c. False with `engine_running`: another engine has the home. */
bool lock_take(struct engine *engine, struct error *err);
/* Once a second; the file is made again if it is gone. False: the home is gone, or another engine has it. */
bool lock_keep(struct engine *engine);
/* False: a call could not be ended; nothing was freed, and the process must end at once (_exit). */
bool engine_close(struct engine *engine);

/* Who may do what (access.c): settings are read, socket and home are opened to the group, what is odd is told in the log. */
bool access_open(struct engine *engine, struct error *err);
bool access_share(struct engine *engine, struct error *err);
void access_tell(struct engine *engine);
void access_close(struct engine *engine);

/* The vault of this home (run_secret.c). */
void secrets_open(struct engine *engine);
void secrets_close(struct engine *engine);
/* What the job has of Google, with the credentials that it names, which must be there and readable: `vault_locked`,
 * `secret_unknown`, `bad_credentials`... Nothing is sent. The caller closes *out (google_close). */
bool secrets_serve(struct engine *engine, const struct job_options *options, struct google **out, struct error *err);
/* The vault's line of the engine's health: a level of `weir check` and a sentence. NULL: there is no vault. */
const char *secrets_health(struct engine *engine, char *sentence, size_t room);

/* Log and journal (records.c): opened when the home is ours, closed when nobody is left who could write. */
void records_open(struct engine *engine);
void records_close(struct engine *engine);

/* What the journal is told of a job (job_events.c): that it begins and ended, waits and goes on, and what its pipeline
 * met for the first time. The last three are the hooks of run_setup; `context` is the job. */
void job_tell_begin(struct job *job);
void job_tell_end(struct job *job);
/* It ran when the last engine ended, and cannot start now. */
void job_tell_refused(struct engine *engine, const char *job, const struct error *why);
void job_tell_state(void *context);
void job_tell_event(void *context, const char *table, const char *code, const char *sentence);
void job_tell_note(void *context, const char *table, const char *code, const char *sentence);

/* Serves until told to stop, or, with `is_done` given, until that is true and no other job runs. */
void engine_loop(struct engine *engine, atomic_bool *is_done);
void engine_wake(struct engine *engine); /* from any thread */
void engine_stop(struct engine *engine); /* drain all jobs, then end the loop */

/* Who called: the kernel's word for uid and pid, the client's own for where it comes from. */
struct peer {
	int64_t uid, pid;
	char user[64];  /* "" until peer_name */
	char ssh[128];  /* SSH_CONNECTION as the client said, or "" */
};

/* Looks the user's name up, which may wait for a directory of users: by the call's own thread. */
void peer_name(struct peer *peer);
void peer_set_ssh(struct peer *peer, const char *ssh);

/*
 * A call: what a command gets and how it answers.
 */
struct call {
	struct engine *engine;
	json_t *args;
	enum access access;
	bool is_other_version, only_looks; /* of its session */
	atomic_bool is_cancelled;
	atomic_bool is_gone;        /* nobody reads any more; a call that follows something may end */
	atomic_bool is_cut;         /* cancelled by the engine's end, not by who asked */
	bool lacks_lines;           /* some were left out, or not looked for, since it was cancelled */
	int exit;

	/* One object of output (the reference is taken); false: nobody reads any more. */
	bool (*send_line)(struct call *call, json_t *line);
	void (*send_note)(struct call *call, const char *sentence);
	/* NULL, or asked to show where a job stands, some times a second, from a thread of its own. */
	void (*show_progress)(struct call *call, const char *job_name, const struct progress_view *view);
	void *context;

	struct peer peer;
	int64_t act;                /* of the journal, while an act runs */
	json_t *change, *act_job;   /* journal_act_changed, journal_act_job */
};

bool call_line(struct call *call, json_t *line);
/* For what looks for long and finds little: false once nobody waits for more; what is left out then is remembered. */
bool call_goes_on(struct call *call);
void call_note(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Arguments, with `bad_argument` in words. Texts are lent by the call. */
bool call_text(struct call *call, const char *name, const char **out, struct error *err); /* required */
const char *call_text_or(struct call *call, const char *name, const char *fallback);
bool call_flag(struct call *call, const char *name);
int64_t call_number(struct call *call, const char *name, int64_t fallback);

/* Dispatch by "dlq.list"-like name or id of commands.def. */
bool call_dispatch(struct call *call, const char *name, struct error *err);

/*
 * Sessions (server.c).
 */
void server_accept(struct engine *engine);
/* Descriptors that are kept for who comes when there are none left (accept.c). */
void spares_fill(struct engine *engine);
void spares_close(struct engine *engine);
void server_serve(struct session *session, short revents); /* what poll found */
void server_sweep(struct engine *engine, int64_t now_ms); /* late hellos, ended calls, closed sessions */
int session_fd(const struct session *session);
short session_events(struct session *session);
struct session *session_next(const struct session *session);
/* False: a call does not end; its thread still uses the engine. */
bool server_close_all(struct engine *engine);

/*
 * Events (events.c): what sessions have subscribed to.
 */
void events_open(struct engine *engine);
void events_close(struct engine *engine);
/* Hands a line of "journal" or "logs" (`argument`: its level) to whoever has subscribed. From any thread, never waits;
 * takes the reference. */
void events_publish(struct engine *engine, enum topic_id topic, const char *argument, json_t *line);
bool events_wanted(struct engine *engine, enum topic_id topic);
/* Once a second: sends what has changed. */
void events_tick(struct engine *engine, int64_t now_ms);

/*
 * Tables' states for the topics (shown.c): looked for once a second while somebody has subscribed to jobs. The control thread's.
 */
void shown_open(struct engine *engine);
void shown_want(struct engine *engine);
void shown_close(struct engine *engine);
bool events_want_states(const struct engine *engine); /* events.c */

/*
 * Metrics (metrics.c).
 */
/* Once a second, for the jobs that run. */
void metrics_tick(struct engine *engine, int64_t now_ms);
void metrics_free(struct job_metrics *metrics);

/*
 * Jobs (job.c).
 */

/* The registered options of a job, or of a file ("a/b.json", "x.json"): `job_unknown`, `bad_job_file`... */
struct job_options *job_load(const struct home *home, const char *name_or_file, const char *const *overrides,
                             size_t override_count, struct error *err);
/* The same of a registered job alone: a word that can be no job's name is `job_unknown`, never a file of the engine's
 * working folder. */
struct job_options *job_load_named(const struct home *home, const char *name, struct error *err);
bool job_is_registered(const struct home *home, const char *name, struct error *err); /* `job_unknown` */
/* Registers under its name; `job_differs` unless it is the same, has never run, or `replace`; `wrong_state` while the old
 * one is deleted. */
bool job_register(struct engine *engine, const struct job_options *options, bool replace, struct error *err);
/* Runs it in a thread of its own; `job_running` if it runs already, `wrong_state` while it is deleted. One that is kept is
 * written down before. A job that runs for a replay alone goes on as this run. Takes the options (freed on failure). */
struct job *job_begin(struct engine *engine, struct job_options *options, const struct job_run *run,
                      struct error *err);
/* Puts the wish on the desk of the job that runs, or of one that is begun for it alone. Takes the options. */
struct job *job_replay(struct engine *engine, struct job_options *options, const struct replay_wish *wish,
                       struct error *err);
/* True: the job has ended, and the replay was taken off its desk in one step with that look, so that no later run finds
 * it there. `out_failure` is the job's. */
bool job_leave_replay(struct job *job, struct replay_view *out, struct error *out_failure);
/* The number of the run that was begun for a replay alone and still runs, or 0. */
uint64_t job_replay_run(struct job *job);
/* Nobody begins a job of this name until it is given back: `job_running` if one runs, or is just being started. To delete
 * it, waits for who holds it. */
bool job_take_name(struct engine *engine, const char *name, bool deletes, struct error *err);
void job_give_name(struct engine *engine, const char *name);
/* Nobody deletes the job until it is let go, in a moment: `wrong_state` while it is deleted. Whoever writes to a job's files
 * without being the job holds its name. */
bool job_hold_name(struct engine *engine, const char *name, struct error *err);
bool job_hold_registered(struct engine *engine, const char *name, struct error *err); /* or `job_unknown` */
void job_let_name(struct engine *engine, const char *name);
bool job_runs(struct job *job);
/* The running job of that name, or NULL. Jobs are never freed before the engine ends. */
struct job *job_find_running(struct engine *engine, const char *name);
/* A running job of that name opens itself anew, with what its files say now: a matter of milliseconds between two batches. */
void job_open_again(struct engine *engine, const char *name);
/* The progress of its newest run, held for the caller, who frees it. */
struct progress *job_progress(struct job *job);
/* How its newest run ended, copied. */
struct job_end {
	struct error failure, note;
	bool has_run;   /* it got as far as reading */
	bool is_paused;
};
void job_end(struct job *job, struct job_end *out);
/* Waits until the job has ended, or `wait_ms` passed (-1: for ever). */
bool job_wait(struct job *job, int64_t wait_ms);
/* The same of one run: a later one is not waited for. */
bool job_wait_run(struct job *job, uint64_t run_number, int64_t wait_ms);
/* Waits for all threads; then, when no session is left, frees all. */
void jobs_close(struct engine *engine);
void jobs_free(struct engine *engine);
/* Starts what ran when the last engine ended, in a thread of its own. */
void jobs_restore(struct engine *engine);
/* Jobs that broke and go on when the cause is gone (job_again.c): is there one? After again_end none begins any more. */
void again_open(struct engine *engine);
bool jobs_hope(struct engine *engine);
void again_end(struct engine *engine);
void again_close(struct engine *engine);

/* What state a job is in: its threads' word while it runs, else what its store has kept. */
struct job_standing {
	enum job_state state;
	char code[40];
	char sentence[512];
	bool is_running;
	bool is_hoped;        /* kept: it broke, was not stopped, and is begun again when the cause is gone */
	bool is_replay;       /* it runs for a replay alone: to acts it is in the state that was kept */
};
void job_standing(struct engine *engine, const char *name, struct job_standing *out);
/* Its own, while it runs. */
enum job_state job_running_state(const struct job *job, const struct progress_view *view);
/* Keeps a state for the time when the job does not run. */
bool job_keep_state(const struct home *home, const char *name, enum job_state state, const char *code,
                    const char *sentence, struct error *err);

/* Names of all registered jobs, sorted; a JSON array, new reference. */
json_t *job_names(const struct home *home);
typedef bool on_job_function(struct call *call, const struct job_options *options, void *context, struct error *err);
/* Calls on_job for each registered job, or the one named. One that is damaged does not hide the others: err is the first
 * failure, and false. */
bool job_each(struct call *call, const char *only, on_job_function *on_job, void *context, struct error *err);
/* The same from the last to the first. */
bool job_each_back(struct call *call, const char *only, on_job_function *on_job, void *context, struct error *err);

/* What one job says; new reference, or NULL with a failure. Both: it came so far. Called by several threads at once: `call`
 * and `context` are only read. */
typedef json_t *look_at_job_function(struct call *call, const struct job_options *options, void *context, struct error *err);
/* What each registered job says, or the one named, in the order of their names; an array, new reference. What could be
 * looked at is there also when *out_is_fine is false: err is the first failure then. */
json_t *job_look_all(struct call *call, const char *only, look_at_job_function *look, void *context, bool *out_is_fine,
                     struct error *err);

/*
 * What a job's files say (result.c): the last line of `weir run`.
 */
struct run_facts {
	const struct ledger *this_run; /* NULL: all zero */
	uint64_t in_flight;
	const struct error *failure;   /* NULL: a clean end */
	const struct error *note;      /* the source's own note, or NULL */
	const char *state;             /* the job's, in words */
};
/* New reference; *out_exit is what `weir run` returns. */
json_t *result_make(const struct home *home, const struct job_options *options, const struct run_facts *facts,
                    int *out_exit, struct error *err);

#endif
