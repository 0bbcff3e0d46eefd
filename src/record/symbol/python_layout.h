/*
 * python_layout.h - where CPython 3.9 to 3.14 keeps what a stack is made of.
 *
 * From 3.13 on the interpreter tells it itself, in a table at the beginning of its state whose own
 * form depends on the version; before that it is what the headers of each version say (x86-64, no
 * debug build). Nothing here allocates: it works in somebody else's process, too.
 */
#ifndef UT_SYMBOL_PYTHON_LAYOUT_H
#define UT_SYMBOL_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of a process that runs Python: another one's, or our own. False = it cannot be read. */
struct ut_python_memory {
	bool (*read)(void *ctx, uint64_t address, void *to, size_t len);
	void *ctx;
};

static inline bool ut_python_bytes(const struct ut_python_memory *m, uint64_t address, void *to,
				   size_t len)
{
	return m->read(m->ctx, address, to, len);
}

static inline bool ut_python_u64(const struct ut_python_memory *m, uint64_t address,
				 uint64_t *value)
{
	return m->read(m->ctx, address, value, sizeof(*value));
}

/* How a frame says that the interpreter was entered for it. */
enum ut_python_entry {
	UT_PYTHON_EACH,  /* one for each frame */
	UT_PYTHON_FLAG,  /* is_entry of the outermost frame of an entry */
	UT_PYTHON_OWNER, /* a frame that belongs to the C stack follows */
};

/* Offsets in bytes. */
#define UT_PYTHON_OLDEST 0x0309u /* whose functions are known */

struct ut_python_layout {
	uint32_t version; /* 0x030b */
	enum ut_python_entry entry;
	uint16_t interpreters;                      /* of the state: the first interpreter */
	uint32_t threads, next_interpreter;         /* of an interpreter */
	uint16_t next_thread, thread_id, native_id; /* of a thread; native_id 0 = there is none */
	uint16_t frame;                             /* of a thread: its frame, or what holds it */
	uint16_t frame_in;                          /* of what holds it */
	bool frame_indirect;                        /* frame is a pointer to what holds it */
	uint16_t code, previous, instr, owner, is_entry; /* of a frame */
	uint16_t file, name, lines, first_line,
		bytecode; /* of code; bytecode 0: instr is a number */
	uint16_t bytes;   /* of a bytes object: its bytes; before them, its length and hash */
	uint16_t length;  /* of a str: how many letters */
	uint16_t ascii, compact; /* of a str, where the text begins */
};

/* 0x030b of "3.11.2 (main, ...", which Py_GetVersion() tells. */
uint32_t ut_python_version(const char *text);

/*
 * The layout of an interpreter whose state is at that address. thread: one of the process, to check
 * with what the interpreter says about itself.
 */
bool ut_python_layout(const struct ut_python_memory *m, uint64_t state, uint32_t version,
		      uint32_t thread, struct ut_python_layout *layout);

/*
 * A str as UTF-8, as much of it as there is room for; its length, 0 = it cannot be read. How its
 * letters are stored is in bits that move from version to version; the bytes tell it as well: plain
 * text where short headers end, or behind the longer header of all others.
 */
size_t ut_python_text(const struct ut_python_layout *l, const struct ut_python_memory *m,
		      uint64_t object, char *to, size_t room);

#endif
