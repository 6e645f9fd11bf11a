/* The form of a log line: a JSON object for files and readers, text for systemd's journal; and back. */
#include "base/log_private.h"

#include "base/clean.h"
#include "base/clock.h"

static const struct level_row {
	const char *name;
	int priority; /* of syslog */
} levels[LOG_LEVELS] = {
	[LEVEL_DEBUG] = { "debug", 7 },
	[LEVEL_INFO] = { "info", 6 },
	[LEVEL_WARN] = { "warn", 4 },
	[LEVEL_ERROR] = { "error", 3 },
};

const char *log_level_name(enum log_level level)
{
	return levels[level].name;
}

bool log_level_find(const char *name, enum log_level *out)
{
	for (int i = 0; i < LOG_LEVELS; i++) {
		if (strcmp(levels[i].name, name) == 0) {
			*out = (enum log_level)i;
			return true;
		}
	}
	return false;
}

/* At most `most` bytes, ending between characters. */
static struct span cut(const char *text, size_t most)
{
	size_t len = strnlen(text, most + 1);

	if (len <= most)
		return span_make(text, len);
	len = most;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return span_make(text, len);
}

static bool add_fields(struct text *out, const struct log_field *fields)
{
	bool is_fine = text_add(out, ",\"fields\":{");

	for (const struct log_field *f = fields; f->name && is_fine; f++) {
		is_fine = (f == fields || text_add_char(out, ',')) && json_quote(out, span_of(f->name)) &&
		          text_add_char(out, ':');
		is_fine = is_fine &&
		          (f->text ? json_quote(out, cut(f->text, LOG_FIELD_MAX)) : text_add_int(out, f->number));
	}
	return is_fine && text_add_char(out, '}');
}

/* The order of members is what log_line_parse looks for. */
bool log_line_json(struct text *out, int64_t utc_us, enum log_level level, const char *part, const char *job,
                   const char *sentence, const struct log_field *fields)
{
	char time[CLOCK_TEXT_BYTES];

	clock_text(utc_us, time);
	if (!text_add_format(out, "{\"time\":\"%s\",\"level\":\"%s\",\"part\":", time, levels[level].name) ||
	    !json_quote(out, cut(part, LOG_NAME_MAX - 1)))
		return false;
	if (job && *job && (!text_add(out, ",\"job\":") || !json_quote(out, cut(job, LOG_NAME_MAX - 1))))
		return false;
	return text_add(out, ",\"sentence\":") && json_quote(out, cut(sentence, LOG_SENTENCE_MAX)) &&
	       (!fields || !fields->name || add_fields(out, fields)) && text_add_char(out, '}');
}

bool log_line_journal(struct text *out, enum log_level level, const char *part, const char *job, const char *sentence,
                      const struct log_field *fields)
{
	bool is_fine = text_add_format(out, "<%d>%s: ", levels[level].priority, part);

	if (job && *job)
		is_fine = is_fine && clean_text(out, cut(job, LOG_NAME_MAX - 1)) && text_add(out, ": ");
	is_fine = is_fine && clean_text(out, cut(sentence, LOG_SENTENCE_MAX));
	for (const struct log_field *f = fields; f && f->name && is_fine; f++) {
		is_fine = text_add_format(out, "  %s=", f->name);
		is_fine = is_fine &&
		          (f->text ? clean_text(out, cut(f->text, LOG_FIELD_MAX)) : text_add_int(out, f->number));
	}
	return is_fine && text_add_char(out, '\n');
}

/* The text of the member that stands here, up to its closing quote; names of jobs hold no escapes. */
static bool take_member(struct span *rest, const char *name, char *out, size_t room)
{
	size_t len = strlen(name);
	const char *end;

	if (rest->len < len || memcmp(rest->at, name, len) != 0)
		return false;
	*rest = span_make(rest->at + len, rest->len - len);
	end = memchr(rest->at, '"', rest->len);
	if (!end || (size_t)(end - rest->at) >= room)
		return false;
	memcpy(out, rest->at, (size_t)(end - rest->at));
	out[end - rest->at] = '\0';
	*rest = span_make(end + 1, rest->len - (size_t)(end + 1 - rest->at));
	return true;
}

bool log_line_parse(struct span json, enum log_level *out_level, char out_job[LOG_NAME_MAX])
{
	char time[LOG_NAME_MAX], level[16], part[LOG_NAME_MAX];
	struct span rest = json;

	out_job[0] = '\0';
	if (json.len < 2 || json.at[json.len - 1] != '}' || !take_member(&rest, "{\"time\":\"", time, sizeof(time)) ||
	    !take_member(&rest, ",\"level\":\"", level, sizeof(level)) ||
	    !take_member(&rest, ",\"part\":\"", part, sizeof(part)) || !log_level_find(level, out_level))
		return false;
	take_member(&rest, ",\"job\":\"", out_job, LOG_NAME_MAX);
	return rest.len > 0 && rest.at[0] == ',' && utf8_is_valid(json);
}
