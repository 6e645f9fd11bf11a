/*
 * The protocol as a page, core/control/PROTOCOL.md: what is fixed stands here,
 * calls and topics come from their tables. `make docs` writes it, a unit test
 * compares.
 */
#include "control/control.h"

static const char opening[] =
	"# The protocol of weird\n"
	"\n"
	"Made from `commands.def` and `topics.def` by `make docs`; changes belong there.\n"
	"\n"
	"Lines of JSON over the unix stream socket `$WEIR_HOME/weird.sock`, UTF-8, one object a line, each ended by a newline and\n"
	"at most 1 MiB long. `socat` is enough to speak it:\n"
	"\n"
	"```\n"
	"$ socat - UNIX-CONNECT:$WEIR_HOME/weird.sock\n"
	"{\"hello\":{\"protocol\":1}}\n"
	"{\"hello\":{\"protocol\":1,\"program\":\"weird\",\"version\":\"0.1.0\",\"access\":\"admin\",\"pid\":4711,..}}\n"
	"{\"id\":1,\"call\":\"status\"}\n"
	"{\"id\":1,\"line\":{\"job\":\"orders\",\"state\":\"ok\",...}}\n"
	"{\"id\":1,\"ok\":{\"exit\":0}}\n"
	"```\n"
	"\n"
	"## Lines\n"
	"\n"
	"| who | line | when |\n"
	"|---|---|---|\n"
	"| client | `{\"hello\":{\"protocol\":1,\"program\":\"..\",\"ssh\":\"..\",\"access\":\"view\"}}` | first, within 5 seconds; only `protocol` is needed; with `access` the session only looks, whatever it might do |\n"
	"| engine | `{\"hello\":{\"protocol\":1,\"program\":\"weird\",\"version\":\"..\",\"access\":\"view\\|operate\\|admin\",\"pid\":N,\"name\":\"..\",\"production\":B}}` | the answer; `access` is what this session may do, `name` and `production` what the settings say of this engine |\n"
	"| client | `{\"id\":N,\"call\":\"NAME\",\"args\":{..}}` | a call; `id` is the client's own number, `args` may be missing |\n"
	"| engine | `{\"id\":N,\"line\":{..}}` | any number: one object of the output each, as `--json` prints it |\n"
	"| engine | `{\"id\":N,\"note\":\"..\"}` | any number: a sentence for people |\n"
	"| engine | `{\"id\":N,\"ok\":{\"exit\":S}}` | the end; `exit` is the status that `weir` returns |\n"
	"| engine | `{\"id\":N,\"error\":{\"kind\",\"code\",\"message\",\"next\"}}` | the end; `weir explain CODE` says more |\n"
	"| client | `{\"cancel\":N}` | any time: what C-c sends; a run drains, a following call ends |\n"
	"| engine | `{\"event\":\"TOPIC\",\"seq\":N,..}` | after `subscribe`, between other lines, never inside one |\n"
	"\n"
	"* **One call at a time a session**; the next ones wait for it, and are answered in their order. A call that follows something\n"
	"  (`run`, `logs`) holds up those behind it: give it a session of its own.\n"
	"* **Numbers and names are never reused**, members are only ever added; unknown members are to be ignored. So a client of\n"
	"  another protocol number may look, and end the engine (`engine_stop`); all other acts end with `protocol_differs`, on both\n"
	"  sides: what they mean may have changed. Without a number the session is told so and closed.\n"
	"* **Who may connect** is the kernel's word (peer uid and groups), never the client's. The engine's own user and root may all\n"
	"  (`admin`); members of the setting `socketGroup` may look (`view`), those of them that `operators` lists may act (`operate`).\n"
	"  Anybody else is told `not_a_member` and closed. A call that needs a higher right ends with `not_allowed`, and the try is\n"
	"  in the journal. Below `admin` a job is named by its name, never by a file.\n"
	"* **Leaving** changes nothing for a job. A client that closes only its sending half is still answered.\n"
	"* **Back-pressure**: an answer waits for its reader, and only the call's own thread waits with it. Up to 64 sessions\n"
	"  (`too_many_sessions`; 8 of them only for `admin`), 1 MiB a session that is not read yet. A session that takes nothing for 10 seconds while it has\n"
	"  subscribed or has sent more calls is closed; one that only keeps its answer waiting (a pager) after 10 minutes.\n"
	"* What is not JSON, not an object, a line over 1 MiB, or one that is not ended within 60 seconds is `bad_frame`, and the\n"
	"  session is closed. One that says nothing between two lines may stay.\n"
	"* An object of an answer that would be longer than a line is left out; the others come, and the call ends with the error\n"
	"  `answer_too_large`. An event that would be longer has that `error` in place of its members.\n"
	"* Control and bidi characters travel as `\\u` escapes.\n"
	"\n"
	"## Subscribing\n"
	"\n"
	"These three are answered by the control thread itself; `ok` has `topics`, all that the session has subscribed to, and\n"
	"`seq`, the number of the event sent last.\n"
	"\n"
	"| call | args | what |\n"
	"|---|---|---|\n"
	"| `subscribe` | `{\"topics\":[\"jobs\",\"job:orders\"]}` | adds topics (at most 64); how things stand follows at once |\n"
	"| `unsubscribe` | `{\"topics\":[\"jobs\"]}` | takes them away |\n"
	"| `sync` | | answers when everything sent before it has been handled and whatever has changed has been sent, at once |\n"
	"\n"
	"Without `sync` an event comes at most once a second for each topic, and only when something changed. `seq` counts the session's events\n"
	"from 1. A session that reads slowly gets fewer events, never old ones: those that show how things stand are made when there\n"
	"is room for them; lines that had to be left out are counted in `skipped`.\n"
	"\n"
	"| topic | members | what |\n"
	"|---|---|---|\n";

static const char calls_opening[] =
	"\n"
	"## Calls\n"
	"\n"
	"The name may also be written with dots (`dlq.list`). A member in brackets may be missing; `N` is a number, `[..]` a list of\n"
	"texts, `true` a flag, anything else a text.\n"
	"\n"
	"| call | args | access | what |\n"
	"|---|---|---|---|\n";

static void add_topics(struct text *out)
{
	for (int i = 0; i < TOPICS; i++) {
		const struct topic *topic = &topic_table[i];

		text_add_format(out, "| `%s%s%s` | %s | %s |\n", topic->name, *topic->argument ? ":" : "", topic->argument,
		                topic->members, topic->help);
	}
}

static const char *value_of(const struct usage_slot *slot)
{
	if (slot->is_list)
		return "[..]";
	if (slot->is_number)
		return "N";
	if (slot->is_numbers)
		return "N or text";
	return slot->flag[0] && !slot->has_value ? "true" : "text";
}

static void add_args(struct text *out, const struct command *command)
{
	struct usage_slot slots[USAGE_WORDS];
	size_t count = usage_read(command->args, slots);

	for (size_t i = 0; i < count; i++)
		text_add_format(out, "%s%s`%s%s`: %s%s", i ? ", " : "", slots[i].is_optional ? "[" : "", slots[i].name,
		                slots[i].is_list ? "s" : "", value_of(&slots[i]), slots[i].is_optional ? "]" : "");
}

/* A value is no argument of a command line, so that no usage text has it. */
static const char secrets[] =
	"\n`secret_put`, `secret_unlock` and `secret_seal` with `passphrase` also take `sealed_secret`: base64 of what libsodium's\n"
	"`crypto_box_seal` makes of the value with the public key of this engine, which the first line of `secret_list` has as\n"
	"`seal_to`, in base64. No value crosses the socket in any other form.\n";

static void add_calls(struct text *out)
{
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *command = &command_table[i];

		if (command->place != ENGINE)
			continue;
		text_add_format(out, "| `%s` | ", command->call);
		add_args(out, command);
		text_add_format(out, " | %s | %s |\n", access_name(command->access), command->help);
	}
}

bool protocol_page(struct text *out)
{
	text_add(out, opening);
	add_topics(out);
	text_add(out, calls_opening);
	add_calls(out);
	text_add(out, secrets);
	return !out->is_full;
}
