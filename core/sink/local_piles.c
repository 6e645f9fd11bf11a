/* Piles on their way to the disk. Nothing of them has to outlive the step, so nothing is synced. */
#include "sink/piles_private.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define OUT_BYTES ((size_t)256 << 10)
#define KEY_BYTES_MOST ((size_t)4 << 20) /* of keys that stand in memory together while piles are read */

struct piles *piles_new(const char *folder)
{
	struct piles *piles = memory_zalloc(sizeof(*piles));

	piles->folder = folder;
	piles->fd = -1;
	return piles;
}

static void reading_end(struct piles *piles)
{
	for (size_t i = 0; i < piles->count; i++)
		free(piles->items[i].key);
	free(piles->room);
	free(piles->heap);
	piles->room = NULL;
	piles->heap = NULL;
	piles->heap_count = 0;
}

/* Room that cannot be given back is no reason to fail: it is written again, or goes with the descriptor. */
void piles_clear(struct piles *piles)
{
	if (!piles->count && !piles->end)
		return;
	reading_end(piles);
	if (ftruncate(piles->fd, 0) != 0)
		errno = 0;
	free(piles->items);
	free(piles->out);
	piles->items = NULL;
	piles->out = NULL;
	piles->count = piles->key_bytes = piles->out_used = 0;
	piles->end = 0;
}

void piles_free(struct piles *piles)
{
	if (!piles)
		return;
	piles_clear(piles);
	if (piles->fd >= 0)
		close(piles->fd);
	free(piles);
}

size_t piles_count(const struct piles *piles)
{
	return piles->count;
}

bool piles_are_full(const struct piles *piles)
{
	return piles->count >= PILES_MOST - 1 || piles->key_bytes > KEY_BYTES_MOST;
}

/* Not every file system can make a file that has never had a name. */
static int nameless_file(const char *folder)
{
	int fd = fd_open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC);
	char *name;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
		return fd;
	name = path_join(folder, ".merge-XXXXXX");
	fd = fd_temporary(name);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

static bool write_out(struct piles *piles, const void *bytes, size_t len, struct error *err)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = pwrite(piles->fd, at, len, (off_t)piles->end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_errno(err, n ? errno : ENOSPC, "writing the changes of a merge step below '%s'", piles->folder);
		at += n;
		len -= (size_t)n;
		piles->end += n;
	}
	return true;
}

static bool flush(struct piles *piles, struct error *err)
{
	size_t used = piles->out_used;

	piles->out_used = 0;
	return write_out(piles, piles->out, used, err);
}

static bool put(struct piles *piles, const void *bytes, size_t len, struct error *err)
{
	if (len > OUT_BYTES - piles->out_used && !flush(piles, err))
		return false;
	if (len > OUT_BYTES)
		return write_out(piles, bytes, len, err);
	if (len)
		memcpy(piles->out + piles->out_used, bytes, len);
	piles->out_used += len;
	return true;
}

static bool put_span(struct piles *piles, struct span bytes, struct error *err)
{
	return put(piles, bytes.at, bytes.len, err);
}

static bool change_put(struct piles *piles, const struct change *change, uint64_t rank, struct error *err)
{
	struct pile_head head = {
		.rank = rank,
		.key_len = (uint32_t)change->key.len,
		.old_key_len = (uint32_t)change->old_key.len,
		.unavailable_len = (uint32_t)change->unavailable.len,
		.record_len = (uint32_t)change->full_record.len,
		.operation = (uint8_t)change->operation,
		.flags = (change->is_many ? PILE_MANY : 0) | (change->full_record.at ? PILE_RECORD : 0),
	};

	memcpy(head.position, change->position, POSITION_BYTES);
	return put(piles, &head, sizeof(head), err) && put_span(piles, change->key, err) &&
	       put_span(piles, change->old_key, err) && put_span(piles, change->unavailable, err) &&
	       put_span(piles, change->full_record, err);
}

static bool file_need(struct piles *piles, struct error *err)
{
	if (piles->fd < 0)
		piles->fd = nameless_file(piles->folder);
	if (piles->fd < 0)
		return fail_errno(err, errno, "making a file for the changes of a merge step below '%s'", piles->folder);
	if (!piles->items) {
		piles->items = memory_zalloc(PILES_MOST * sizeof(*piles->items));
		piles->out = memory_alloc(OUT_BYTES);
	}
	return true;
}

bool piles_put(struct piles *piles, const struct sieve *sieve, struct error *err)
{
	unsigned char position[POSITION_BYTES];
	struct pile pile = { 0 };
	struct change change;

	if (!file_need(piles, err))
		return false;
	pile.at = piles->end;
	for (size_t i = 0; i < sieve->count; i++) {
		sieve_get(sieve, i, position, &change);
		if (!change_put(piles, &change, sieve->items[i].rank, err))
			return false;
		if (change.key.len > pile.longest_key)
			pile.longest_key = change.key.len;
	}
	if (!flush(piles, err))
		return false;
	pile.end = piles->end;
	piles->key_bytes += pile.longest_key;
	piles->items[piles->count++] = pile;
	return true;
}
