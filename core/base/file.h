/* Files and folders: whole reads with a limit, replacement in one step. */
#ifndef WEIR_BASE_FILE_H
#define WEIR_BASE_FILE_H

#include "base/error.h"
#include "base/text.h"

/* The whole file; the caller frees *out. A larger one is `file_too_large`, a FIFO or device `not_a_file`. */
bool file_read(const char *path, size_t limit, char **out, size_t *out_len, struct error *err);
/* The same of a file whose folder others may write to: a symbolic link, which may lead to what only we may read, is `not_a_file`. */
bool file_read_no_link(const char *path, size_t limit, char **out, size_t *out_len, struct error *err);

/* open(2), begun again when a signal comes between; a new file gets mode 0600. */
int fd_open(const char *path, int flags);

/* A new file, mode 0600, whose name ends with six X that become what is free. */
int fd_temporary(char *name);

/* write(2), gone on with after a signal or a short count. Returns how much was written; less than all: errno says why. */
size_t fd_write_all(int fd, struct span content);

/* A file of ours must not get the number of a stream that somebody closed: what is written to it would go there, and what is
 * read from it come from there. A stream that was closed takes and gives nothing. First thing in main. */
bool streams_hold(void);

/* Written beside, synced, renamed over: readers see the old or the new one. Mode 0600. */
bool file_replace(const char *path, struct span content, struct error *err);

/* Makes a new name in the folder of `path` last through a crash of the machine. */
bool folder_sync_of(const char *path, struct error *err);

/* mkdir -p with mode 0700 for what is missing. */
bool folder_make(const char *path, struct error *err);
/* Only the folder itself. For what lies in a home: one that was deleted under us is not made again in part. */
bool folder_make_last(const char *path, struct error *err);

/* `path` as it is if absolute, else below `base`; the caller frees. */
char *path_resolve(const char *base_folder, const char *path);
char *path_join(const char *folder, const char *name); /* the caller frees */
char *path_folder(const char *path);                   /* "." if none; the caller frees */

#endif
