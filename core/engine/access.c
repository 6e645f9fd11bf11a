/*
 * Who may do what: the kernel says who a peer is, config.json whom the owner lets
 * in. Members of socketGroup view, operators operate, the engine's own user and
 * root may all, nobody else connects.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/session_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PEER_GROUPS_MAX 65536 /* as the kernel has it */

bool access_open(struct engine *engine, struct error *err)
{
	return settings_load(engine->home, &engine->settings, &engine->setting_warnings, err);
}

void access_close(struct engine *engine)
{
	option_problems_free(&engine->setting_warnings);
	settings_release(&engine->settings);
}

/*
 * The way to the socket
 */

static bool may_pass(const struct stat *folder, gid_t group)
{
	return folder->st_mode & S_IXOTH || (folder->st_gid == group && folder->st_mode & S_IXGRP);
}

/* The group may pass the folder to a name that it knows, and see no list; what lies in it is the owner's alone. */
static bool open_folder(const char *folder, gid_t group, struct error *err)
{
	struct stat info;

	if (stat(folder, &info) != 0)
		return fail_errno(err, errno, "cannot look at folder '%s'", folder);
	if (may_pass(&info, group))
		return true;
	if (chown(folder, (uid_t)-1, group) != 0 || chmod(folder, (info.st_mode & 07707) | S_IXGRP) != 0)
		return fail_errno(err, errno, "cannot let group %lu pass folder '%s'", (unsigned long)group, folder);
	return true;
}

bool access_share(struct engine *engine, struct error *err)
{
	const char *socket = engine->home->socket;
	gid_t group = engine->settings.group;
	char *folder;
	bool is_fine;

	if (!engine->settings.has_group)
		return true;
	folder = path_folder(socket);
	is_fine = open_folder(folder, group, err);
	free(folder);
	/* First whose, then open: never open to the group that it was made with. */
	if (is_fine && (chown(socket, (uid_t)-1, group) != 0 || chmod(socket, 0660) != 0))
		is_fine = fail_errno(err, errno, "cannot give '%s' to group '%s'", socket, engine->settings.group_name);
	return is_fine;
}

/* Folders above the home are their owners'; that the group cannot pass one is worth a word. */
static void tell_closed_folders(const struct engine *engine)
{
	char *folder = path_folder(engine->home->socket);

	while (strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0) {
		char *above = path_folder(folder);
		struct stat info;

		if (stat(folder, &info) == 0 && !may_pass(&info, engine->settings.group))
			log_warn(engine->log, "session", NULL, "socketGroup cannot pass a folder above the socket",
			         FIELD_TEXT("folder", folder), FIELD_TEXT("group", engine->settings.group_name));
		free(folder);
		folder = above;
	}
	free(folder);
}

void access_tell(struct engine *engine)
{
	for (size_t i = 0; i < engine->setting_warnings.count; i++) {
		OWNED(text) line = text_new(4096);

		option_problem_line(&engine->setting_warnings.items[i], "config.json", line);
		log_warn(engine->log, "session", NULL, line->at, FIELD_TEXT("code", engine->setting_warnings.items[i].code));
	}
	if (engine->settings.has_group)
		tell_closed_folders(engine);
}

/*
 * Peers
 */

/* All groups that the peer had when it connected, by the kernel's word. */
static bool is_member(int fd, gid_t first, gid_t group)
{
	socklen_t size = PEER_GROUPS_MAX * sizeof(gid_t);
	gid_t *groups;
	bool is_in = first == group;

	if (is_in)
		return true;
	groups = memory_alloc(size);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0)
		size = 0;
	for (size_t i = 0; i < size / sizeof(gid_t) && !is_in; i++)
		is_in = groups[i] == group;
	free(groups);
	return is_in;
}

static bool is_operator(const struct settings *settings, uid_t uid)
{
	for (size_t i = 0; i < settings->operator_count; i++) {
		if (settings->operators[i] == uid)
			return true;
	}
	return false;
}

bool access_of_peer(const struct engine *engine, int fd, enum access *out, struct peer *out_peer)
{
	const struct settings *settings = &engine->settings;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return false;
	*out_peer = (struct peer){ .uid = peer.uid, .pid = peer.pid };
	if (peer.uid == 0 || peer.uid == geteuid())
		*out = ADMIN;
	else if (!settings->has_group || !is_member(fd, peer.gid, settings->group))
		return false;
	else
		*out = is_operator(settings, peer.uid) ? OPERATE : VIEW;
	return true;
}
