/* TLS for gRPC: verified by name, HTTP/2 offered and checked afterwards. */
#include "google/grpc_private.h"

#include "google/endpoint.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

/* "h2" as ALPN wants it: with its length in front. */
static const unsigned char alpn[] = { 2, 'h', '2' };

static void last_error(char *text, size_t room)
{
	unsigned long number = ERR_peek_last_error();
	const char *reason = number ? ERR_reason_error_string(number) : NULL;

	snprintf(text, room, "%s", reason ? reason : "the connection was closed");
	ERR_clear_error();
}

SSL_CTX *tls_new(const char *ca_file, struct error *err)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	char why[TEXT_BYTES];

	if (!context) {
		fail(err, ERROR_BUG, "internal_error", "TLS cannot be set up");
		return NULL;
	}
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_alpn_protos(context, alpn, sizeof(alpn));
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	/* The buffer may have moved when a write is repeated. */
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	if (ca_file ? SSL_CTX_load_verify_locations(context, ca_file, NULL) == 1 : SSL_CTX_set_default_verify_paths(context) == 1)
		return context;
	last_error(why, sizeof(why));
	fail(err, ERROR_CONFIG, "bad_endpoint", "cannot read the certificates in '%s': %s", ca_file ? ca_file : "the system", why);
	SSL_CTX_free(context);
	return NULL;
}

static bool is_address(const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* A name is asked for (SNI) and checked; an address is only checked, as SNI has no addresses. */
static bool set_host(SSL *ssl, const char *host)
{
	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

SSL *tls_begin(SSL_CTX *context, const char *host, int fd)
{
	SSL *ssl = SSL_new(context);

	if (ssl && SSL_set_fd(ssl, fd) == 1 && set_host(ssl, host)) {
		SSL_set_connect_state(ssl);
		return ssl;
	}
	SSL_free(ssl);
	return NULL;
}

/* A certificate that fails to verify is another matter than a handshake that breaks: the one needs somebody. */
const char *tls_failure(SSL *ssl, char *text, size_t room)
{
	long verdict = SSL_get_verify_result(ssl);

	if (verdict != X509_V_OK) {
		snprintf(text, room, "%s", X509_verify_cert_error_string(verdict));
		ERR_clear_error();
		return "tls_untrusted";
	}
	last_error(text, room);
	return strstr(text, "no application protocol") ? "no_http2" : "tls_failed";
}

bool tls_speaks_http2(SSL *ssl)
{
	const unsigned char *chosen = NULL;
	unsigned len = 0;

	SSL_get0_alpn_selected(ssl, &chosen, &len);
	return len == sizeof(alpn) - 1 && memcmp(chosen, alpn + 1, len) == 0;
}
