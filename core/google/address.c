/* Which hosts are this machine, and which are Google's. */
#include "google/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

static bool v4_is_local(uint32_t address)
{
	return address >> 24 == 127 || address == 0;
}

static bool v6_is_local(const struct in6_addr *address)
{
	uint32_t last;

	if (IN6_IS_ADDR_V4MAPPED(address)) {
		memcpy(&last, address->s6_addr + 12, sizeof(last));
		return v4_is_local(ntohl(last));
	}
	return IN6_IS_ADDR_LOOPBACK(address) || IN6_IS_ADDR_UNSPECIFIED(address);
}

bool address_is_local(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return v4_is_local(ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr));
	if (address->sa_family == AF_INET6)
		return v6_is_local(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return address->sa_family == AF_UNIX;
}

static bool ends_with(const char *host, const char *end)
{
	size_t len = strlen(host), tail = strlen(end);

	return len > tail && strcasecmp(host + len - tail, end) == 0;
}

bool endpoint_is_local(const char *host)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return v4_is_local(ntohl(v4.s_addr));
	if (inet_pton(AF_INET6, host, &v6) == 1)
		return v6_is_local(&v6);
	return strcasecmp(host, "localhost") == 0 || ends_with(host, ".localhost");
}

bool endpoint_is_google(const char *host, const char *universe)
{
	char end[256];

	snprintf(end, sizeof(end), ".%s", universe && *universe ? universe : "googleapis.com");
	return ends_with(host, end);
}
