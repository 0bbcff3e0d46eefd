#include "backend/memory/stack_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/own_stack.h"
#include "unitrace/backend.h"

#define STACK_BITS 16u /* slots of what is never used cost nothing */
#define STEP_BITS  15u
#define FRAME_BITS 12u
#define CUT        "[outer frames cut]"

static struct ut_stack_slot stack_slots[1u << STACK_BITS], step_slots[1u << STEP_BITS],
	frame_slots[1u << FRAME_BITS];

/* The program itself has no name for the loader. */
static uint32_t program(const struct ut_host *host)
{
	static _Atomic uint32_t known;
	uint32_t number = atomic_load_explicit(&known, memory_order_relaxed);
	char path[4096];
	long len;
	int saved = errno;

	if (number || host->locked_in())
		return number;
	len = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path));
	errno = saved;
	number = len > 0 ? host->name(path, (size_t)len) : 0;
	atomic_store_explicit(&known, number, memory_order_relaxed);
	return number;
}

/* The file and where in it, as far as the loader knows; else the collector looks for the file. */
static uint32_t make_frame(const struct ut_host *host, uint64_t address)
{
	struct ut_code code = { .size = sizeof(code), .address = address };
	struct ut_own_code own;

	if (ut_own_stack_code(address, &own) && (own.path[0] == '/' || !own.path[0])) {
		code.module = own.path[0] ? host->name(own.path, strlen(own.path)) : program(host);
		code.address = code.module ? own.offset : address;
	}
	return host->frame(&code);
}

/* Addresses mean something else when a library has gone and another has come. */
static uint32_t number_of_frame(const struct ut_host *host, uint64_t frame)
{
	uint64_t address = frame & ~UT_OWN_STACK_MARKED, key;
	struct ut_stack_slot *s;
	uint32_t number;

	if (frame & UT_STACK_NUMBERED)
		return (uint32_t)frame;
	key = ut_stack_mix(ut_stack_mix(UINT64_C(0x243f6a8885a308d3), ut_own_stack_generation()),
			   address);
	s = &frame_slots[key >> (64 - FRAME_BITS)];
	number = ut_stack_recall(s, key);
	if (number)
		return number;
	number = make_frame(host, address);
	ut_stack_remember(s, key, number);
	return number;
}

static uint32_t cut_frame(const struct ut_host *host)
{
	return host->frame(&(struct ut_code){ .size = sizeof(struct ut_code),
					      .function = host->name(CUT, strlen(CUT)) });
}

/* Stacks that differ have most of their outer frames in common. */
static uint32_t step_inwards(const struct ut_host *host, uint32_t parent, uint32_t frame)
{
	uint64_t key = ut_stack_mix(UINT64_C(0x452821e638d01377), (uint64_t)parent << 32 | frame);
	struct ut_stack_slot *s = &step_slots[key >> (64 - STEP_BITS)];
	uint32_t number = ut_stack_recall(s, key);

	if (!number) {
		number = host->stack(parent, frame);
		ut_stack_remember(s, key, number);
	}
	return number;
}

uint32_t ut_stack_number(const struct ut_host *host, const uint64_t *frames, size_t count, bool cut)
{
	uint64_t key = ut_stack_mix(ut_own_stack_generation(), cut);
	struct ut_stack_slot *s;
	uint32_t number;

	for (size_t i = 0; i < count; i++)
		key = ut_stack_mix(key, frames[i]);
	s = &stack_slots[key >> (64 - STACK_BITS)];
	number = ut_stack_recall(s, key);
	if (number)
		return number;
	if (cut)
		number = host->stack(0, cut_frame(host));
	for (size_t i = count; i-- > 0;)
		number = step_inwards(host, number, number_of_frame(host, frames[i]));
	ut_stack_remember(s, key, number);
	return number;
}
