#include "import/perf/perf_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/perf/perf_attr.h"
#include "import/perf/perf_file.h"
#include "import/perf/perf_maps.h"
#include "import/prof/sample_build.h"
#include "symbol/binary.h"
#include "symbol/unwind.h"

#define MOST_DEPTH   1024u
#define KERNEL_LEAST UINT64_C(0xffff800000000000)

/* Addresses of one sample, the innermost first; those of callers lie in the call. */
struct addresses {
	struct {
		uint64_t at;
		bool kernel;
	} items[MOST_DEPTH];
	size_t count;
	bool user; /* some are the user's */
};

void ut_pdata_stacks_init(struct ut_pdata_stacks *s, struct ut_sample_build *build,
			  struct ut_pdata_maps *maps)
{
	*s = (struct ut_pdata_stacks){ .build = build, .maps = maps };
	s->kernel = ut_sample_build_text(build, ut_str_of("[kernel]"));
}

void ut_pdata_stacks_release(struct ut_pdata_stacks *s)
{
	free(s->spans);
	free(s->frames);
	ut_idmap_release(&s->known);
}

/* Addresses differ after every start: those of this one are right if it begins at the same place.
 */
void ut_pdata_stacks_kernel(struct ut_pdata_stacks *s, uint64_t text)
{
	s->same_kernel |= text && text == ut_binary_kernel_text();
}

/* ---- places ---------------------------------------------------------------------------------- */

struct where {
	uint32_t module; /* index + 1 of a file; 0 = the kernel, UINT32_MAX = nobody knows */
	uint64_t offset;
	const char *path;
	uint32_t name;
	struct ut_binary *binary;
};

static struct where find_where(struct ut_pdata_stacks *s, uint32_t pid, uint64_t address,
			       bool kernel)
{
	struct where w = { .module = UINT32_MAX, .offset = address, .path = "" };
	const struct ut_pdata_map *map;
	struct ut_pdata_module *m;

	if (kernel) {
		w.module = 0;
		w.name = s->kernel;
		w.binary = s->same_kernel ? ut_binary_kernel() : NULL;
		return w;
	}
	map = ut_pdata_map_find(s->maps, pid, address);
	if (!map)
		return w;
	m = &s->maps->modules[map->module];
	w.module = map->module + 1;
	w.offset = address - map->start + map->offset;
	w.path = m->path;
	w.name = m->name;
	w.binary = !strcmp(m->path, "[vdso]") ? ut_binary_vdso() : ut_pdata_module_binary(m);
	return w;
}

/* The functions at an address, found once for each place in a file. */
static struct ut_pdata_span span_of(struct ut_pdata_stacks *s, const struct where *w)
{
	uint64_t key = w->offset ^ (uint64_t)w->module << 44;
	uint32_t known = ut_idmap_get(&s->known, key);
	struct ut_place_in_code frames[UT_BINARY_FRAMES];
	size_t count;

	if (known)
		return s->spans[known - 1];
	count = ut_code_names_find(&s->build->names, w->binary, w->path, w->name, w->offset,
				   frames);
	s->frames =
		ut_grow_raw(s->frames, s->frame_count + count, &s->frame_cap, sizeof(*s->frames));
	memcpy(s->frames + s->frame_count, frames, count * sizeof(*frames));
	s->spans = ut_grow_raw(s->spans, s->span_count + 1, &s->span_cap, sizeof(*s->spans));
	s->spans[s->span_count++] =
		(struct ut_pdata_span){ (uint32_t)s->frame_count, (uint32_t)count };
	s->frame_count += count;
	ut_idmap_put(&s->known, key, (uint32_t)s->span_count);
	return s->spans[s->span_count - 1];
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void perf_stack_add(struct addresses *a, uint64_t at, bool kernel)
{
	if (a->count == MOST_DEPTH)
		return;
	a->items[a->count].at = at;
	a->items[a->count++].kernel = kernel;
	a->user |= !kernel;
}

/* Return addresses are behind the call; the first one of each part is where it was. */
static void take_chain(struct addresses *a, const struct ut_pdata_taken *t)
{
	bool kernel = false, first = true;

	for (uint64_t i = 0; i < t->chain_count; i++) {
		uint64_t at;

		memcpy(&at, t->chain + 8 * i, 8);
		if (at >= UT_PDATA_CONTEXT_LEAST) {
			kernel = at == UT_PDATA_CONTEXT_KERNEL;
			first = true;
			continue;
		}
		if (at) {
			perf_stack_add(a, at - !first, kernel || at >= KERNEL_LEAST);
			first = false;
		}
	}
}

/* ---- from a copy of the stack ---------------------------------------------------------------- */

struct unwinding {
	struct ut_pdata_stacks *s;
	const struct ut_pdata_taken *t;
	struct ut_unwind_regs regs;
	uint64_t bottom;
};

static bool read_word(void *ctx, uint64_t address, uint64_t *word)
{
	const struct unwinding *u = ctx;
	uint64_t at = address - u->bottom;

	if (at >= u->t->stack_size || u->t->stack_size - at < 8)
		return false;
	memcpy(word, u->t->stack + at, 8);
	return true;
}

/* The kernel's numbers of x86's registers, as DWARF has them: ax bx cx dx si di bp sp ip, r8... */
static bool take_regs(struct unwinding *u)
{
	static const int8_t dwarf[] = { 0,  3,  2,  1,  4, 5, 6,  7,  16, -1, -1, -1,
					-1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15 };
	uint64_t bits = u->t->attr->regs_user, value;
	const uint8_t *at = u->t->regs;

	if (!at || !u->t->stack_size)
		return false;
	for (unsigned int i = 0; i < 64; i++) {
		if (!(bits >> i & 1))
			continue;
		memcpy(&value, at, 8);
		at += 8;
		if (i < sizeof(dwarf) && dwarf[i] >= 0)
			u->regs.r[dwarf[i]] = value;
	}
	u->bottom = u->regs.r[UT_REG_RSP];
	return u->regs.r[UT_REG_IP] != 0;
}

/* Without tables: rbp points to the caller's, and the return address lies above it. */
static bool step_by_pointer(struct unwinding *u)
{
	uint64_t frame = u->regs.r[UT_REG_RBP], next, ip;

	if (frame < u->regs.r[UT_REG_RSP] || frame % 8 || !read_word(u, frame, &next) ||
	    !read_word(u, frame + 8, &ip))
		return false;
	u->regs.r[UT_REG_RBP] = next;
	u->regs.r[UT_REG_RSP] = frame + 16;
	u->regs.r[UT_REG_IP] = ip;
	return true;
}

/* To the caller of the code at an address; *exact: the next address is no return address. */
static bool perf_stack_step(struct unwinding *u, uint64_t address, bool *exact)
{
	const struct ut_unwind_memory memory = { read_word, u };
	const struct ut_pdata_map *map = ut_pdata_map_find(u->s->maps, u->t->pid, address);
	struct ut_unwind *tables =
		map ? ut_pdata_module_unwind(&u->s->maps->modules[map->module]) : NULL;
	uint64_t before = u->regs.r[UT_REG_RSP];
	struct ut_unwind_row row;

	*exact = false;
	if (!tables || !ut_unwind_row(tables, address - map->start + map->offset, &row))
		return step_by_pointer(u);
	*exact = row.signal;
	return ut_unwind_step(tables, &row, &u->regs, &memory) == UT_STEP_CALLER &&
	       (row.signal || u->regs.r[UT_REG_RSP] > before);
}

static void unwind(struct ut_pdata_stacks *s, const struct ut_pdata_taken *t, struct addresses *a)
{
	struct unwinding u = { .s = s, .t = t };
	uint64_t address;
	bool exact;

	if (!take_regs(&u))
		return;
	address = u.regs.r[UT_REG_IP];
	do {
		perf_stack_add(a, address, false);
		if (!perf_stack_step(&u, address, &exact))
			break;
		address = u.regs.r[UT_REG_IP] - !exact;
	} while (a->count < MOST_DEPTH && ut_pdata_map_find(s->maps, t->pid, address));
}

/* ---- the way in ------------------------------------------------------------------------------ */

uint32_t ut_pdata_stack(struct ut_pdata_stacks *s, const struct ut_pdata_taken *t)
{
	struct addresses a;
	uint32_t stack = 0;

	a.count = 0;
	a.user = false;
	take_chain(&a, t);
	if (!a.user)
		unwind(s, t, &a);
	if (!a.count && t->ip)
		perf_stack_add(&a, t->ip, t->ip >= KERNEL_LEAST);
	for (size_t i = a.count; i; i--) {
		struct where w = find_where(s, t->pid, a.items[i - 1].at, a.items[i - 1].kernel);
		struct ut_pdata_span span = span_of(s, &w);

		for (uint32_t f = span.count; f; f--)
			stack = ut_sample_build_frame(s->build, stack,
						      &s->frames[span.first + f - 1]);
	}
	return stack;
}
