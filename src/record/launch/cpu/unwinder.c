#include "launch/cpu/unwinder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/grow.h"
#include "launch/cpu/image.h"
#include "launch/cpu/modules.h"
#include "launch/cpu/perf.h"

#define SLOTS         65536u
#define DEEP_BYTES    16384u
#define MOST_FUNCTION 65536u              /* bytes: one that has no frame is small */
#define MOST_ASSEMBLY (UINT64_C(1) << 20) /* bytes of a function that nobody describes */
#define MOST_FRAME    (UINT64_C(1) << 20)
#define SEARCH_BYTES  4096u
#define TRIALS        5

/* The kernel's order of registers (perf.c) as DWARF numbers: ax bx cx dx si di bp sp ip r8... */
static const uint8_t order[UT_REGS] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };

/* One walk. */
struct walk {
	struct ut_unwinder *u;
	struct ut_image *image;
	const struct ut_perf_sample *sample;
	struct ut_unwind_regs regs;
	uint64_t bottom; /* address of the copy */
	bool deep;       /* the last step needed more than the copy */
	bool innermost;  /* no step has been made yet */
};

void ut_unwinder_init(struct ut_unwinder *u, struct ut_modules *modules)
{
	*u = (struct ut_unwinder){ .modules = modules };
	u->slots = ut_make(SLOTS * sizeof(*u->slots));
	u->deep = ut_make(DEEP_BYTES);
	u->last = ut_make(UT_UNWINDER_THREADS * sizeof(*u->last));
}

void ut_unwinder_release(struct ut_unwinder *u)
{
	free(u->slots);
	free(u->deep);
	free(u->last);
	*u = (struct ut_unwinder){ 0 };
}

/* ---- memory -------------------------------------------------------------------------------- */

static bool fetch(struct walk *w, uint64_t address)
{
	struct iovec to = { w->u->deep, DEEP_BYTES };
	struct iovec from = { (void *)(uintptr_t)address, DEEP_BYTES };
	ssize_t n = process_vm_readv((pid_t)w->image->pid, &to, 1, &from, 1, 0);

	if (n < 8) { /* the stack may end before that: to the end of the page at least */
		from.iov_len = 4096 - (address & 4095);
		n = process_vm_readv((pid_t)w->image->pid, &to, 1, &from, 1, 0);
	}
	w->u->deep_at = address;
	w->u->deep_bytes = n > 0 ? (uint64_t)n : 0;
	return n >= 8;
}

static bool read_word(void *ctx, uint64_t address, uint64_t *word)
{
	struct walk *w = ctx;
	uint64_t at = address - w->bottom;

	if (at < w->sample->stack_bytes && w->sample->stack_bytes - at >= 8) {
		memcpy(word, w->sample->stack + at, 8);
		return true;
	}
	w->deep = true;
	at = address - w->u->deep_at;
	if (at >= w->u->deep_bytes || w->u->deep_bytes - at < 8) {
		if (!fetch(w, address))
			return false;
		at = 0;
	}
	memcpy(word, w->u->deep + at, 8);
	return true;
}

/* ---- steps --------------------------------------------------------------------------------- */

static const struct ut_map *map_of(const struct walk *w, uint64_t address)
{
	return ut_maps_find(&w->image->maps, address, w->sample->time);
}

/* Does a call end behind this byte? E8 and four bytes, or FF with 2 in the middle of what follows.
 */
static void look_for_call(struct ut_unwinder_slot *slot, const struct ut_unwind *u, uint64_t offset)
{
	uint8_t code[7];
	int32_t away;

	slot->call = true; /* who knows */
	slot->direct = false;
	if (offset < 6 || ut_unwind_read(u, offset - 6, code, sizeof(code)) != sizeof(code))
		return;
	if (code[2] == 0xe8) {
		memcpy(&away, code + 3, sizeof(away));
		slot->direct = true;
		slot->target = offset + 1 + (uint64_t)(int64_t)away;
		return;
	}
	for (size_t i = 0; i + 1 < sizeof(code); i++) {
		if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
			return;
	}
	slot->call = false;
}

/* The row for an address, kept or computed; NULL = nobody describes it. */
static const struct ut_unwinder_slot *unwinder_slot_of(struct walk *w, uint64_t address,
						       const struct ut_map *map)
{
	uint64_t offset = address - map->start + map->offset;
	uint64_t key = offset ^ (uint64_t)map->module << 44;
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
	struct ut_unwinder_slot *slot = &w->u->slots[hash >> 48 & (SLOTS - 1)];
	struct ut_module *m;

	if (slot->key == key)
		return slot->module ? slot : NULL;
	m = ut_module(w->u->modules, map->module);
	ut_module_open(m, w->image->pid, map);
	slot->key = key;
	look_for_call(slot, &m->unwind, offset);
	slot->module = ut_unwind_row(&m->unwind, offset, &slot->row) ? map->module : 0;
	return slot->module ? slot : NULL;
}

/*
 * Without a table, the innermost function may have no frame at all (small ones of Go): then the
 * return address is at the top of the stack. It is one if a call of this very function is there.
 */
static bool step_by_call(struct walk *w, uint64_t address)
{
	uint64_t ip, offset;
	const struct ut_map *map;
	struct ut_module *m;
	uint8_t code[5];
	int32_t away;

	if (!w->innermost || !read_word(w, w->regs.r[UT_REG_RSP], &ip) ||
	    !(map = map_of(w, ip - 1)))
		return false;
	m = ut_module(w->u->modules, map->module);
	ut_module_open(m, w->image->pid, map);
	offset = ip - map->start + map->offset;
	if (offset < 5 || ut_unwind_read(&m->unwind, offset - 5, code, 5) != 5 || code[0] != 0xe8)
		return false;
	memcpy(&away, code + 1, sizeof(away));
	if (address - (ip + (uint64_t)(int64_t)away) >= MOST_FUNCTION)
		return false;
	w->regs.r[UT_REG_RSP] += 8;
	w->regs.r[UT_REG_IP] = ip;
	return true;
}

/* rbp points to the caller's rbp, and the return address lies above it. */
static enum ut_unwind_step step_by_pointer(struct walk *w)
{
	uint64_t frame = w->regs.r[UT_REG_RBP], next, ip;

	if (frame < w->regs.r[UT_REG_RSP] || frame % 8 || !read_word(w, frame, &next) ||
	    !read_word(w, frame + 8, &ip) || !map_of(w, ip - 1))
		return UT_STEP_LOST;
	w->regs.r[UT_REG_RBP] = next;
	w->regs.r[UT_REG_RSP] = frame + 16;
	w->regs.r[UT_REG_IP] = ip;
	return UT_STEP_CALLER;
}

/* By what the table says. */
static enum ut_unwind_step step_by_row(struct walk *w, const struct ut_unwinder_slot *slot)
{
	const struct ut_unwind_memory memory = { read_word, w };
	uint64_t before = w->regs.r[UT_REG_RSP];
	enum ut_unwind_step how = ut_unwind_step(&ut_module(w->u->modules, slot->module)->unwind,
						 &slot->row, &w->regs, &memory);

	/* A signal may have a stack of its own; otherwise callers are further up. */
	if (how == UT_STEP_CALLER && !slot->row.signal && w->regs.r[UT_REG_RSP] <= before)
		return UT_STEP_LOST;
	return how;
}

/* From the code at address; *exact: the caller's address is that of its next instruction. */
static enum ut_unwind_step unwinder_step(struct walk *w, uint64_t address, bool *exact)
{
	const struct ut_map *map = map_of(w, address);
	const struct ut_unwinder_slot *slot = map ? unwinder_slot_of(w, address, map) : NULL;

	*exact = slot && slot->row.signal;
	if (slot)
		return step_by_row(w, slot);
	return step_by_call(w, address) ? UT_STEP_CALLER : step_by_pointer(w);
}

/* Is it the address of code, and, if it was read late, still one to return to? */
static bool makes_sense(struct walk *w, bool exact)
{
	uint64_t address = w->regs.r[UT_REG_IP] - !exact;
	const struct ut_map *map = map_of(w, address);
	const struct ut_unwinder_slot *slot;

	if (!map || !w->deep || exact)
		return map != NULL;
	slot = unwinder_slot_of(w, address, map);
	return !slot || slot->call;
}

/* ---- guesses ------------------------------------------------------------------------------- */

/* Could the code at address have been called from there? */
static bool could_return(struct walk *w, uint64_t ip, uint64_t address)
{
	const struct ut_map *map = map_of(w, ip - 1), *own = map_of(w, address);
	const struct ut_unwinder_slot *slot = map ? unwinder_slot_of(w, ip - 1, map) : NULL;
	uint64_t offset;

	if (!slot || !slot->call || !own)
		return false;
	if (!slot->direct)
		return true;
	/* within a file calls say whom they call; code that was made later is called by pointers */
	offset = address - own->start + own->offset;
	return own->module == map->module && offset - slot->target < MOST_ASSEMBLY;
}

/* Has the code at address a table that tells about it? */
static bool is_described(struct walk *w, uint64_t address)
{
	const struct ut_map *map = map_of(w, address);

	return map && unwinder_slot_of(w, address, map);
}

/* Does the walk go on in good order from these registers? */
static bool goes_on(const struct walk *from)
{
	struct walk w = *from;

	w.innermost = false;
	for (int i = 0; i < TRIALS; i++) {
		uint64_t address = w.regs.r[UT_REG_IP] - 1;
		enum ut_unwind_step how;
		bool exact;

		w.deep = true; /* whatever it finds has to be behind a call */
		how = unwinder_step(&w, address, &exact);
		if (how == UT_STEP_END)
			return true;
		if (how != UT_STEP_CALLER) /* frame pointers end with one that is 0 */
			return !w.regs.r[UT_REG_RBP] && !is_described(&w, address);
		if (!makes_sense(&w, exact))
			return false;
	}
	return true;
}

/*
 * Nobody describes the frame: the words above the stack pointer are tried. What is pushed first is
 * mostly the caller's rbp, below the return address.
 */
static bool step_by_search(struct walk *w, const struct ut_unwind_regs *before, uint64_t address)
{
	uint64_t sp = before->r[UT_REG_RSP];

	for (uint64_t at = sp; at < sp + SEARCH_BYTES; at += 8) {
		uint64_t ip, pushed;

		if (!read_word(w, at, &ip))
			return false;
		if (!could_return(w, ip, address))
			continue;
		w->regs = *before;
		w->regs.r[UT_REG_RSP] = at + 8;
		w->regs.r[UT_REG_IP] = ip;
		if (at > sp && read_word(w, at - 8, &pushed) && pushed > at &&
		    pushed - at < MOST_FRAME) {
			w->regs.r[UT_REG_RBP] = pushed;
			if (goes_on(w))
				return true;
			w->regs.r[UT_REG_RBP] = before->r[UT_REG_RBP];
		}
		if (goes_on(w))
			return true;
	}
	return false;
}

/* One step, by whatever works; only the innermost function's frame is searched for. */
static enum ut_unwind_step step_somehow(struct walk *w, uint64_t address, bool *exact)
{
	const struct ut_unwind_regs before = w->regs;
	bool innermost = w->innermost, sure;
	enum ut_unwind_step how;

	w->deep = false;
	how = unwinder_step(w, address, exact);
	w->innermost = false;
	if (how == UT_STEP_END)
		return how;
	sure = how == UT_STEP_CALLER && makes_sense(w, *exact);
	if (sure && (!innermost || is_described(w, address) || goes_on(w)))
		return UT_STEP_CALLER;
	if (innermost && step_by_search(w, &before, address)) {
		*exact = false;
		return UT_STEP_CALLER;
	}
	return UT_STEP_LOST;
}

/* ---- what is still as it was --------------------------------------------------------------- */

static struct ut_unwinder_last *unwinder_last_of(struct walk *w)
{
	struct ut_unwinder_last *last = &w->u->last[w->sample->tid % UT_UNWINDER_THREADS];

	if (last->image != w->image || last->tid != w->sample->tid ||
	    last->changes != w->image->maps.changes) {
		last->image = w->image;
		last->tid = w->sample->tid;
		last->changes = w->image->maps.changes;
		last->count = 0;
	}
	return last;
}

/*
 * Are all calls outside of the one with that number as they were at the last sample? Each return
 * address is looked at where it was. What was found behind a signal is not: it may lie anywhere.
 */
static bool is_unchanged(struct walk *w, const struct ut_unwinder_last *last, size_t from)
{
	for (size_t i = from + 1; i < last->count; i++) {
		uint64_t ip;

		if (!last->sp[i] || !read_word(w, last->sp[i] - 8, &ip) ||
		    ip - 1 != last->frames[i])
			return false;
	}
	return true;
}

/* The same function at the same place of the stack, in the last walk; its count = none. */
static size_t find_same(const struct ut_unwinder_last *last, size_t *at, uint64_t sp,
			uint64_t frame)
{
	while (*at < last->count && last->sp[*at] < sp)
		++*at;
	return *at < last->count && last->sp[*at] == sp && last->frames[*at] == frame ? *at
										      : last->count;
}

size_t ut_unwinder_walk(struct ut_unwinder *u, struct ut_image *image,
			const struct ut_perf_sample *sample, uint64_t *frames, size_t most)
{
	struct walk w = { .u = u, .image = image, .sample = sample, .innermost = true };
	enum ut_unwind_step how = UT_STEP_CALLER;
	struct ut_unwinder_last *last = unwinder_last_of(&w);
	uint64_t sp[UT_UNWINDER_MOST];
	size_t count = 0, at = 0, same;
	bool exact, whole;

	for (size_t i = 0; i < UT_REGS; i++)
		w.regs.r[order[i]] = sample->regs[i];
	w.bottom = w.regs.r[UT_REG_RSP];
	u->deep_bytes = 0;
	sp[count] = 0;
	frames[count++] = w.regs.r[UT_REG_IP];
	most = most < UT_UNWINDER_MOST ? most : UT_UNWINDER_MOST;
	while (count < most) {
		how = step_somehow(&w, frames[count - 1], &exact);
		if (how != UT_STEP_CALLER)
			break;
		/* A return address belongs to the call before it. */
		frames[count] = w.regs.r[UT_REG_IP] - !exact;
		sp[count] = exact ? 0 : w.regs.r[UT_REG_RSP];
		same = exact ? last->count : find_same(last, &at, sp[count], frames[count]);
		count++;
		if (same < last->count && is_unchanged(&w, last, same)) {
			size_t rest = last->count - same - 1;

			rest = rest < most - count ? rest : most - count;
			memcpy(frames + count, last->frames + same + 1, rest * sizeof(*frames));
			memcpy(sp + count, last->sp + same + 1, rest * sizeof(*sp));
			count += rest;
			how = last->whole ? UT_STEP_END : UT_STEP_LOST;
			break;
		}
	}
	whole = how == UT_STEP_END;
	memcpy(last->frames, frames, count * sizeof(*frames));
	memcpy(last->sp, sp, count * sizeof(*sp));
	last->count = count;
	last->whole = u->whole = whole;
	last->changes = image->maps.changes;
	return count;
}
