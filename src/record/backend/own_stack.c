#include "backend/own_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/call_on_stack.h"
#include "base/likely.h"
#include "base/raw_syscall.h"
#include "base/readable.h"
#include "symbol/unwind.h"

#define PAGE       4096u
#define SLOT_BITS  13u
#define MOST_HOME  2048u         /* pages of a stack that are asked about to find its end: 8 MiB */
#define MOST_FRAME (512u * PAGE) /* bytes, on a stack of which the end is not known */
#define MOST_STEPS 4096u
#define MARKED     4u /* pieces of the function that is marked */
#define ADDRESS    UINT64_C(0xffffffffffff)
#define ROOMS      16u
#define ROOM       32768u /* bytes of a stack of ours; frames and names take some 10 KiB */

/* ---- the loader ---------------------------------------------------------------------------- */

/* What _dl_find_object() of glibc 2.35 and later tells: no lock, any signal handler. */
struct found {
	unsigned long long flags;
	void *start, *end;
	struct link_map *map;
	void *eh_frame_hdr;
	unsigned long long reserved[7];
};

static int (*find_object)(void *, struct found *);
static uintptr_t main_top;    /* where the first thread's stack begins ... */
static const void *main_self; /* ... and which thread that is */
static uintptr_t own_start, own_end;
static struct ut_unwind_piece marked[MARKED]; /* addresses */
static _Atomic size_t marked_count;
static _Atomic uint32_t generation;

struct search {
	uintptr_t pc;
	struct found *to;
};

/* All that was loaded of a file, holes included. True: the address is in one of its parts. */
static bool span(uintptr_t pc, uintptr_t bias, const ElfW(Phdr) * parts, size_t count,
		 struct found *to)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	bool inside = false;

	*to = (struct found){ 0 };
	for (size_t i = 0; i < count; i++) {
		const ElfW(Phdr) *p = &parts[i];
		uintptr_t start = bias + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			to->eh_frame_hdr = (void *)start;
		if (p->p_type != PT_LOAD)
			continue;
		low = start < low ? start : low;
		high = start + p->p_memsz > high ? start + p->p_memsz : high;
		inside |= pc >= start && pc < start + p->p_memsz;
	}
	to->start = (void *)low;
	to->end = (void *)high;
	return inside;
}

static int own_stack_look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const struct search *s = ctx;

	(void)size;
	return span(s->pc, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, s->to);
}

/* The program itself, from what the kernel has told about it. */
static struct found program;

static void find_program(void)
{
	const ElfW(Phdr) *parts = (const void *)getauxval(AT_PHDR);
	size_t count = getauxval(AT_PHNUM);

	for (size_t i = 0; parts && i < count; i++) {
		if (parts[i].p_type == PT_PHDR)
			span(0, (uintptr_t)parts - parts[i].p_vaddr, parts, count, &program);
	}
}

/*
 * Which file's code is it? Of a program with holes between its parts, as some tools make them that
 * change programs (patchelf), the loader names the part only: its table lies in another one.
 */
static bool own_stack_find(uintptr_t pc, struct found *to)
{
	*to = (struct found){ 0 };
	if (!find_object)
		return dl_iterate_phdr(own_stack_look_at, &(struct search){ pc, to }) == 1;
	if (find_object((void *)pc, to))
		return false;
	if (to->eh_frame_hdr && to->eh_frame_hdr == program.eh_frame_hdr) {
		to->start = program.start;
		to->end = program.end;
	}
	return true;
}

void ut_own_stack_init(void)
{
	void *function = dlsym(RTLD_DEFAULT, "_dl_find_object");
	void *const *top = dlsym(RTLD_DEFAULT, "__libc_stack_end");
	struct found own;

	memcpy(&find_object, &function, sizeof(function));
	find_program();
	if (top)
		main_top = (uintptr_t)*top;
	main_self = __builtin_thread_pointer();
	if (own_stack_find((uintptr_t)ut_own_stack_init, &own)) {
		own_start = (uintptr_t)own.start;
		own_end = (uintptr_t)own.end;
	}
}

/* A compiler may have taken it apart: then all of its pieces are marked. */
void ut_own_stack_mark(const void *function)
{
	size_t count = 0;
	struct ut_unwind u;
	struct found f;

	if (own_stack_find((uintptr_t)function, &f) && f.eh_frame_hdr &&
	    ut_unwind_loaded(&u, (uintptr_t)f.start, (uintptr_t)f.end, (uintptr_t)f.eh_frame_hdr))
		count = ut_unwind_pieces(&u, (uintptr_t)function - (uintptr_t)f.start, marked,
					 MARKED);
	for (size_t i = 0; i < count; i++)
		marked[i].start += (uintptr_t)f.start;
	atomic_store(&marked_count, count);
	ut_own_stack_forget();
}

static bool is_marked(uintptr_t pc)
{
	size_t count = atomic_load_explicit(&marked_count, memory_order_acquire);

	for (size_t i = 0; i < count; i++) {
		if (pc - marked[i].start < marked[i].size)
			return true;
	}
	return false;
}

void ut_own_stack_forget(void)
{
	atomic_fetch_add(&generation, 1);
}

uint32_t ut_own_stack_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_relaxed);
}

/* ---- memory that is there ------------------------------------------------------------------ */

/* Memory that may be read: whole pages. */
struct window {
	uintptr_t low, high;
};

/*
 * The stack that a thread was started on is there as long as the thread: what is known of it stays
 * known. Other stacks (coroutines, those of signal handlers) are asked about each time.
 */
static _Thread_local struct window home;

/* ---- system calls -------------------------------------------------------------------------- */

static _Atomic(int (*)(void)) ask;
static _Thread_local enum {
	NOT_ASKED,
	MAY_CALL,
	LOCKED_IN
} answer; /* in this look at a stack */

void ut_own_stack_ask(int (*locked_in)(void))
{
	atomic_store(&ask, locked_in);
}

static bool may_call(void)
{
	int (*locked_in)(void) = atomic_load_explicit(&ask, memory_order_relaxed);

	if (answer == NOT_ASKED)
		answer = locked_in && locked_in() ? LOCKED_IN : MAY_CALL;
	return answer == MAY_CALL;
}

static bool is_page_there(uintptr_t page)
{
	return may_call() && ut_readable_page(page);
}

/* ---- windows ------------------------------------------------------------------------------- */

static uintptr_t thread_top(uintptr_t sp)
{
	const void *self = __builtin_thread_pointer();
	uintptr_t top = (uintptr_t)self; /* lies above the stack that others were given */

	if (self == main_self)
		return sp < main_top ? main_top : 0;
	return sp < top && top - sp < (uintptr_t)MOST_HOME * PAGE ? top : 0;
}

static bool all_readable(uintptr_t from, uintptr_t to)
{
	if (to - from > (uintptr_t)MOST_HOME * PAGE)
		return false;
	for (; from < to; from += PAGE) {
		if (!is_page_there(from))
			return false;
	}
	return true;
}

static struct window window_at(uintptr_t sp)
{
	uintptr_t page = sp & ~(uintptr_t)(PAGE - 1), top;

	if (page >= home.low && page < home.high)
		return home;
	if (home.high && page < home.low && all_readable(page, home.low)) {
		home.low = page;
		return home;
	}
	if (!home.high) {
		top = (thread_top(sp) + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
		if (top && all_readable(page, top)) {
			home = (struct window){ page, top };
			return home;
		}
	}
	return (struct window){ page, is_page_there(page) ? page + PAGE : page };
}

/* Eight bytes at an address of the stack; stacks are walked upwards. */
static inline bool own_stack_load(struct window *w, uintptr_t address, uint64_t *value)
{
	if (address % 8 || address < w->low)
		return false;
	while (address >= w->high) {
		if (address - w->high >= MOST_FRAME || !is_page_there(w->high))
			return false;
		w->high += PAGE;
	}
	memcpy(value, (const void *)address, sizeof(*value));
	return true;
}

/* ---- what an address needs ----------------------------------------------------------------- */

/*
 * A row in one word, so that threads can share it without a lock: how the frame's address (CFA) is
 * found, and where the registers are that callees save. The return address is always below the CFA.
 *
 *	bits 0..2  enum how
 *	bits 3..5  which register the CFA is counted from: enum saved
 *	bit  6     the function is the marked one
 *	bits 8..31 offset of the CFA, signed
 *	bits 32..  5 bits for each of the registers: it is saved that many words below the CFA; 0 =
 * not
 */
enum how {
	LOST,   /* no table tells: there may be frame pointers */
	CFA,    /* register + offset */
	CFA_AT, /* at register + offset lies the CFA: of functions that align their stack */
	SIGNAL,
	END, /* nobody has called it */
};

enum saved {
	RBP,
	RBX,
	R12,
	R13,
	R14,
	R15,
	SAVED,
	RSP = SAVED,
	REGISTERS
};

struct regs {
	uint64_t pc;
	uint64_t r[REGISTERS];
};

#define ROW_MARKED (UINT64_C(1) << 6)

static enum how row_how(uint64_t row)
{
	return (enum how)(row & 7);
}

static int64_t row_offset(uint64_t row)
{
	return (int32_t)(uint32_t)row >> 8;
}

static const uint8_t dwarf_of[REGISTERS] = { 6, 3, 12, 13, 14, 15, 7 };

static bool find_register(uint8_t dwarf, uint64_t *which)
{
	for (*which = 0; *which < REGISTERS; (*which)++) {
		if (dwarf_of[*which] == dwarf)
			return true;
	}
	return false;
}

static bool put_cfa(uint64_t *row, enum how how, uint8_t dwarf, int64_t offset)
{
	uint64_t which;

	if (!find_register(dwarf, &which) || offset < -(1 << 23) || offset >= 1 << 23)
		return false;
	*row = (uint64_t)how | which << 3 | (uint64_t)((uint32_t)(int32_t)offset << 8);
	return true;
}

/* The one expression that compilers write: what lies at a register and an offset. */
static bool put_expression(uint64_t *row, const struct ut_unwind *u, int32_t where)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)(u->hdr + (uint64_t)(int64_t)where);
	int64_t offset;

	if (p[0] != 3 || p[1] < 0x70 || p[1] > 0x7f || p[2] & 0x80 || p[3] != 0x06)
		return false;
	offset = p[2] & 0x40 ? (int64_t)p[2] - 128 : p[2];
	return put_cfa(row, CFA_AT, (uint8_t)(p[1] - 0x70), offset);
}

/* Compilers save registers right below the return address; what lies elsewhere is not found. */
static uint64_t pack_saved(const struct ut_unwind_row *from)
{
	uint64_t row = 0;

	for (uint64_t i = 0; i < SAVED; i++) {
		int32_t rule = from->rules[dwarf_of[i]], offset = rule >> UT_RULE_BITS;

		if ((rule & ((1 << UT_RULE_BITS) - 1)) == UT_RULE_AT && offset <= -16 &&
		    offset >= -8 * 31 && offset % 8 == 0)
			row |= (uint64_t)(-offset / 8) << (32 + 5 * i);
	}
	return row;
}

static uint64_t pack(const struct ut_unwind *u, const struct ut_unwind_row *from)
{
	int32_t ra = from->rules[UT_REG_IP];
	uint64_t row = LOST;

	if ((ra & ((1 << UT_RULE_BITS) - 1)) == UT_RULE_UNDEFINED)
		return END;
	if (from->signal)
		return SIGNAL;
	if (ra != (UT_RULE_AT | (int32_t)((uint32_t)-8 << UT_RULE_BITS)))
		return LOST;
	if (from->cfa_reg < UT_REGS ? !put_cfa(&row, CFA, from->cfa_reg, from->cfa_offset)
				    : !put_expression(&row, u, from->cfa_offset))
		return LOST;
	return row | pack_saved(from);
}

static uint64_t work_out(uintptr_t pc)
{
	struct ut_unwind_row row;
	struct ut_unwind u;
	struct found f;
	uint64_t packed;

	if (!own_stack_find(pc, &f) || !f.eh_frame_hdr ||
	    !ut_unwind_loaded(&u, (uintptr_t)f.start, (uintptr_t)f.end, (uintptr_t)f.eh_frame_hdr))
		return LOST;
	if (!ut_unwind_row(&u, pc - (uintptr_t)f.start, &row))
		return LOST;
	packed = pack(&u, &row);
	if (is_marked(pc))
		packed |= ROW_MARKED;
	return packed;
}

/*
 * Two words that are written one after the other: the first is the row, the second row and address
 * in one. Whoever reads halves of two different entries finds that they do not fit.
 */
struct slot {
	_Atomic uint64_t row, check;
};

static struct slot slots[1u << SLOT_BITS];

static inline uint64_t own_stack_row_of(uint64_t pc)
{
	uint64_t key = (pc & ADDRESS) | (uint64_t)ut_own_stack_generation() << 48;
	struct slot *s = &slots[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS)];
	uint64_t row = atomic_load_explicit(&s->row, memory_order_relaxed);

	if ((row ^ atomic_load_explicit(&s->check, memory_order_relaxed)) == key)
		return row;
	row = work_out(pc);
	atomic_store_explicit(&s->row, row, memory_order_relaxed);
	atomic_store_explicit(&s->check, row ^ key, memory_order_relaxed);
	return row;
}

/* ---- files --------------------------------------------------------------------------------- */

bool ut_own_stack_code(uint64_t address, struct ut_own_code *code)
{
	const ElfW(Ehdr) * header;
	const ElfW(Phdr) * parts;
	struct found f;

	if (!find_object || !own_stack_find((uintptr_t)address, &f) || !f.map)
		return false;
	header = f.start;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	parts = (const void *)((const char *)f.start + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++) {
		uint64_t at = address - f.map->l_addr - parts[i].p_vaddr;

		if (parts[i].p_type == PT_LOAD && at < parts[i].p_filesz) {
			*code = (struct ut_own_code){ f.map->l_name, at + parts[i].p_offset };
			return true;
		}
	}
	return false;
}

/* ---- steps --------------------------------------------------------------------------------- */

struct walk {
	struct regs regs;
	struct window window;
	bool exact; /* pc is that of the next instruction, not behind a call */
	bool all;   /* all registers are kept */
	bool again; /* they have to be */
};

static bool step_by_pointer(struct walk *w)
{
	uint64_t frame = w->regs.r[RBP], next, pc;

	if (frame <= w->regs.r[RSP] || !own_stack_load(&w->window, frame, &next) ||
	    !own_stack_load(&w->window, frame + 8, &pc) || pc < PAGE)
		return false;
	w->regs.r[RBP] = next;
	w->regs.r[RSP] = frame + 16;
	w->regs.pc = pc;
	return true;
}

/* The kernel has left the registers above the stack pointer: struct ucontext. */
static bool step_signal(struct walk *w)
{
	static const uint16_t at[REGISTERS] = { 120, 128, 72, 80, 88, 96, 160 };
	uint64_t frame = w->regs.r[RSP];
	struct regs from;

	for (size_t i = 0; i < REGISTERS; i++) {
		if (!own_stack_load(&w->window, frame + at[i], &from.r[i]))
			return false;
	}
	if (!own_stack_load(&w->window, frame + 168, &from.pc))
		return false;
	w->regs = from;
	w->window = window_at(from.r[RSP]); /* handlers may have a stack of their own */
	w->exact = true;
	return true;
}

static bool restore(struct walk *w, uint64_t row, uint64_t cfa)
{
	uint64_t saved = row >> 32;

	for (size_t i = 0; saved; i++, saved >>= 5) {
		if (saved & 31 &&
		    !own_stack_load(&w->window, cfa - 8 * (saved & 31), &w->regs.r[i]))
			return false;
	}
	return true;
}

/*
 * Frames are counted from the stack pointer or from rbp. The others matter where a function has
 * neither, which is rare: then the walk begins again and keeps all of them.
 */
static bool step_row(struct walk *w, uint64_t row)
{
	uint64_t which = row >> 3 & 7, at_rbp = row >> 32 & 31;
	uint64_t cfa = w->regs.r[which] + (uint64_t)row_offset(row);

	if (UT_UNLIKELY(which != RSP && which != RBP && !w->all)) {
		w->again = true;
		return false;
	}
	if (row_how(row) == CFA_AT && !own_stack_load(&w->window, cfa, &cfa))
		return false;
	if (cfa <= w->regs.r[RSP] || !own_stack_load(&w->window, cfa - 8, &w->regs.pc))
		return false;
	if (UT_UNLIKELY(w->all) && !restore(w, row, cfa))
		return false;
	if (at_rbp && !w->all && !own_stack_load(&w->window, cfa - 8 * at_rbp, &w->regs.r[RBP]))
		return false;
	w->regs.r[RSP] = cfa;
	return true;
}

static bool own_stack_step(struct walk *w, uint64_t row)
{
	w->exact = false;
	switch (row_how(row)) {
	case CFA:
	case CFA_AT:
		return step_row(w, row) && w->regs.pc;
	case SIGNAL:
		return step_signal(w);
	case END:
		return false;
	case LOST:
		break;
	}
	return step_by_pointer(w);
}

/* The registers here, where the walk begins. */
static inline __attribute__((always_inline)) void take_registers(struct regs *r)
{
#if defined(__x86_64__)
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, %0\n\t"
			 "movq %%rbp, %1\n\t"
			 "movq %%rbx, %2\n\t"
			 "movq %%r12, %3\n\t"
			 "movq %%r13, %4\n\t"
			 "movq %%r14, %5\n\t"
			 "movq %%r15, %6\n\t"
			 "movq %%rsp, %7"
			 : "=m"(r->pc), "=m"(r->r[RBP]), "=m"(r->r[RBX]), "=m"(r->r[R12]),
			   "=m"(r->r[R13]), "=m"(r->r[R14]), "=m"(r->r[R15]), "=m"(r->r[RSP])
			 :
			 : "rax");
#else
	uint64_t *frame = __builtin_frame_address(0);

	*r = (struct regs){ .pc = frame[1] };
	r->r[RBP] = frame[0];
	r->r[RSP] = (uint64_t)(uintptr_t)frame;
#endif
}

bool ut_own_stack_is_own(uint64_t pc)
{
	return pc - own_start < own_end - own_start;
}

/* All but the first frames that are our own. */
static size_t own_stack_walk(struct walk *w, uint64_t *frames, size_t most, bool *cut)
{
	size_t count = 0;
	bool inside = true; /* still in this library */

	*cut = false;
	for (unsigned int steps = 0; steps < MOST_STEPS; steps++) {
		uint64_t pc = w->regs.pc - !w->exact, row = own_stack_row_of(pc);

		inside = inside && ut_own_stack_is_own(pc);
		if (!inside && count == most) {
			*cut = true;
			return count;
		}
		if (!inside)
			frames[count++] = pc | (row & ROW_MARKED ? UT_OWN_STACK_MARKED : 0);
		if (!own_stack_step(w, row))
			break;
	}
	return count;
}

static _Thread_local const struct regs *caller; /* where the stack goes on that we have left */

__attribute__((noinline)) size_t ut_own_stack(uint64_t *frames, size_t most, bool *cut)
{
	struct walk w = { .exact = true };
	struct regs here;
	size_t count;

	if (caller) {
		here = *caller;
	} else {
		answer = NOT_ASKED;
		take_registers(&here);
	}
	w.regs = here;
	w.window = window_at(here.r[RSP]);
	count = own_stack_walk(&w, frames, most, cut);
	if (UT_LIKELY(!w.again))
		return count;
	w = (struct walk){ .exact = true, .all = true, .regs = here };
	w.window = window_at(here.r[RSP]);
	return own_stack_walk(&w, frames, most, cut);
}

/* ---- a stack of our own -------------------------------------------------------------------- */

/* What is never used takes no memory. */
static alignas(4096) char rooms[ROOMS][ROOM];
static _Atomic uint32_t rooms_used; /* a bit each */

static bool take_room(uint32_t *bit)
{
	uint32_t bits = atomic_load(&rooms_used);

	do {
		*bit = ~bits & (bits + 1); /* the lowest that is free */
	} while (*bit && *bit < 1u << ROOMS &&
		 !atomic_compare_exchange_weak(&rooms_used, &bits, bits | *bit));
	return *bit && *bit < 1u << ROOMS;
}

static __attribute__((noinline)) void run_in_room(void (*fn)(void *), void *ctx)
{
	uint64_t all = UINT64_MAX, before;
	struct regs here;
	uint32_t bit;

	take_registers(&here);
	ut_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&before, sizeof(all));
	if (take_room(&bit)) {
		caller = &here;
		ut_call_on_stack(rooms[__builtin_ctz(bit)], ROOM, fn, ctx);
		caller = NULL;
		atomic_fetch_and(&rooms_used, ~bit);
	} else {
		fn(ctx);
	}
	ut_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before));
}

static __attribute__((noinline)) bool is_home(uintptr_t sp)
{
	struct window w = window_at(sp);

	return home.high && w.high == home.high;
}

void ut_own_stack_roomy(void (*fn)(void *), void *ctx)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	answer = NOT_ASKED;
	if (sp >= home.low && sp < home.high)
		fn(ctx);
	else if (may_call()) /* first: little may be left of this stack */
		is_home(sp) ? fn(ctx) : run_in_room(fn, ctx);
}

/* Other threads are not in the child. */
void ut_own_stack_forked(void)
{
	atomic_store(&rooms_used, 0);
}
