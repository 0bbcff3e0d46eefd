#include "sample/memory_owner.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "base/str.h"
#include "model/trace.h"

static bool starts(struct ut_str s, const char *with)
{
	size_t len = strlen(with);

	return s.len >= len && !memcmp(s.ptr, with, len);
}

/* Letters of either case; names of functions are ASCII where it matters. */
static bool holds(struct ut_str s, const char *part)
{
	size_t len = strlen(part);

	for (size_t i = 0; i + len <= s.len; i++) {
		if (!strncasecmp(s.ptr + i, part, len))
			return true;
	}
	return false;
}

/* Is the function there to allocate for others? */
static bool is_wrapper(const struct ut_trace *t, const struct ut_place_in_code *p)
{
	static const char *const beginnings[] = { "operator new", "std::",    "__gnu_cxx::",
						  "PyDataMem_",   "strdup",   "__strdup",
						  "strndup",      "__strndup" };
	struct ut_str name = ut_strtab_get(&t->strings, p->function);
	const char *file = ut_path_base(ut_strtab_get(&t->strings, p->module).ptr);

	if (ut_str_starts(file, "libstdc++.so") || ut_str_starts(file, "libc++") ||
	    strstr(ut_strtab_get(&t->strings, p->file).ptr, "/c++/")) /* inlined from headers */
		return true;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (starts(name, beginnings[i]))
			return true;
	}
	return holds(name, "alloc");
}

/* A line of a script, which has no address. */
static bool is_script(const struct ut_place_in_code *p)
{
	return !p->address && p->file && p->line;
}

static bool is_interpreter(const struct ut_trace *t, const struct ut_place_in_code *p)
{
	const char *file = ut_path_base(ut_strtab_get(&t->strings, p->module).ptr);

	return ut_str_starts(file, "libpython") || ut_str_starts(file, "python");
}

static struct ut_place_in_code place_of(const struct ut_trace *t, uint32_t stack)
{
	return ut_stacks_innermost(&t->stacks, stack);
}

static uint32_t caller_of(const struct ut_trace *t, uint32_t stack)
{
	return ut_stacks_get(&t->stacks, stack).caller;
}

/* "libc.so.6+0x29f40": without its debug info, what calls main() has no name. */
static bool is_nameless_libc(const struct ut_trace *t, const struct ut_place_in_code *p)
{
	const char *name = ut_strtab_get(&t->strings, p->function).ptr;

	return (ut_str_starts(name, "libc.so.6+0x") || ut_str_starts(name, "libc-2.")) &&
	       strstr(name, "+0x");
}

/* Where the C library calls into the program: nobody looks for memory there. */
static bool is_entry(const struct ut_trace *t, const struct ut_place_in_code *p)
{
	static const char *const names[] = { "start_thread",
					     "__libc_start_call_main",
					     "__libc_start_main",
					     "_start",
					     "call_init",
					     "clone",
					     "clone3" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ut_str_is(ut_strtab_get(&t->strings, p->function), names[i]))
			return true;
	}
	return is_nameless_libc(t, p);
}

/* Past frames that only allocate. */
static uint32_t pass_wrappers(const struct ut_trace *t, uint32_t stack)
{
	struct ut_place_in_code p = place_of(t, stack);
	uint32_t before = 0;

	while (stack && !is_script(&p) && is_wrapper(t, &p)) {
		before = stack;
		stack = caller_of(t, stack);
		p = place_of(t, stack);
	}
	return before && is_entry(t, &p) ? before : stack;
}

/* From the interpreter to the function that it runs, if there is one right around it. */
static uint32_t pass_interpreter(const struct ut_trace *t, uint32_t stack)
{
	uint32_t at = stack;
	struct ut_place_in_code p = place_of(t, at);

	while (at && !is_script(&p) && (is_interpreter(t, &p) || is_wrapper(t, &p))) {
		at = caller_of(t, at);
		p = place_of(t, at);
	}
	return at && is_script(&p) ? at : stack;
}

uint32_t ut_memory_owner(const struct ut_trace *t, uint32_t stack)
{
	uint32_t owner = pass_wrappers(t, stack);

	return owner ? pass_interpreter(t, owner) : stack;
}

uint32_t ut_memory_caller(const struct ut_trace *t, uint32_t owner)
{
	uint32_t function = place_of(t, owner).function, at = caller_of(t, owner);

	struct ut_place_in_code p;

	while (at && place_of(t, at).function == function)
		at = caller_of(t, at);
	at = at ? ut_memory_owner(t, at) : 0;
	p = place_of(t, at);
	return at && !is_entry(t, &p) ? at : 0;
}

uint32_t ut_memory_line_owner(const struct ut_trace *t, uint32_t owner)
{
	for (uint32_t at = owner; at; at = caller_of(t, at)) {
		uint32_t place = ut_stacks_get(&t->stacks, at).place;

		if (place_of(t, at).line && !ut_memory_on_the_way(t, place))
			return at;
	}
	return owner;
}

bool ut_memory_on_the_way(const struct ut_trace *t, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&t->stacks, place);

	return !is_script(&p) && (is_wrapper(t, &p) || is_entry(t, &p) || is_interpreter(t, &p));
}
