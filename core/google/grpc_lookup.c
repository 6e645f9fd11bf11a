/*
 * Looking up a name. getaddrinfo may wait for half a minute and cannot be told to
 * stop, so it has a thread; the look-up outlives a client that is closed meanwhile
 * and is freed by whoever is last.
 */
#include "google/grpc_private.h"

#include "base/arena.h"

#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <unistd.h>

#define STACK_BYTES (256U << 10)

struct grpc_lookup {
	atomic_int holders;
	atomic_bool is_done;
	int wake; /* written when it is done; ours */
	char host[256], port[8];
	struct addrinfo *found;
	int number; /* EAI_..., 0 fine */
};

static bool look_up(struct grpc_lookup *lookup, int flags)
{
	struct addrinfo wish = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };

	lookup->number = getaddrinfo(lookup->host, lookup->port, &wish, &lookup->found);
	return lookup->number == 0;
}

void lookup_free(struct grpc_lookup *lookup)
{
	if (!lookup || atomic_fetch_sub(&lookup->holders, 1) > 1)
		return;
	if (lookup->found)
		freeaddrinfo(lookup->found);
	if (lookup->wake >= 0)
		close(lookup->wake);
	free(lookup);
}

static void *look_up_main(void *argument)
{
	struct grpc_lookup *lookup = argument;
	uint64_t one = 1;
	ssize_t written;

	look_up(lookup, 0);
	atomic_store(&lookup->is_done, true);
	written = write(lookup->wake, &one, sizeof(one));
	(void)written; /* an eventfd that is full wakes, too */
	lookup_free(lookup);
	return NULL;
}

static bool start_thread(struct grpc_lookup *lookup)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	bool is_started;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_started = pthread_create(&thread, &attributes, look_up_main, lookup) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return is_started;
}

struct grpc_lookup *lookup_start(const char *host, uint16_t port, int wake_fd)
{
	struct grpc_lookup *lookup = memory_zalloc(sizeof(*lookup));

	lookup->holders = 1;
	lookup->wake = -1;
	snprintf(lookup->host, sizeof(lookup->host), "%s", host);
	snprintf(lookup->port, sizeof(lookup->port), "%u", (unsigned)port);
	/* An address needs nobody's help. */
	if (look_up(lookup, AI_NUMERICHOST)) {
		lookup->is_done = true;
		return lookup;
	}
	lookup->wake = fcntl(wake_fd, F_DUPFD_CLOEXEC, 0);
	lookup->holders = 2;
	if (lookup->wake < 0 || !start_thread(lookup)) {
		lookup->holders = 1;
		lookup->number = EAI_AGAIN;
		lookup->is_done = true;
	}
	return lookup;
}

bool lookup_done(struct grpc_lookup *lookup, const struct addrinfo **out, const char **out_why)
{
	if (!atomic_load(&lookup->is_done))
		return false;
	*out = lookup->found;
	*out_why = lookup->number ? gai_strerror(lookup->number) : "";
	return true;
}
