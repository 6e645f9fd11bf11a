/*
 * The format "ustar" of POSIX.1: each file is a header of 512 bytes and its
 * content, filled up with zeros to whole blocks; two empty blocks end the archive.
 */
#include "engine/tar.h"

#include <stdio.h>

#define BLOCK 512
#define NAME_BYTES 100

/* Offsets and widths of the header's members; numbers are octal text. */
enum {
	AT_NAME = 0,
	AT_MODE = 100,
	AT_UID = 108,
	AT_GID = 116,
	AT_SIZE = 124,
	AT_TIME = 136,
	AT_SUM = 148,
	AT_TYPE = 156,
	AT_MAGIC = 257,
	AT_VERSION = 263
};

static bool put(struct tar *tar, struct span bytes)
{
	tar->has_failed = tar->has_failed || !tar->write(tar->context, bytes);
	return !tar->has_failed;
}

static void set_octal(unsigned char *header, int at, int digits, uint64_t number)
{
	for (int i = digits - 1; i >= 0; i--) {
		header[at + i] = (unsigned char)('0' + (number & 7));
		number >>= 3;
	}
}

/* The sum is taken with blanks in its own place. */
static void set_sum(unsigned char *header)
{
	unsigned sum = 0;

	memset(header + AT_SUM, ' ', 8);
	for (int i = 0; i < BLOCK; i++)
		sum += header[i];
	set_octal(header, AT_SUM, 6, sum);
	header[AT_SUM + 6] = '\0';
}

bool tar_add(struct tar *tar, const char *name, struct span content)
{
	static const char zeros[BLOCK];
	unsigned char header[BLOCK] = { 0 };
	size_t len = strlen(name), rest = content.len % BLOCK;

	if (len > NAME_BYTES)
		return false;
	memcpy(header + AT_NAME, name, len);
	set_octal(header, AT_MODE, 7, 0600);
	set_octal(header, AT_UID, 7, 0);
	set_octal(header, AT_GID, 7, 0);
	set_octal(header, AT_SIZE, 11, content.len);
	set_octal(header, AT_TIME, 11, tar->time_s > 0 ? (uint64_t)tar->time_s : 0);
	header[AT_TYPE] = '0';
	memcpy(header + AT_MAGIC, "ustar", 6);
	memcpy(header + AT_VERSION, "00", 2);
	set_sum(header);
	return put(tar, span_make((const char *)header, BLOCK)) && (!content.len || put(tar, content)) &&
	       (!rest || put(tar, span_make(zeros, BLOCK - rest)));
}

bool tar_end(struct tar *tar)
{
	static const char zeros[2 * BLOCK];

	return put(tar, span_make(zeros, sizeof(zeros)));
}
