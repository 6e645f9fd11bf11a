/*
 * Colours as themes write them, and as a terminal counts them. The palette of 256
 * is a cube of 6x6x6 and a ramp of greys behind the sixteen named ones; these are
 * the operator's own, so what they look like here is a guess (xterm's) that only
 * serves to find a near one.
 */
#include "term/colour_private.h"

#define CUBE_FIRST 16
#define GREY_FIRST 232

struct rgb {
	int red, green, blue;
};

static const struct named {
	const char *name;
	struct rgb rgb;
} named[16] = {
	{ "black", { 0, 0, 0 } },
	{ "red", { 205, 0, 0 } },
	{ "green", { 0, 205, 0 } },
	{ "yellow", { 205, 205, 0 } },
	{ "blue", { 0, 0, 238 } },
	{ "magenta", { 205, 0, 205 } },
	{ "cyan", { 0, 205, 205 } },
	{ "white", { 229, 229, 229 } },
	{ "bright-black", { 127, 127, 127 } },
	{ "bright-red", { 255, 0, 0 } },
	{ "bright-green", { 0, 255, 0 } },
	{ "bright-yellow", { 255, 255, 0 } },
	{ "bright-blue", { 92, 92, 255 } },
	{ "bright-magenta", { 255, 0, 255 } },
	{ "bright-cyan", { 0, 255, 255 } },
	{ "bright-white", { 255, 255, 255 } },
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hint_parse(struct span word, int32_t *out_colour)
{
	int32_t colour = 0;

	if (word.len != 7)
		return false;
	for (size_t i = 1; i < word.len; i++) {
		int digit = hex_digit(word.at[i]);

		if (digit < 0)
			return false;
		colour = colour << 4 | digit;
	}
	*out_colour = colour | COLOUR_HINT;
	return true;
}

static bool index_parse(struct span word, int32_t *out_colour)
{
	int32_t colour = 0;

	if (!word.len || word.len > 3)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		if (word.at[i] < '0' || word.at[i] > '9')
			return false;
		colour = colour * 10 + (word.at[i] - '0');
	}
	if (colour > 255)
		return false;
	*out_colour = colour;
	return true;
}

bool colour_parse(struct span word, int32_t *out_colour)
{
	if (word.len && word.at[0] == '#')
		return hint_parse(word, out_colour);
	if (span_is(word, "default")) {
		*out_colour = COLOUR_DEFAULT;
		return true;
	}
	for (int32_t i = 0; i < 16; i++) {
		if (span_is(word, named[i].name)) {
			*out_colour = i;
			return true;
		}
	}
	return index_parse(word, out_colour);
}

static int cube_level(int step)
{
	return step ? 55 + 40 * step : 0;
}

static struct rgb index_rgb(int32_t index)
{
	if (index < CUBE_FIRST)
		return named[index].rgb;
	if (index >= GREY_FIRST) {
		int grey = 8 + 10 * (index - GREY_FIRST);

		return (struct rgb){ grey, grey, grey };
	}
	index -= CUBE_FIRST;
	return (struct rgb){ cube_level(index / 36), cube_level(index / 6 % 6), cube_level(index % 6) };
}

static struct rgb colour_rgb(int32_t colour)
{
	if (colour & COLOUR_HINT)
		return (struct rgb){ colour >> 16 & 0xff, colour >> 8 & 0xff, colour & 0xff };
	return index_rgb(colour);
}

/* The eye sees green best, then red. */
static int distance(struct rgb a, struct rgb b)
{
	int red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;

	return 3 * red * red + 4 * green * green + 2 * blue * blue;
}

static int16_t nearest(struct rgb rgb, int first, int count)
{
	int best = first;

	for (int i = first; i < first + count; i++) {
		if (distance(rgb, index_rgb(i)) < distance(rgb, index_rgb(best)))
			best = i;
	}
	return (int16_t)best;
}

int16_t colour_to_256(int32_t colour)
{
	/* A hint never becomes one of the sixteen: these look as the operator has set them. */
	if (colour >= 0 && colour & COLOUR_HINT)
		return nearest(colour_rgb(colour), CUBE_FIRST, 256 - CUBE_FIRST);
	return (int16_t)colour;
}

int16_t colour_to_16(int32_t colour)
{
	if (colour >= CUBE_FIRST)
		return nearest(colour_rgb(colour), 0, 16);
	return (int16_t)colour;
}
