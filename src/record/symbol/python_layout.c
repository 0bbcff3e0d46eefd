#include "symbol/python_layout.h"

#include <string.h>

#include "base/utf8.h"

#define COOKIE      "xdebugpy"
#define MOST_OFFSET 65535u

/* Where objects have their contents: texts moved in 3.12, the rest stayed. */
#define TEXTS(ascii_, compact_) .bytes = 32, .length = 16, .ascii = (ascii_), .compact = (compact_)

#define UNTIL_3_10(version_, instr_)                                                               \
	{                                                                                          \
		.version = (version_), .entry = UT_PYTHON_EACH, .interpreters = 32, .threads = 8,  \
		.next_thread = 8, .thread_id = 176, .frame = 24, .code = 32, .previous = 24,       \
		.instr = (instr_), .file = 104, .name = 112, .lines = 120, .first_line = 40,       \
		TEXTS(48, 72)                                                                      \
	}

static const struct ut_python_layout known[] = {
	UNTIL_3_10(0x0309, 104),
	UNTIL_3_10(0x030a, 96),
	{ .version = 0x030b,
	  .entry = UT_PYTHON_FLAG,
	  .interpreters = 40,
	  .threads = 16,
	  .next_thread = 8,
	  .thread_id = 152,
	  .native_id = 160,
	  .frame = 56,
	  .frame_in = 8,
	  .frame_indirect = true,
	  .code = 32,
	  .previous = 48,
	  .instr = 56,
	  .owner = 69,
	  .is_entry = 68,
	  .file = 112,
	  .name = 128,
	  .lines = 136,
	  .first_line = 72,
	  .bytecode = 184,
	  TEXTS(48, 72) },
	{ .version = 0x030c,
	  .entry = UT_PYTHON_OWNER,
	  .interpreters = 40,
	  .threads = 72,
	  .next_thread = 8,
	  .thread_id = 136,
	  .native_id = 144,
	  .frame = 56,
	  .frame_in = 0,
	  .frame_indirect = true,
	  .code = 0,
	  .previous = 8,
	  .instr = 56,
	  .owner = 70,
	  .file = 112,
	  .name = 128,
	  .lines = 136,
	  .first_line = 68,
	  .bytecode = 192,
	  TEXTS(40, 56) },
};

/* How many words each part of the table has that later versions have made longer. */
static const struct form {
	uint16_t interpreter, thread, frame;
	uint16_t extra;  /* words between thread and frame */
	uint16_t native; /* which word of thread is the id that the kernel knows */
} forms[] = {
	{ 13, 9, 6, 0, 6 },  /* 3.13 */
	{ 16, 9, 8, 0, 6 },  /* 3.14 */
	{ 14, 9, 7, 0, 6 },  /* 3.14 before it was finished */
	{ 16, 16, 8, 1, 9 }, /* 3.15, as of its release candidate */
	{ 16, 15, 8, 1, 8 }, /* 3.15 before that */
};

/* The first thread of the first interpreter, and those behind it: is this one among them? */
static bool has_thread(const struct ut_python_memory *m, uint64_t state,
		       const struct ut_python_layout *l, uint32_t thread)
{
	uint64_t at = 0, id;

	if (!ut_python_u64(m, state + l->interpreters, &at) || !at ||
	    !ut_python_u64(m, at + l->threads, &at))
		return false;
	for (int i = 0; at && i < 4096; i++) {
		if (!ut_python_u64(m, at + l->native_id, &id))
			return false;
		if (id == thread)
			return true;
		if (!ut_python_u64(m, at + l->next_thread, &at))
			return false;
	}
	return false;
}

/* What the interpreter tells, if the table has this form. */
static bool take_form(const uint64_t *words, size_t count, const struct form *f,
		      struct ut_python_layout *l)
{
	const uint64_t *interpreter = words + 6, *thread = interpreter + f->interpreter;
	const uint64_t *frame = thread + f->thread + f->extra, *code = frame + f->frame;

	for (const uint64_t *w = words + 3; w < code + 10; w++) {
		if ((size_t)(w - words) >= count || *w > UINT32_MAX / 16)
			return false;
	}
	*l = (struct ut_python_layout){ .version = (uint32_t)(words[1] >> 16),
					.entry = UT_PYTHON_OWNER,
					.interpreters = (uint16_t)words[5],
					.next_interpreter = (uint32_t)interpreter[2],
					.threads = (uint32_t)interpreter[3],
					.next_thread = (uint16_t)thread[2],
					.frame = (uint16_t)thread[4],
					.thread_id = (uint16_t)thread[f->native - 1],
					.native_id = (uint16_t)thread[f->native],
					.previous = (uint16_t)frame[1],
					.code = (uint16_t)frame[2],
					.instr = (uint16_t)frame[3],
					.owner = (uint16_t)frame[5],
					.file = (uint16_t)code[1],
					.name = (uint16_t)code[3],
					.lines = (uint16_t)code[4],
					.first_line = (uint16_t)code[5],
					.bytecode = (uint16_t)code[9],
					TEXTS(40, 56) };
	/* builds without the GIL have larger object headers */
	if (words[2]) {
		l->bytes += 16;
		l->length += 16;
		l->ascii += 16;
		l->compact += 16;
	}
	return words[5] <= MOST_OFFSET && code[0] > code[9] && frame[0] > frame[5];
}

static bool reported(const struct ut_python_memory *m, uint64_t state, uint32_t thread,
		     struct ut_python_layout *l)
{
	uint64_t words[80];

	if (!ut_python_bytes(m, state, words, sizeof(words)) || memcmp(words, COOKIE, 8) != 0)
		return false;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (take_form(words, sizeof(words) / sizeof(words[0]), &forms[i], l) &&
		    has_thread(m, state, l, thread))
			return true;
	}
	return false;
}

/* Without the C library's help: a guest calls this, too. */
static uint32_t python_layout_take_number(const char **text)
{
	uint32_t number = 0;

	for (; **text >= '0' && **text <= '9' && number < 100; (*text)++)
		number = number * 10 + (uint32_t)(**text - '0');
	return number;
}

uint32_t ut_python_version(const char *text)
{
	uint32_t major = python_layout_take_number(&text), minor = 0;

	if (*text == '.') {
		text++;
		minor = python_layout_take_number(&text);
	}
	return major << 8 | minor;
}

bool ut_python_layout(const struct ut_python_memory *m, uint64_t state, uint32_t version,
		      uint32_t thread, struct ut_python_layout *layout)
{
	if (reported(m, state, thread, layout))
		return true;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].version == version) {
			*layout = known[i];
			return true;
		}
	}
	return false;
}

/* ---- texts --------------------------------------------------------------------------------- */

#define PIECE 64u /* bytes that are looked at in one go */

/* Letters of one, two or four bytes; zeros are no letters. 0 = it is no such text. */
static size_t wide_text(const struct ut_python_memory *m, uint64_t at, size_t letters, size_t width,
			char *to, size_t room)
{
	unsigned char bytes[PIECE];
	size_t len = 0;

	while (letters) {
		size_t count = letters < PIECE / width ? letters : PIECE / width;

		if (!ut_python_bytes(m, at, bytes, count * width))
			return 0;
		for (size_t i = 0; i < count && len + 4 <= room; i++) {
			uint32_t c = 0;

			memcpy(&c, bytes + i * width, width);
			if (!c)
				return 0;
			len += ut_utf8_put(to + len, c);
		}
		at += count * width;
		letters -= count;
	}
	return len;
}

static size_t plain_text(const struct ut_python_memory *m, uint64_t at, size_t letters, char *to,
			 size_t room)
{
	size_t len = letters < room ? letters : room;

	if (!ut_python_bytes(m, at, to, len))
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (to[i] < 0x20 || to[i] > 0x7e)
			return 0;
	}
	return len;
}

size_t ut_python_text(const struct ut_python_layout *l, const struct ut_python_memory *m,
		      uint64_t object, char *to, size_t room)
{
	uint64_t letters;
	size_t len;

	if (!object || !ut_python_u64(m, object + l->length, &letters) || !letters)
		return 0;
	letters = letters < room ? letters : room;
	len = plain_text(m, object + l->ascii, (size_t)letters, to, room);
	for (size_t width = 1; width <= 4 && !len; width *= 2)
		len = wide_text(m, object + l->compact, (size_t)letters, width, to, room);
	return len;
}
