/*
 * `weir secret`: the vault of this home, and the credentials that jobs name. What comes in a box is opened here and nowhere else; no value is ever answered,
 * logged or written down.
 */
#include "base/arena.h"
#include "base/file.h"
#include "engine/commands_private.h"
#include "engine/journal.h"
#include "google/google.h"
#include "vault/vault.h"

#include <stdlib.h>

struct secrets {
	struct vault *vault;
	pthread_mutex_t lock;  /* of the box */
	struct vault_box *box; /* NULL until somebody asks for its address */
};

void secrets_open(struct engine *engine)
{
	char *path = path_join(engine->home->state, "vault");
	char *beside = path_join(engine->home->state, "vault.key");
	const char *key_path = engine->settings.vault_key_file;

	engine->secrets = memory_zalloc(sizeof(*engine->secrets));
	engine->secrets->vault = vault_new(path, key_path ? key_path : beside);
	pthread_mutex_init(&engine->secrets->lock, NULL);
	free(beside);
	free(path);
}

void secrets_close(struct engine *engine)
{
	struct secrets *secrets = engine->secrets;

	if (!secrets)
		return;
	vault_box_free(secrets->box);
	vault_free(secrets->vault);
	pthread_mutex_destroy(&secrets->lock);
	free(secrets);
	engine->secrets = NULL;
}

const char *secrets_health(struct engine *engine, char *sentence, size_t room)
{
	struct vault_facts facts;
	struct error why = { 0 };

	vault_look(engine->secrets->vault, &facts, &why);
	json_decref(facts.secrets);
	if (facts.state == VAULT_NONE)
		return NULL;
	if (facts.state == VAULT_BROKEN)
		snprintf(sentence, room, "%s: %s", why.code, why.message);
	else
		snprintf(sentence, room, "%s, %s", vault_state_name(facts.state), facts.has_passphrase ? "passphrase" : "key file");
	return facts.state == VAULT_OPEN ? "ok" : facts.state == VAULT_LOCKED ? "warning" : "fails";
}

/* Credentials that are named must do, whatever the job does with them; without a name they are looked for when needed. */
static bool credentials_do(const struct google_setup *setup, bool is_secret, struct error *err)
{
	struct credentials_setup wish = { .file = setup->credentials_file, .content = setup->credentials_content,
		                          .content_name = setup->credentials_name, .allowed_hosts = setup->allowed_hosts };

	if (is_secret && !setup->credentials_content)
		return false;
	return (!is_secret && !setup->credentials_file) || credentials_check(&wish, err);
}

bool secrets_serve(struct engine *engine, const struct job_options *options, struct google **out, struct error *err)
{
	static const char by_name[] = "vault:";
	const char *named = options->credentials;
	bool is_secret = named && strncmp(named, by_name, strlen(by_name)) == 0, are_fine;
	struct secret *content = is_secret ? vault_get(engine->secrets->vault, named + strlen(by_name), err) : NULL;
	struct google_setup setup = {
		.credentials_file = is_secret ? NULL : named,
		.credentials_content = content,
		.credentials_name = named,
		.allowed_hosts = engine->settings.token_hosts,
		.project = options->project,
		.quota_project = options->quota_project,
		.ca_file = engine->settings.ca_file,
	};

	are_fine = credentials_do(&setup, is_secret, err);
	if (are_fine)
		*out = google_open(&setup);
	secret_free(content);
	return are_fine;
}

static struct vault_box *box_of(struct secrets *secrets)
{
	pthread_mutex_lock(&secrets->lock);
	if (!secrets->box)
		secrets->box = vault_box_new();
	pthread_mutex_unlock(&secrets->lock);
	return secrets->box;
}

/* What the client sent in a box; NULL with err. */
static struct secret *sealed_argument(struct call *call, struct error *err)
{
	const char *sealed;

	if (!call_text(call, "sealed_secret", &sealed, err))
		return NULL;
	return vault_box_open(box_of(call->engine->secrets), sealed, err);
}

static void tell_unlocked_memory(struct call *call)
{
	if (!secrets_are_locked())
		call_note(call, "the system did not lock the memory of secrets (ulimit -l); they could be written to swap");
}

static void tell_version(struct call *call, int64_t version)
{
	char before[48] = "none", after[48];

	if (version > 1)
		snprintf(before, sizeof(before), "version %lld", (long long)version - 1);
	snprintf(after, sizeof(after), "version %lld", (long long)version);
	journal_act_changed(call, before, after);
}

bool run_secret_put(struct call *call, struct error *err)
{
	struct secret *value;
	const char *name;
	int64_t version = 0;
	bool is_put;

	if (!call_text(call, "name", &name, err) || !vault_name_is_fine(name, err) || !(value = sealed_argument(call, err)))
		return false;
	is_put = vault_put(call->engine->secrets->vault, name, value, &version, err);
	secret_free(value);
	if (!is_put)
		return false;
	tell_version(call, version);
	tell_unlocked_memory(call);
	call_line(call, json_pack("{s:s, s:I}", "secret", name, "version", (json_int_t)version));
	return true;
}

static json_t *vault_line(struct call *call, const struct vault_facts *facts, const struct error *why)
{
	json_t *line = json_pack("{s:s, s:i, s:s}", "vault", vault_state_name(facts->state), "secrets",
	                         (int)json_array_size(facts->secrets), "seal_to",
	                         vault_box_address(box_of(call->engine->secrets)));

	/* Of a file that cannot be read nothing is known. */
	if (facts->state != VAULT_NONE && facts->secrets)
		json_object_set_new(line, "sealed_by", json_string(facts->has_passphrase ? "passphrase" : "key file"));
	if (facts->state == VAULT_LOCKED || facts->state == VAULT_BROKEN)
		json_object_set_new(line, "error", error_to_json(why));
	return line;
}

/* One that is locked can still be listed; one that is broken is a failure, once what can be said was said. */
bool run_secret_list(struct call *call, struct error *err)
{
	struct vault_facts facts;
	struct error why = { 0 };
	json_t *each;
	size_t i;

	vault_look(call->engine->secrets->vault, &facts, &why);
	call_line(call, vault_line(call, &facts, &why));
	json_array_foreach(facts.secrets, i, each)
		call_line(call, json_incref(each));
	json_decref(facts.secrets);
	if (facts.state == VAULT_BROKEN)
		*err = why;
	return facts.state != VAULT_BROKEN;
}

bool run_secret_delete(struct call *call, struct error *err)
{
	const char *name;

	if (!call_text(call, "name", &name, err) || !vault_delete(call->engine->secrets->vault, name, err))
		return false;
	call_line(call, json_pack("{s:s, s:b}", "secret", name, "deleted", true));
	return true;
}

bool run_secret_unlock(struct call *call, struct error *err)
{
	struct secret *passphrase = sealed_argument(call, err);
	bool is_open = passphrase && vault_unlock(call->engine->secrets->vault, passphrase, err);

	secret_free(passphrase);
	if (!is_open)
		return false;
	tell_unlocked_memory(call);
	call_line(call, json_pack("{s:s}", "vault", "open"));
	return true;
}

bool run_secret_seal(struct call *call, struct error *err)
{
	bool has_passphrase = call_flag(call, "passphrase");
	struct secret *passphrase = NULL;
	bool is_sealed;

	if (has_passphrase && !(passphrase = sealed_argument(call, err)))
		return false;
	is_sealed = vault_seal(call->engine->secrets->vault, passphrase, err);
	secret_free(passphrase);
	if (!is_sealed)
		return false;
	if (has_passphrase)
		call_note(call, "after each start of the engine the vault is locked until 'weir secret unlock'");
	call_line(call, json_pack("{s:s, s:s}", "vault", "open", "sealed_by", has_passphrase ? "passphrase" : "key file"));
	return true;
}
