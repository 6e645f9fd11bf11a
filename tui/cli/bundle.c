/* `weir debug bundle`: the engine sends an archive in pieces, we write it into a file of our own. */
#include "cli/cli_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct target {
	const char *path;
	int fd;
	long long bytes;
	struct error err;
};

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t put = write(fd, bytes, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		bytes += put;
		len -= (size_t)put;
	}
	return true;
}

static void take_piece(void *context, const json_t *line)
{
	struct target *target = context;
	const json_t *piece = json_object_get(line, "b64");
	struct span text = { json_string_value(piece), json_string_length(piece) };
	char *bytes;
	size_t len = 0;

	if (!text.at || target->err.kind != ERROR_NONE)
		return;
	bytes = memory_alloc(text.len + 1);
	if (base64_decode(text, bytes, &len) && !write_all(target->fd, bytes, len))
		fail_errno(&target->err, errno, "cannot write '%s'", target->path);
	target->bytes += (long long)len;
	free(bytes);
}

/* "weir-debug-20261130T023730Z.tar" in the working folder. */
static void name_by_time(char *out, size_t room)
{
	char time[CLOCK_TEXT_BYTES];

	clock_text(clock_utc_us(), time);
	snprintf(out, room, "weir-debug-%.4s%.2s%.5s%.2s%.2sZ.tar", time, time + 5, time + 8, time + 14, time + 17);
}

/* A file that is there already is left alone: it may be the one that was asked for last time. */
static bool target_open(struct target *target, struct error *err)
{
	target->fd = open(target->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (target->fd >= 0)
		return true;
	if (errno == EEXIST)
		return fail(err, ERROR_USAGE, "file_exists", "'%s' is there already; nothing was written",
		            target->path);
	return fail_errno(err, errno, "cannot make '%s'", target->path);
}

static bool target_close(struct target *target, struct error *err)
{
	bool is_closed = close(target->fd) == 0;

	if (target->err.kind == ERROR_NONE && is_closed)
		return true;
	if (target->err.kind == ERROR_NONE)
		fail_errno(&target->err, errno, "cannot write '%s'", target->path);
	*err = target->err;
	return false;
}

static void say_done(const struct target *target, bool is_json)
{
	json_t *line;

	if (!is_json) {
		cli_print_text(target->path);
		printf(": %lld bytes; look at it before you give it away\n", target->bytes);
		return;
	}
	line = json_pack("{s:s, s:I}", "file", target->path, "bytes", (json_int_t)target->bytes);
	cli_print_json(line);
	json_decref(line);
}

static bool fetch(const struct home *home, const struct command_line *line, struct target *target, int *out_status,
                  struct error *err)
{
	struct client_hooks hooks = { .on_line = take_piece, .on_note = cli_note, .context = target };
	struct client *client = client_open_or_start(home, &hooks, err);
	bool is_fine;

	if (!client)
		return false;
	if (!target_open(target, err)) {
		client_close(client);
		return false;
	}
	is_fine = client_call(client, line->command->call, json_incref(line->args), &hooks, out_status, err);
	client_close(client);
	is_fine = is_fine ? target_close(target, err) : (close(target->fd), false);
	if (!is_fine)
		unlink(target->path);
	return is_fine;
}

int cli_bundle(const struct home *home, const struct command_line *line)
{
	char name[64];
	struct target target = { .path = json_string_value(json_object_get(line->args, "out")), .fd = -1 };
	struct error err = { 0 };
	int status = 0;

	name_by_time(name, sizeof(name));
	if (!target.path)
		target.path = name;
	if (!fetch(home, line, &target, &status, &err))
		return cli_complain(&err, line);
	say_done(&target, line->is_json);
	return status;
}
