/* The look ahead of the JSON reader: which of the next 64 bytes are not plain text. */
#include "record/json_private.h"

/* The multiplication of the portable one moves the highest bits of eight bytes side by side. */
JSON_ALWAYS_INLINE uint64_t block_marks(const char *at)
{
#if defined(__SSE2__)
	return json_block_special(at);
#else
	return (json_block_special(at) >> 7) * UINT64_C(0x0102040810204080) >> 56;
#endif
}

JSON_ALWAYS_INLINE uint64_t stride_marks(const char *at)
{
	uint64_t marks = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < JSON_STRIDE; i += JSON_BLOCK)
		marks |= block_marks(at + i) << i;
	return marks;
}

/* The last bytes are copied to where a whole stride may be read. */
static uint64_t tail_marks(const char *at, size_t length)
{
	char tail[JSON_STRIDE] = { 0 };

	memcpy(tail, at, length);
	return stride_marks(tail) & ((UINT64_C(1) << length) - 1);
}

uint64_t json_stride_marks(const char *at, const char *end)
{
	if (json_likely(end - at >= JSON_STRIDE))
		return stride_marks(at);
	return at < end ? tail_marks(at, (size_t)(end - at)) : 0;
}
