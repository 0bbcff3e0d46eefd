/*
 * jitted.c - makes code at run time, tells of it and burns CPU time in it:
 *
 *	jitted WAY MS      WAY: map (/tmp/perf-PID.map), dump (jit-PID.dump in this folder), itt or
 * none
 *
 * made_two takes two thirds of MS, made_one one third; then made_again, at the address of made_one,
 * half of MS. Prints what each has really taken, as JSON.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "jitprofiling.h"

#define PAGE 4096
#define AWAY 256 /* bytes from one function to the next */

/* push rbp; xor ebp,ebp; 1: dec rdi; jnz 1b; pop rbp; ret: no frame pointer to follow */
static const unsigned char code[] = { 0x55, 0x31, 0xed, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };

static char *page;
static FILE *map;
static int dump = -1;
static const char *way;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct dump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

static void open_dump(void)
{
	struct dump_header h = { .magic = 0x4a695444,
				 .version = 1,
				 .size = sizeof(h),
				 .machine = 62,
				 .pid = (uint32_t)getpid(),
				 .time = now(CLOCK_MONOTONIC) };
	char name[64];

	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	dump = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (dump < 0 || write(dump, &h, sizeof(h)) != sizeof(h) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		exit(1);
}

static void put(const void *bytes, size_t len)
{
	if (write(dump, bytes, len) != (ssize_t)len)
		exit(1);
}

struct dump_record {
	uint32_t type, size;
	uint64_t time;
};

/* Lines first: the beginning of the function is line 10, the rest line 12. */
static void report_dump(const char *name, const char *at)
{
	struct dump_record r = { .type = 2, .time = now(CLOCK_MONOTONIC) };
	struct {
		uint64_t address, count;
	} lines = { (uintptr_t)at, 2 };
	struct {
		uint64_t address;
		uint32_t line, discriminator;
	} one = { (uintptr_t)at, 10, 0 };
	struct {
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
	} load = { (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)at,
		   (uintptr_t)at,      sizeof(code),       1 };

	r.size = (uint32_t)(sizeof(r) + sizeof(lines) + 2 * sizeof(one) + sizeof("made.src") + 2);
	put(&r, sizeof(r));
	put(&lines, sizeof(lines));
	put(&one, sizeof(one));
	put("made.src", sizeof("made.src"));
	one.address += 3;
	one.line = 12;
	put(&one, sizeof(one));
	put("\xff", 2);
	r.type = 0;
	r.size = (uint32_t)(sizeof(r) + sizeof(load) + strlen(name) + 1 + sizeof(code));
	put(&r, sizeof(r));
	put(&load, sizeof(load));
	put(name, strlen(name) + 1);
	put(code, sizeof(code));
}

static void report_itt(const char *name, char *at)
{
	static char file[] = "made.src";
	LineNumberInfo lines[] = { { 3, 10 }, { sizeof(code), 12 } };
	char own[32];
	iJIT_Method_Load m = { .method_id = iJIT_GetNewMethodID(),
			       .method_name = own,
			       .method_load_address = at,
			       .method_size = sizeof(code),
			       .line_number_size = 2,
			       .line_number_table = lines,
			       .source_file_name = file };

	snprintf(own, sizeof(own), "%s", name);
	iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED, &m);
}

static void report(const char *name, char *at)
{
	if (map) {
		fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)at, sizeof(code), name);
		fflush(map);
	} else if (dump >= 0) {
		report_dump(name, at);
	} else if (!strcmp(way, "itt")) {
		report_itt(name, at);
	}
}

static double run(char *at, double ms)
{
	uint64_t start = now(CLOCK_THREAD_CPUTIME_ID), spent = 0;
	void (*function)(uint64_t);

	memcpy(&function, &at, sizeof(at));
	while ((spent = now(CLOCK_THREAD_CPUTIME_ID) - start) < (uint64_t)(ms * 1e6))
		function(200000);
	return (double)spent / 1e6;
}

int main(int argc, char **argv)
{
	double ms = argc > 2 ? atof(argv[2]) : 0, two, one, again;
	char name[64];

	if (argc < 3)
		return 2;
	way = argv[1];
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return 77;
	memcpy(page, code, sizeof(code));
	memcpy(page + AWAY, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	if (!strcmp(way, "map"))
		map = fopen(name, "w");
	else if (!strcmp(way, "dump"))
		open_dump();
	report("made_one", page);
	report("made_two", page + AWAY);
	two = run(page + AWAY, ms * 2 / 3);
	one = run(page, ms / 3);
	if (map)
		unlink(name); /* who wants names has to have been here */
	report("made_again", page);
	again = run(page, ms / 2);
	printf("{\"made_two\":%.3f,\"made_one\":%.3f,\"made_again\":%.3f}\n", two, one, again);
	return 0;
}
