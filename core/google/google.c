/* What one job has of Google, made when it is first needed: endpoints, credentials, a gRPC client a service. */
#include "google/google_private.h"

#include "base/arena.h"
#include "google/token_rest.h"

#include <stdlib.h>

struct place {
	struct endpoint endpoint;
	bool is_found;
	struct grpc_client *client; /* NULL: no call has been made yet */
};

struct google {
	pthread_mutex_t lock;            /* of all below; never held while anything is sent */
	char *credentials_file, *credentials_name, *project, *quota_project, *ca_file;
	struct secret *credentials_content;
	const char *const *allowed_hosts;
	struct token_rest exchange;
	struct credentials *credentials; /* NULL: not needed yet */
	struct place places[GOOGLE_SERVICES];
};

struct google *google_open(const struct google_setup *setup)
{
	struct google *google = memory_zalloc(sizeof(*google));

	pthread_mutex_init(&google->lock, NULL);
	google->credentials_file = memory_string(setup->credentials_file);
	google->credentials_name = memory_string(setup->credentials_name);
	google->credentials_content = setup->credentials_content ? secret_copy(setup->credentials_content) : NULL;
	google->allowed_hosts = setup->allowed_hosts;
	google->project = memory_string(setup->project);
	google->quota_project = memory_string(setup->quota_project);
	google->ca_file = memory_string(setup->ca_file);
	google->exchange.ca_file = google->ca_file;
	return google;
}

void google_close(struct google *google)
{
	if (!google)
		return;
	for (size_t i = 0; i < GOOGLE_SERVICES; i++) {
		if (google->places[i].client)
			grpc_close(google->places[i].client);
	}
	credentials_close(google->credentials);
	secret_free(google->credentials_content);
	free(google->credentials_file);
	free(google->credentials_name);
	free(google->project);
	free(google->quota_project);
	free(google->ca_file);
	pthread_mutex_destroy(&google->lock);
	free(google);
}

/* Opening reads files; nothing is sent. */
static struct credentials *credentials_locked(struct google *google, struct error *err)
{
	struct credentials_setup setup = {
		.file = google->credentials_file,
		.content = google->credentials_content,
		.content_name = google->credentials_name,
		.allowed_hosts = google->allowed_hosts,
		.exchange = token_exchange_rest,
		.context = &google->exchange,
	};

	if (!google->credentials)
		google->credentials = credentials_open(&setup, err);
	return google->credentials;
}

/* Where an emulator, or an override, is named no universe matters: only Google's own hosts have the credentials' domain. */
static bool find_place(struct google *google, enum google_service service, struct endpoint *out, struct error *err)
{
	struct endpoint_wish wish = { 0 };
	struct credentials *credentials;

	if (!endpoint_find(service, &wish, out, err))
		return false;
	if (out->is_emulator)
		return true;
	if (!(credentials = credentials_locked(google, err)))
		return false;
	wish.universe = credentials_universe(credentials);
	return endpoint_find(service, &wish, out, err);
}

static struct place *place_locked(struct google *google, enum google_service service, struct error *err)
{
	struct place *place = &google->places[service];

	if (!place->is_found)
		place->is_found = find_place(google, service, &place->endpoint, err);
	return place->is_found ? place : NULL;
}

bool google_endpoint(struct google *google, enum google_service service, const struct endpoint **out, struct error *err)
{
	struct place *place;

	pthread_mutex_lock(&google->lock);
	place = place_locked(google, service, err);
	pthread_mutex_unlock(&google->lock);
	if (place)
		*out = &place->endpoint;
	return place != NULL;
}

const char *google_ca_file(const struct google *google)
{
	return google->ca_file;
}

bool google_is_emulated(struct google *google, enum google_service service)
{
	struct endpoint_wish wish = { 0 };
	struct endpoint endpoint;

	(void)google;
	return endpoint_find(service, &wish, &endpoint, NULL) && endpoint.is_emulator;
}

const char *google_project(struct google *google)
{
	struct credentials *credentials;

	if (google->project)
		return google->project;
	pthread_mutex_lock(&google->lock);
	credentials = credentials_locked(google, NULL);
	pthread_mutex_unlock(&google->lock);
	return credentials ? credentials_project(credentials) : NULL;
}

const char *google_own_quota_project(const struct google *google)
{
	return google->quota_project;
}

const char *google_quota_project(struct google *google)
{
	struct credentials *credentials;

	if (google->quota_project)
		return google->quota_project;
	credentials = google_credentials(google, NULL);
	return credentials ? credentials_quota_project(credentials) : NULL;
}

bool google_look(struct google *google, struct credentials_view *out)
{
	struct credentials *credentials;

	pthread_mutex_lock(&google->lock);
	credentials = google->credentials;
	pthread_mutex_unlock(&google->lock);
	if (credentials)
		credentials_look(credentials, out);
	return credentials != NULL;
}

struct grpc_client *google_grpc(struct google *google, enum google_service service, struct error *err)
{
	struct place *place;
	struct grpc_client *client = NULL;

	pthread_mutex_lock(&google->lock);
	place = place_locked(google, service, err);
	if (place && !place->client) {
		struct grpc_setup setup = { .endpoint = place->endpoint, .ca_file = google->ca_file };

		place->client = grpc_open(&setup, err);
	}
	if (place)
		client = place->client;
	pthread_mutex_unlock(&google->lock);
	return client;
}

struct credentials *google_credentials(struct google *google, struct error *err)
{
	struct credentials *credentials;

	pthread_mutex_lock(&google->lock);
	credentials = credentials_locked(google, err);
	pthread_mutex_unlock(&google->lock);
	return credentials;
}
