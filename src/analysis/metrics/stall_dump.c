/*
 * stall_dump.c - which file of a folder of shader dumps holds a kernel, and what its instructions
 * wait for.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "metrics/stall_asm.h"
#include "metrics/stall_parts.h"
#include "symbol/demangle.h"
#include "text/file_text.h"
#include "text/out.h"
#include "text/printed.h"
#include "text/source.h"

#define UT_LOG_MODULE "metrics"
#include "base/logger.h"

#define HEAD          ((size_t)256 << 10) /* the name is among the first lines */
#define TYPE_NAME     "typeinfo name for "
#define DEMANGLER_S   10u
#define DEMANGLER_LEN ((size_t)1 << 20)

/* As the user's program writes the name, in the arena. */
static struct ut_str ask_demangler(struct ut_stall_code *c, struct ut_arena *a, const char *name)
{
	const char *argv[] = { c->opts->demangler, name, NULL };
	struct ut_err err = { 0 };
	struct ut_str text, line = ut_str_of(name);

	if (ut_printed(&text, a, argv, DEMANGLER_LEN, DEMANGLER_S, &err)) {
		ut_logger_log(c->opts->logger, UT_WARN, "%s; names are taken as they are",
			      err.text);
		return line;
	}
	ut_asm_line(&text, &line);
	return line;
}

static struct ut_str demangled(struct ut_stall_code *c, struct ut_arena *a, struct ut_str mangled)
{
	char *name = ut_arena_copy(a, mangled.ptr, mangled.len), *people;
	struct ut_str s = { name, mangled.len };

	if (c->opts->demangler) {
		s = ask_demangler(c, a, name);
	} else if ((people = ut_demangle(name))) {
		s = (struct ut_str){ ut_arena_copy(a, people, strlen(people)), strlen(people) };
		free(people);
	}
	if (ut_str_has_start(s, TYPE_NAME))
		s = ut_str_from(s, s.ptr + strlen(TYPE_NAME));
	return s;
}

/* Without its parameters, for those who write a kernel's name by hand. */
static struct ut_str without_parameters(struct ut_str s)
{
	const char *open = ut_str_find(s, "(");

	return open ? (struct ut_str){ s.ptr, (size_t)(open - s.ptr) } : s;
}

bool ut_stall_is_name(struct ut_stall_code *c, struct ut_str mangled, struct ut_str kernel)
{
	struct ut_arena scratch = { 0 };
	struct ut_str people;
	bool same;

	if (ut_str_eq(mangled, kernel))
		return true;
	people = demangled(c, &scratch, mangled);
	same = ut_str_eq(people, kernel) ||
	       (!ut_str_find(kernel, "(") && ut_str_eq(without_parameters(people), kernel));
	ut_arena_release(&scratch);
	return same;
}

/* Is it a dump of this kernel? Files that cannot be read are not. */
static bool stall_dump_holds(struct ut_stall_code *c, const char *path, struct ut_str kernel)
{
	struct ut_source source;
	struct ut_buf b = { 0 };
	struct ut_str rest, line, name;
	bool found = false;

	if (ut_source_open_head(&source, path, HEAD, NULL))
		return false;
	if (ut_file_rest(&source, 16 * HEAD, &b, NULL))
		b.len = 0;
	ut_source_close(&source);
	rest = (struct ut_str){ b.data, b.len };
	while (!found && ut_asm_line(&rest, &line)) {
		name = ut_asm_kernel(line);
		found = name.len && ut_stall_is_name(c, name, kernel);
	}
	ut_buf_release(&b);
	return found;
}

static int is_dump(const struct dirent *e)
{
	return ut_str_ends(e->d_name, ".asm");
}

/* A kernel that was compiled again has a longer or a greater name: the last one was run. */
static const char *find_file(struct ut_stall_code *c, struct ut_str kernel)
{
	struct dirent **list = NULL;
	int count = scandir(c->opts->code, &list, is_dump, alphasort);
	const char *best = NULL;

	for (int i = 0; i < count; i++) {
		const char *path = ut_path_join(&c->result->arena, c->opts->code, list[i]->d_name);

		if ((!best || strlen(path) >= strlen(best)) && stall_dump_holds(c, path, kernel))
			best = path;
		free(list[i]);
	}
	free(list);
	return best;
}

/* FILE.asm.ip, unless it has addresses itself; its name. */
static const char *write_addressed(struct ut_stall_code *c, const char *path, struct ut_str text)
{
	const char *name = ut_str_fmt(&c->result->arena, "%s.ip", path);
	struct ut_err err = { 0 };
	struct ut_out *out;

	if (ut_asm_addressed(text))
		return path;
	if (c->opts->no_files)
		return name;
	out = ut_out_open(name, UT_OUT_OVERWRITE | UT_OUT_RENEW);
	ut_asm_write(out, text);
	if (!ut_out_commit(out, &err))
		return name;
	ut_logger_log(c->opts->logger, UT_WARN, "%s: the assembly with addresses is not kept",
		      err.text);
	return path;
}

int ut_stall_open_asm(struct ut_stall_code *c, struct ut_str kernel, struct ut_err *err)
{
	struct ut_arena *a = &c->result->arena;
	const char *path = ut_path_is_dir(c->opts->code) ? find_file(c, kernel) : c->opts->code;
	struct ut_buf b = { 0 };
	struct ut_str text;
	int rc;

	if (!path)
		return ut_err_set(err, -ENOENT, "Not found .asm file for %.*s", (int)kernel.len,
				  kernel.ptr);
	rc = ut_file_text(path, UT_STALL_MOST_TEXT, &b, err);
	text.len = b.len;
	text.ptr = ut_buf_take(&b, a);
	if (rc)
		return rc;
	rc = ut_asm_read(&c->code, text, path, err);
	if (rc)
		return rc;
	c->result->maker = UT_STALL_INTEL;
	c->result->assembly = ut_str_of(write_addressed(c, path, text));
	return 0;
}

int ut_stall_addresses(const char *in, const char *out, struct ut_err *err)
{
	struct ut_buf b = { 0 };
	struct ut_out *to;
	int rc = ut_file_text(in, UT_STALL_MOST_TEXT, &b, err);

	if (!rc) {
		to = ut_out_open(out, UT_OUT_OVERWRITE);
		ut_asm_write(to, (struct ut_str){ b.data, b.len });
		rc = ut_out_commit(to, err);
	}
	ut_buf_release(&b);
	return rc;
}

/* ---- causes -------------------------------------------------------------------------------- */

struct search {
	struct ut_stall_found *found;
	const struct ut_kernel_code *code;
	uint64_t token; /* one bit */
	bool past_waits;
};

static struct ut_str token_name(struct ut_arena *a, uint64_t token, bool taken)
{
	int id = __builtin_ctzll(token);
	const char *s = taken     ? ut_str_fmt(a, "$%d", id)
			: id < 32 ? ut_str_fmt(a, "$%d.dst", id)
				  : ut_str_fmt(a, "$%d.src", id - 32);

	return ut_str_of(s);
}

/*
 * Whoever took the token last is waited for. Where somebody has waited for it before, this path has
 * nothing left to wait for.
 */
static bool stall_dump_step(void *ctx, uint32_t ins)
{
	struct search *s = ctx;
	const struct ut_code_ins *i = &s->code->ins[ins];

	if (i->sets & s->token) {
		ut_stall_add(s->found, ins, (struct ut_str){ "", 0 });
		return false;
	}
	return s->past_waits || !(ut_asm_covered(i->waits) & s->token);
}

void ut_stall_asm_causes(struct ut_stall_code *c, uint32_t ins, struct ut_str reason,
			 struct ut_stall_found *found)
{
	struct search s = { .found = found, .code = &c->code };
	uint64_t wanted = ut_asm_wanted(&c->code, ins);

	if (!ut_str_is(reason, "Sbid"))
		return;
	for (; wanted; wanted &= wanted - 1) {
		size_t before = found->count;
		bool taken;

		s.token = wanted & -wanted;
		taken = !(c->code.ins[ins].waits & s.token);
		s.past_waits = taken;
		ut_code_back(&c->walk, &c->code, ins, s.token | s.token >> 32, stall_dump_step, &s);
		if (found->count == before && !s.past_waits) {
			s.past_waits = true;
			ut_code_back(&c->walk, &c->code, ins, s.token | s.token >> 32,
				     stall_dump_step, &s);
		}
		for (size_t i = before; i < found->count; i++)
			found->through[i] = token_name(&c->result->arena, s.token, taken);
	}
}
