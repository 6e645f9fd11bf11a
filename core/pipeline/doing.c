/* What a job is doing, for the run after one that died of it. */
#include "pipeline/doing.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define DOING_MAGIC UINT64_C(0x7765697264300001)
#define POISONS_MAX 16
#define KILLS_MAX 3

struct culprit {
	uint64_t place;   /* message.offset + 1; 0: nobody */
	uint64_t channel;
};

/* As it lies in the file; ours alone, on this machine. */
struct page {
	uint64_t magic;
	volatile uint32_t signal;      /* that the process died of while it was transforming */
	uint32_t is_open;
	volatile struct culprit now;   /* being transformed */
	struct culprit last;           /* what was when a run was killed, */
	uint64_t kills;                /* and how many in a row */
	struct culprit poisons[POISONS_MAX];
	uint64_t poison_count;         /* ever; the newest are kept */
};

struct doing {
	struct page *page;
	bool was_killed;
};

static bool is_same(const struct culprit *a, const struct culprit *b)
{
	return a->place == b->place && a->channel == b->channel;
}

static void blame(struct page *page, const struct culprit *culprit)
{
	page->poisons[page->poison_count++ % POISONS_MAX] = *culprit;
	page->kills = 0;
	page->last = (struct culprit){ 0 };
}

/* A signal is one message's doing. Whoever was killed from outside may have been anybody; three times the same is no chance. */
static void judge(struct page *page)
{
	struct culprit culprit = { page->now.place, page->now.channel };

	if (!culprit.place) {
		page->kills = 0;
		page->last = culprit;
		return;
	}
	page->kills = is_same(&culprit, &page->last) ? page->kills + 1 : 1;
	page->last = culprit;
	if (page->signal || page->kills >= KILLS_MAX)
		blame(page, &culprit);
}

static struct page *map(const char *path)
{
	int fd = fd_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW);
	void *page = MAP_FAILED;

	if (fd < 0)
		return NULL;
	/* Room first: a page that the disk cannot take would be a signal itself. */
	if (posix_fallocate(fd, 0, sizeof(struct page)) == 0)
		page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

struct doing *doing_open(const char *path)
{
	struct page *page = map(path);
	struct doing *doing;

	if (!page)
		return NULL;
	if (page->magic != DOING_MAGIC)
		*page = (struct page){ .magic = DOING_MAGIC };
	doing = memory_zalloc(sizeof(*doing));
	doing->page = page;
	doing->was_killed = page->is_open;
	if (page->is_open)
		judge(page);
	page->signal = 0;
	page->now.place = 0;
	page->is_open = 1;
	return doing;
}

void doing_close(struct doing *doing)
{
	if (!doing)
		return;
	doing->page->now.place = 0;
	doing->page->is_open = 0;
	doing->page->kills = 0;
	munmap(doing->page, sizeof(*doing->page));
	free(doing);
}

bool doing_was_killed(const struct doing *doing)
{
	return doing && doing->was_killed;
}

void doing_begin(struct doing *doing, const struct message *message)
{
	if (!doing)
		return;
	fatal_mark_at(&doing->page->signal);
	doing->page->now.channel = message->channel;
	doing->page->now.place = message->offset + 1;
}

void doing_done(struct doing *doing)
{
	if (!doing)
		return;
	doing->page->now.place = 0;
	fatal_mark_at(NULL);
}

bool doing_is_poison(const struct doing *doing, const struct message *message)
{
	struct culprit culprit = { message->offset + 1, message->channel };

	if (!doing || !doing->page->poison_count)
		return false;
	for (size_t i = 0; i < POISONS_MAX; i++) {
		if (is_same(&doing->page->poisons[i], &culprit))
			return true;
	}
	return false;
}
