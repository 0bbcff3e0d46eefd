/*
 * small_stack.c - records on a coroutine whose stack is one page with nothing below it, as programs
 * with very many coroutines have them. The collector is loaded before, on the stack of main().
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "ittnotify.h"

#define STACK 4096
#define TASKS 100000 /* several chunks */
#define NAMES 3000

static ucontext_t main_context, coroutine;
static __itt_domain *domain;
static __itt_string_handle *work;

static void record_tasks(void)
{
	for (int i = 0; i < TASKS; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, work);
		__itt_task_end(domain);
	}
}

static void record_others(void)
{
	static char name[8] = "n0000";
	__itt_counter counter = __itt_counter_create("level", "small");
	__itt_id id = __itt_id_make(&counter, 1);

	for (uint64_t i = 0; i < NAMES; i++) {
		for (uint64_t at = 4, left = i; at > 0; at--, left /= 10)
			name[at] = (char)('0' + left % 10);
		__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
		__itt_metadata_add(domain, __itt_null, work, __itt_metadata_u64, 1, &i);
		__itt_metadata_str_add(domain, __itt_null, work, name, 0);
		__itt_counter_set_value(counter, &i);
		__itt_task_end(domain);
	}
	__itt_id_create(domain, id);
	__itt_task_begin_overlapped(domain, id, __itt_null, work);
	__itt_task_end_overlapped(domain, id);
	__itt_frame_begin_v3(domain, NULL);
	__itt_frame_end_v3(domain, NULL);
	__itt_thread_set_name("small");
}

static void run(void)
{
	record_tasks();
	record_others();
	swapcontext(&coroutine, &main_context);
}

int main(void)
{
	char *place = mmap(NULL, 3 * STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED || mprotect(place + STACK, STACK, PROT_READ | PROT_WRITE))
		return 1;
	domain = __itt_domain_create("small.stack");
	work = __itt_string_handle_create("work");
	__itt_task_begin(domain, __itt_null, __itt_null, work);
	__itt_task_end(domain);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = place + STACK;
	coroutine.uc_stack.ss_size = STACK;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, run, 0);
	swapcontext(&main_context, &coroutine);
	puts("done");
	return 0;
}
