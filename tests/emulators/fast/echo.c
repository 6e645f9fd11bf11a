/* The echo service of the Go servers, in its streaming and its unary form. */
#include "fast.h"

#include <stdlib.h>

static void send_back(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	fast_send(stream, at, len);
}

static void finish(struct fast_stream *stream)
{
	fast_finish(stream, 0);
}

static const struct fast_service services[] = {
	{ "/weir.test.Echo/Bidi", send_back, finish },
	{ "/weir.test.Echo/Unary", send_back, finish },
	{ NULL, NULL, NULL },
};

int main(void)
{
	return fast_serve(services);
}
