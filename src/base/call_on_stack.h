/*
 * call_on_stack.h - calls a function on another stack: hooks are called on stacks of signal
 * handlers and coroutines that leave a few hundred bytes.
 *
 * All signals have to be blocked meanwhile: a handler would run on that other stack, too, or, with
 * SA_ONSTACK, at the top of the alternate stack that is in use.
 */
#ifndef UT_BASE_CALL_ON_STACK_H
#define UT_BASE_CALL_ON_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Where there is no code for the machine, the function runs on the caller's stack. */
static inline void ut_call_on_stack(void *stack, size_t bytes, void (*fn)(void *), void *arg)
{
#if defined(__x86_64__)
	uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)63;

	/* Stacks end here for profilers: their copy of this one does not hold the caller's. */
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 ".cfi_remember_state\n\t"
			 ".cfi_def_cfa_register %%rbx\n\t"
			 ".cfi_undefined rip\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[fn]\n\t"
			 "movq %%rbx, %%rsp\n\t"
			 ".cfi_restore_state"
			 : "+D"(arg), [top] "+r"(top), [fn] "+r"(fn)
			 :
			 : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0",
			   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
#else
	(void)stack;
	(void)bytes;
	fn(arg);
#endif
}

#endif
