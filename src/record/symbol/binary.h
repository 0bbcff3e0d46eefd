/*
 * binary.h - what is known of the places in a file of code: the function, those inlined there, the
 * line of source. From its symbols, its debug info, and separate debug info where that is found.
 *
 * A file is opened once in the life of the program, however often it is asked for: it is known by
 * its build id, so that the libraries of a hundred processes are those of one. What is open stays
 * so, and texts stay valid. Any thread.
 */
#ifndef UT_SYMBOL_BINARY_H
#define UT_SYMBOL_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_build_id;
struct ut_binary;

struct ut_binary_frame {
	const char *function; /* as the linker calls it; NULL = nobody tells */
	const char *file;     /* of the line; NULL = nobody tells */
	uint32_t line;        /* 0 = nobody tells */
};

/* More than anybody inlines into each other. */
#define UT_BINARY_FRAMES 64u

/* The file, if it still is the one of this build id (NULL or an empty one: whatever it is); NULL if
 * there is none. */
struct ut_binary *ut_binary_open(const char *path, const struct ut_build_id *id);

/* Of the kernel that runs now, by address, if it tells them; of its library in every process. */
struct ut_binary *ut_binary_kernel(void);
struct ut_binary *ut_binary_vdso(void);

/* Where the kernel begins, which may be elsewhere after every start; 0 = it does not tell. */
uint64_t ut_binary_kernel_text(void);

/*
 * The functions at an offset of the file, or address of the kernel, the innermost first: each is
 * inlined into the next. At most UT_BINARY_FRAMES; 0 = nothing is known.
 */
size_t ut_binary_find(struct ut_binary *c, uint64_t offset, struct ut_binary_frame *frames);

/* Where the function that holds this offset starts, as an offset; false: no table tells. */
bool ut_binary_start(struct ut_binary *c, uint64_t offset, uint64_t *start);

/* Has the file lines of source, or has somebody stripped it of them? */
bool ut_binary_has_lines(struct ut_binary *c);

/* ---- the code itself --------------------------------------------------------------------------*/

/* A function as the symbols tell it. */
struct ut_binary_body {
	uint64_t offset; /* in the file */
	const uint8_t *bytes;
	uint64_t size;
};

/* The function that holds this offset; false: nobody knows where it starts and ends. */
bool ut_binary_body(struct ut_binary *c, uint64_t offset, struct ut_binary_body *body);

/* The machine that the code is for, as in an ELF header. */
unsigned int ut_binary_machine(const struct ut_binary *c);

#endif
