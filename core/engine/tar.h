/* A tar archive (POSIX ustar) of files that we hold in memory, handed out piece by piece. */
#ifndef WEIR_ENGINE_TAR_H
#define WEIR_ENGINE_TAR_H

#include "base/span.h"

#include <stdint.h>

struct tar {
	bool (*write)(void *context, struct span bytes); /* false: stop */
	void *context;
	int64_t time_s;
	bool has_failed;
};

/* A file of mode 0600. False: the name has more than 100 bytes, or somebody stopped. */
bool tar_add(struct tar *tar, const char *name, struct span content);
bool tar_end(struct tar *tar);

#endif
