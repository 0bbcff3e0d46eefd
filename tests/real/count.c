/*
 * count.c - a shim in front of a collector that counts what a program says, by itself.
 *
 * Loaded in the collector's place (INTEL_LIBITTNOTIFY64, INTEL_JIT_PROFILER64), it has the real one
 * (UT_COUNT_COLLECTOR) fill the table of the static part, then puts its own functions in front of
 * those that make something visible. So a test can ask whether a timeline holds all of it.
 *
 * Counts lie in a file (UT_COUNT_INTO with the process id behind it) that is mapped and shared:
 * they survive any end of the process, and a forked child adds to those of its parent. The file is
 * an array of struct slot; real_support.py reads it. No lock, no malloc: hooks come from anywhere.
 */
#define INTEL_NO_MACRO_BODY

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "itt/abi.h"
#include "ittnotify.h"
#include "jitprofiling.h"

#define EXPORT __attribute__((visibility("default")))
#define SLOTS  8192u
#define WORDS  3

#define MOST_ENTRIES 256 /* the longest table has 156 */

struct slot {
	_Atomic uint64_t hash; /* of the words; 0: free */
	_Atomic uint64_t count;
	char text[1008]; /* the words, each with its 0: function, domain, name; cut to fit */
};

EXPORT unsigned int Initialize(void);
EXPORT int NotifyEvent(iJIT_JVM_EVENT event, void *data);

static struct slot *slots;
static void *collector;

static uint64_t hash_words(const char *const words[WORDS])
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (int i = 0; i < WORDS; i++) {
		for (const char *c = words[i]; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
		hash = (hash ^ 0xff) * 0x100000001b3u; /* where a word ends */
	}
	return hash ? hash : 1;
}

static void describe(struct slot *slot, const char *const words[WORDS])
{
	size_t at = 0;

	for (int i = 0; i < WORDS; i++) {
		size_t room = sizeof(slot->text) - at - (size_t)(WORDS - i);
		size_t length = strnlen(words[i], room);

		memcpy(slot->text + at, words[i], length);
		at += length + 1;
	}
}

/* A count that is too small would prove nothing. */
static void give_up(const char *why)
{
	(void)!write(STDERR_FILENO, why, strlen(why));
	abort();
}

static void count(const char *function, const char *domain, const char *name)
{
	const char *const words[WORDS] = { function, domain ? domain : "", name ? name : "" };
	uint64_t hash = hash_words(words);

	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[(hash + i) % SLOTS];
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&slot->hash, &there, hash))
			describe(slot, words);
		else if (there != hash)
			continue;
		atomic_fetch_add(&slot->count, 1);
		return;
	}
	give_up("count: no room for a further name\n");
}

static const char *of_domain(const __itt_domain *domain)
{
	return domain ? domain->nameA : NULL;
}

static const char *of_string(const __itt_string_handle *string)
{
	return string ? string->strA : NULL;
}

/* What is counted: the function, its domain, its name. FNV returns nothing. */
#define DOMAIN const __itt_domain *domain
#define CLOCK  __itt_clock_domain *clock, unsigned long long time
#define NAME   __itt_string_handle *name
#define COUNTED                                                                                    \
	FNV(task_begin, (DOMAIN, __itt_id id, __itt_id parent, NAME), (domain, id, parent, name),  \
	    of_domain(domain), of_string(name))                                                    \
	FNV(task_begin_ex, (DOMAIN, CLOCK, __itt_id id, __itt_id parent, NAME),                    \
	    (domain, clock, time, id, parent, name), of_domain(domain), of_string(name))           \
	FNV(task_begin_overlapped, (DOMAIN, __itt_id id, __itt_id parent, NAME),                   \
	    (domain, id, parent, name), of_domain(domain), of_string(name))                        \
	FNV(task_begin_overlapped_ex, (DOMAIN, CLOCK, __itt_id id, __itt_id parent, NAME),         \
	    (domain, clock, time, id, parent, name), of_domain(domain), of_string(name))           \
	FNV(region_begin, (DOMAIN, __itt_id id, __itt_id parent, NAME),                            \
	    (domain, id, parent, name), of_domain(domain), of_string(name))                        \
	FNV(frame_begin_v3, (DOMAIN, __itt_id * id), (domain, id), of_domain(domain), NULL)        \
	FNV(frame_submit_v3, (DOMAIN, __itt_id * id, __itt_timestamp begin, __itt_timestamp end),  \
	    (domain, id, begin, end), of_domain(domain), NULL)                                     \
	FNV(metadata_add,                                                                          \
	    (DOMAIN, __itt_id id, NAME, __itt_metadata_type type, size_t n, void *data),           \
	    (domain, id, name, type, n, data), of_domain(domain), of_string(name))                 \
	FNV(metadata_str_add, (DOMAIN, __itt_id id, NAME, const char *data, size_t length),        \
	    (domain, id, name, data, length), of_domain(domain), of_string(name))                  \
	FN(int, event_start, (__itt_event event), (event), NULL, NULL)                             \
	FN(const char *, api_version, (void), (), NULL, NULL)

/* One collector in a process, one function of it per name: any static part tells which. */
#define FNV(function, params, args, whose, what)                                                   \
	static void(*next_##function) params;                                                      \
	static void wrap_##function params                                                         \
	{                                                                                          \
		count(#function, whose, what);                                                     \
		next_##function args;                                                              \
	}
#define FN(ret, function, params, args, whose, what)                                               \
	static ret(*next_##function) params;                                                       \
	static ret wrap_##function params                                                          \
	{                                                                                          \
		count(#function, whose, what);                                                     \
		return next_##function args;                                                       \
	}
COUNTED
#undef FNV
#undef FN

/* Our function instead of the collector's, where we have one. */
#define FNV(function, params, args, whose, what) FN(void, function, params, args, whose, what)
#define FN(ret, function, params, args, whose, what)                                               \
	if (!strcmp(name, "__itt_" #function)) {                                                   \
		ret(*wrapper) params = wrap_##function;                                            \
		memcpy(&next_##function, &theirs, sizeof(theirs));                                 \
		memcpy(&ours, &wrapper, sizeof(ours));                                             \
	}
static void *in_front_of(void *theirs, const char *name)
{
	void *ours = theirs;

	COUNTED
	return ours;
}
#undef FNV
#undef FN

static void open_counts(void)
{
	const char *into = getenv("UT_COUNT_INTO"), *path = getenv("UT_COUNT_COLLECTOR");
	char name[4096];
	int fd;

	collector = path ? dlopen(path, RTLD_NOW) : NULL;
	if (!collector || !into)
		give_up("count: UT_COUNT_COLLECTOR and UT_COUNT_INTO have to be set\n");
	snprintf(name, sizeof(name), "%s%ld", into, (long)getpid());
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, SLOTS * sizeof(*slots)) != 0)
		give_up("count: no file for counts\n");
	slots = mmap(NULL, SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (slots == MAP_FAILED)
		give_up("count: no memory for counts\n");
	close(fd);
}

static void get_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_counts);
}

static void find(const char *name, void *function)
{
	void *found = dlsym(collector, name);

	memcpy(function, &found, sizeof(found));
}

/*
 * Other threads call a function as soon as its pointer is stored: the collector fills a table of
 * ours, under the lock of the copy, and only what stands in front of it is stored.
 */
EXPORT void __itt_api_init(__itt_global *copy, __itt_group_id groups)
{
	__itt_api_info *table = copy->api_list_ptr, seen[MOST_ENTRIES];
	void *functions[MOST_ENTRIES];
	__itt_api_init_t *init;
	size_t n = 0;

	get_ready();
	find("__itt_api_init", &init);
	if (!init)
		return;
	for (; table[n].name; n++) {
		if (n == MOST_ENTRIES - 1)
			give_up("count: no room for this table\n");
		functions[n] = *table[n].func_ptr;
		seen[n] = table[n];
		seen[n].func_ptr = &functions[n];
	}
	seen[n] = table[n];
	copy->api_list_ptr = seen;
	init(copy, groups);
	copy->api_list_ptr = table;
	for (size_t i = 0; i < n; i++) {
		void *found = functions[i];

		if (found && found != table[i].null_func)
			found = in_front_of(found, table[i].name);
		__atomic_store_n(table[i].func_ptr, found, __ATOMIC_RELEASE);
	}
}

EXPORT void __itt_api_fini(__itt_global *copy)
{
	__itt_api_fini_t *fini;

	find("__itt_api_fini", &fini);
	if (fini)
		fini(copy);
}

EXPORT unsigned int Initialize(void)
{
	unsigned int (*next)(void);

	get_ready();
	find("Initialize", &next);
	return next ? next() : iJIT_NOTHING_RUNNING;
}

EXPORT int NotifyEvent(iJIT_JVM_EVENT event, void *data)
{
	const iJIT_Method_Load *loaded = data; /* all shapes of a load begin alike */
	int (*next)(iJIT_JVM_EVENT, void *);

	find("NotifyEvent", &next);
	if (event == iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED ||
	    event == iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V2 ||
	    event == iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V3)
		count("jit_load", NULL, loaded->method_name);
	return next ? next(event, data) : 0;
}
