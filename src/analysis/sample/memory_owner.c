#include "sample/memory_owner.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "base/str.h"
#include "model/trace.h"
#include "sample/short_name.h"
#include "sample/whose.h"

static bool starts(struct ut_str s, const char *with)
{
	size_t len = strlen(with);

	return s.len >= len && !memcmp(s.ptr, with, len);
}

/* Letters of either case; names of functions are ASCII where it matters. */
static bool memory_owner_holds(struct ut_str s, const char *part)
{
	size_t len = strlen(part);

	for (size_t i = 0; i + len <= s.len; i++) {
		if (!strncasecmp(s.ptr + i, part, len))
			return true;
	}
	return false;
}

/* What the C library defines to allocate, be it linked into the program. */
static bool is_interface(struct ut_str name)
{
	static const char *const names[] = { "malloc",       "calloc",  "realloc",
					     "reallocarray", "free",    "aligned_alloc",
					     "memalign",     "valloc",  "pvalloc",
					     "strdup",       "strndup", "posix_memalign",
					     "mallocx",      "rallocx" };
	static const char *const fronts[] = { "__libc_", "__GI___libc_", "__GI___", "_int_",
					      "__",      "je_",          "tc_",     "mi_" };

	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
		if (starts(name, fronts[i])) {
			name.ptr += strlen(fronts[i]);
			name.len -= strlen(fronts[i]);
			break;
		}
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ut_str_is(name, names[i]))
			return true;
	}
	return false;
}

/* A function of the C++ library: its templates are compiled into the program. */
static bool is_standard(struct ut_str name)
{
	static const char *const beginnings[] = { "operator new", "std::", "__gnu_cxx::" };
	struct ut_buf plain = { 0 };
	bool found = false;

	/* what it returns comes first in the whole name: "std::string make<int>(int)" */
	ut_short_name(&plain, name);
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		found |= ut_str_has_start((struct ut_str){ plain.data, plain.len }, beginnings[i]);
	ut_buf_release(&plain);
	return found;
}

/*
 * Is the function there to allocate for others? A name with "alloc" in it says so of libraries
 * only: what a program calls so is its own work.
 */
static bool is_wrapper(const struct ut_trace *t, const struct ut_place_in_code *p)
{
	struct ut_str name = ut_strtab_get(&t->strings, p->function);
	struct ut_str module = ut_strtab_get(&t->strings, p->module);
	const char *file = ut_path_base(module.ptr);

	if (ut_str_starts(file, "libstdc++.so") || ut_str_starts(file, "libc++") ||
	    strstr(ut_strtab_get(&t->strings, p->file).ptr, "/c++/")) /* inlined from headers */
		return true;
	return is_interface(name) || is_standard(name) ||
	       (ut_path_is_library(module) &&
		(memory_owner_holds(name, "alloc") || starts(name, "PyDataMem_")));
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

static struct ut_place_in_code memory_owner_place_of(const struct ut_trace *t, uint32_t stack)
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
	struct ut_place_in_code p = memory_owner_place_of(t, stack);
	uint32_t before = 0;

	while (stack && !is_script(&p) && is_wrapper(t, &p)) {
		before = stack;
		stack = caller_of(t, stack);
		p = memory_owner_place_of(t, stack);
	}
	return before && is_entry(t, &p) ? before : stack;
}

/* Code of a library, compiled or a script. */
static bool memory_owner_is_library(const struct ut_trace *t, const struct ut_place_in_code *p)
{
	return ut_path_is_library(ut_strtab_get(&t->strings, p->module)) ||
	       ut_path_is_library(ut_strtab_get(&t->strings, p->file));
}

/*
 * From a library's script to the line of the program that called it. What is allocated while a
 * module is imported belongs to the module: nobody's line asks for it.
 */
static uint32_t pass_scripts(const struct ut_trace *t, uint32_t stack)
{
	for (uint32_t at = stack; at; at = caller_of(t, at)) {
		struct ut_place_in_code p = memory_owner_place_of(t, at);

		if (is_script(&p) && !memory_owner_is_library(t, &p))
			return at;
		if (ut_str_is(ut_strtab_get(&t->strings, p.function), "_find_and_load") ||
		    (!is_script(&p) && !is_interpreter(t, &p) && !memory_owner_is_library(t, &p)))
			break;
	}
	return stack;
}

/* From the interpreter, and what it calls in libraries, to the function that it runs. */
static uint32_t pass_interpreter(const struct ut_trace *t, uint32_t stack)
{
	uint32_t at = stack;
	struct ut_place_in_code p = memory_owner_place_of(t, at);

	while (at && !is_script(&p) &&
	       (is_interpreter(t, &p) || is_wrapper(t, &p) || memory_owner_is_library(t, &p))) {
		at = caller_of(t, at);
		p = memory_owner_place_of(t, at);
	}
	return at && is_script(&p) ? pass_scripts(t, at) : stack;
}

uint32_t ut_memory_owner(const struct ut_trace *t, uint32_t stack)
{
	uint32_t owner = pass_wrappers(t, stack);

	return owner ? pass_interpreter(t, owner) : stack;
}

uint32_t ut_memory_caller(const struct ut_trace *t, uint32_t owner)
{
	uint32_t function = memory_owner_place_of(t, owner).function, at = caller_of(t, owner);

	struct ut_place_in_code p;

	while (at && memory_owner_place_of(t, at).function == function)
		at = caller_of(t, at);
	at = at ? ut_memory_owner(t, at) : 0;
	p = memory_owner_place_of(t, at);
	return at && !is_entry(t, &p) ? at : 0;
}

uint32_t ut_memory_line_owner(const struct ut_trace *t, uint32_t owner)
{
	for (uint32_t at = owner; at; at = caller_of(t, at)) {
		uint32_t place = ut_stacks_get(&t->stacks, at).place;

		if (memory_owner_place_of(t, at).line && !ut_memory_on_the_way(t, place))
			return at;
	}
	return owner;
}

bool ut_memory_on_the_way(const struct ut_trace *t, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&t->stacks, place);

	return !is_script(&p) && (is_wrapper(t, &p) || is_entry(t, &p) || is_interpreter(t, &p));
}
