/*
 * jit_code.h - names of code that was made while a program ran, and that no file holds: told by its
 * compiler through ITT, in a text beside it (/tmp/perf-PID.map), or in a file of records (jitdump).
 *
 * The same address may hold one function after the other: where it is known when they came, the
 * one that was there at the time is found. Files are hostile input: what makes no sense is left
 * out. Owner: the caller. One thread.
 */
#ifndef UT_IMPORT_CPU_JIT_CODE_H
#define UT_IMPORT_CPU_JIT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_place_in_code;
struct ut_trace;

/* A line of source. ITT says where it ends in the code, jitdump where it begins. */
struct ut_jit_line {
	uint64_t address;
	uint32_t line;
	uint32_t file; /* string id; 0 = that of the function */
};

struct ut_jit_function {
	uint64_t start, end; /* addresses */
	uint64_t time;       /* ns, CLOCK_MONOTONIC; 0 = not known */
	const char *text;    /* its name, or NULL: name is a string id */
	size_t text_len;
	uint32_t name, file;
	uint32_t order;                  /* of those that were told */
	uint32_t first_line, line_count; /* of the lines */
	bool lines_end;                  /* their addresses are ends */
};

struct ut_jit_code {
	struct ut_trace *trace;
	struct ut_jit_function *functions; /* by start once they are sorted */
	size_t count, cap;
	uint64_t *furthest; /* the furthest end of this function and all before it */
	struct ut_jit_line *lines;
	size_t line_count, line_cap;
	struct {
		void *map;
		size_t size;
	} files[2];
};

void ut_jit_code_init(struct ut_jit_code *j, struct ut_trace *trace);
void ut_jit_code_release(struct ut_jit_code *j);

/* One function; its lines are those that were added since the last one. */
void ut_jit_code_add(struct ut_jit_code *j, const struct ut_jit_function *f);
void ut_jit_code_add_line(struct ut_jit_code *j, const struct ut_jit_line *line);

/* The bytes have to stay until release. */
void ut_jit_code_read_map(struct ut_jit_code *j, const char *text, size_t len);
void ut_jit_code_read_dump(struct ut_jit_code *j, const char *bytes, size_t len);

/* Both, of what the launcher has kept for a file of samples. */
void ut_jit_code_open(struct ut_jit_code *j, const char *cpu_path);

/* What was at an address at that time. How many functions have been there; 0: nobody has told. */
size_t ut_jit_code_find(struct ut_jit_code *j, uint64_t address, uint64_t time,
			struct ut_place_in_code *code);

#endif
