/*
 * own_filter.c - the program puts itself under a seccomp filter: a handler of ours returns by
 * rt_sigreturn, and where the filter does not allow that, the next tick would end the program. So
 * prctl() and syscall() are ours as well, and such a thread's timer goes before the filter comes.
 * A filter that is set without these functions is not seen.
 */
#include "timer/timer.h"

#if defined(__x86_64__)

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/raw_syscall.h"
#include "base/readable.h"
#include "wire/sandbox.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int prctl(int option, ...);
__attribute__((visibility("hidden"))) long ut_timer_syscall(long number, long a, long b, long c,
							    long d, long e);

/* ---- what a filter says --------------------------------------------------------------------- */

/* The machine that filters are written for, as far as the kernel takes their instructions. */
struct machine {
	struct seccomp_data data;
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

static uint32_t own_filter_load(const struct machine *m, const struct sock_filter *f)
{
	uint32_t word = 0;

	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		if (f->k <= sizeof(m->data) - sizeof(word))
			memcpy(&word, (const char *)&m->data + f->k, sizeof(word));
		return word;
	case BPF_LEN:
		return sizeof(m->data);
	case BPF_MEM:
		return m->memory[f->k % BPF_MEMWORDS];
	default:
		return f->k;
	}
}

static uint32_t compute(const struct machine *m, const struct sock_filter *f)
{
	uint32_t by = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		return m->a + by;
	case BPF_SUB:
		return m->a - by;
	case BPF_MUL:
		return m->a * by;
	case BPF_DIV:
		return by ? m->a / by : 0;
	case BPF_AND:
		return m->a & by;
	case BPF_OR:
		return m->a | by;
	case BPF_XOR:
		return m->a ^ by;
	case BPF_LSH:
		return by < 32 ? m->a << by : 0;
	case BPF_RSH:
		return by < 32 ? m->a >> by : 0;
	default:
		return -m->a; /* BPF_NEG */
	}
}

/* How many instructions are left out. */
static size_t jump(const struct machine *m, const struct sock_filter *f)
{
	uint32_t to = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		return f->k;
	case BPF_JEQ:
		return m->a == to ? f->jt : f->jf;
	case BPF_JGT:
		return m->a > to ? f->jt : f->jf;
	case BPF_JGE:
		return m->a >= to ? f->jt : f->jf;
	default:
		return m->a & to ? f->jt : f->jf; /* BPF_JSET */
	}
}

/* SECCOMP_RET_KILL_PROCESS if it does not come to an end. Jumps lead forward only. */
static uint32_t own_filter_run(const struct sock_fprog *program, uint32_t number)
{
	struct machine m = { .data = { .nr = (int)number, .arch = AUDIT_ARCH_X86_64 } };

	for (size_t at = 0; at < program->len; at++) {
		const struct sock_filter *f = &program->filter[at];

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			m.a = own_filter_load(&m, f);
			break;
		case BPF_LDX:
			m.x = own_filter_load(&m, f);
			break;
		case BPF_ST:
			m.memory[f->k % BPF_MEMWORDS] = m.a;
			break;
		case BPF_STX:
			m.memory[f->k % BPF_MEMWORDS] = m.x;
			break;
		case BPF_ALU:
			m.a = compute(&m, f);
			break;
		case BPF_JMP:
			at += jump(&m, f);
			break;
		case BPF_RET:
			return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
		default:
			if (BPF_MISCOP(f->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
			break;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Programs ask with a NULL what the kernel knows: it refuses that. */
static bool is_there(const void *data, size_t bytes, bool may_ask)
{
	return may_ask ? ut_readable((uintptr_t)data, bytes) : data != NULL;
}

static bool allows(const struct sock_fprog *program, uint32_t number, bool may_ask)
{
	uint32_t action;

	if (!is_there(program, sizeof(*program), may_ask) ||
	    !is_there(program->filter, program->len * sizeof(*program->filter), may_ask))
		return true;
	action = own_filter_run(program, number) & SECCOMP_RET_ACTION_FULL;
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

/* ---- the program's calls -------------------------------------------------------------------- */

static void end_sampling(bool all_threads)
{
	ut_timer_disarm();
	ut_timer_me.locked_in = true;
	if (all_threads) {
		ut_timer_signal_give_back();
		ut_timer_tick_wait();
	}
}

/*
 * Without a program it is strict mode, which takes the clock away. Under a filter already, nothing
 * is called but what the filters of this thread are known to allow.
 */
static void before_filter(const struct sock_fprog *program, bool all_threads)
{
	struct ut_timer_thread *me = &ut_timer_me;
	int saved = errno;

	if (ut_timer_on() && !me->locked_in) {
		bool is_first = !ut_sandbox_closed();

		if (!program || !allows(program, SYS_rt_sigreturn, is_first))
			end_sampling(all_threads && is_first);
		else
			me->may_delete = (is_first || me->may_delete) &&
					 allows(program, SYS_timer_delete, is_first);
	}
	errno = saved;
}

static void own_filter_look_at(long number, long a, long b, long c)
{
	if (number == SYS_prctl && a == PR_SET_SECCOMP && b == SECCOMP_MODE_FILTER)
		before_filter((const void *)c, false);
	else if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
		before_filter((const void *)c, b & SECCOMP_FILTER_FLAG_TSYNC);
	else if ((number == SYS_prctl && a == PR_SET_SECCOMP && b == SECCOMP_MODE_STRICT) ||
		 (number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT))
		before_filter(NULL, false);
}

long ut_timer_syscall(long number, long a, long b, long c, long d, long e)
{
	long rc;

	own_filter_look_at(number, a, b, c);
	rc = ut_raw(number, a, b, c, d, e);
	if (rc >= 0 || rc < -4095)
		return rc;
	errno = (int)-rc;
	return -1;
}

/* As the C library's, it hands on all that it may have been given. */
int prctl(int option, ...)
{
	long a[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return (int)ut_timer_syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}

/*
 * As the C library's, without a frame: programs make calls by it that return twice, on another
 * stack. Only the two calls that may set a filter go to ut_timer_syscall().
 */
__asm__(".pushsection .text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	".cfi_startproc\n"
	"cmpq $157, %rdi\n" /* SYS_prctl */
	"je ut_timer_syscall\n"
	"cmpq $317, %rdi\n" /* SYS_seccomp */
	"je ut_timer_syscall\n"
	"movq %rdi, %rax\n"
	"movq %rsi, %rdi\n"
	"movq %rdx, %rsi\n"
	"movq %rcx, %rdx\n"
	"movq %r8, %r10\n"
	"movq %r9, %r8\n"
	"movq 8(%rsp), %r9\n"
	"syscall\n"
	"cmpq $-4095, %rax\n"
	"jae ut_timer_failed\n"
	"ret\n"
	".cfi_endproc\n"
	".size syscall, .-syscall\n"
	".popsection\n");

__attribute__((visibility("hidden"))) long ut_timer_failed_call(long rc);

long ut_timer_failed_call(long rc)
{
	errno = (int)-rc;
	return -1;
}

__asm__(".pushsection .text\n"
	".type ut_timer_failed, @function\n"
	"ut_timer_failed:\n"
	"movq %rax, %rdi\n"
	"jmp ut_timer_failed_call\n"
	".size ut_timer_failed, .-ut_timer_failed\n"
	".popsection\n");

_Static_assert(SYS_prctl == 157 && SYS_seccomp == 317, "the numbers in syscall()");

#endif
