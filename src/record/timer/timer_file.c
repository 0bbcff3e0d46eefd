/* timer_file.c - see timer.h: the file that the launcher reads, made inside a signal handler. */
#include "timer/timer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "wire/clock.h"
#include "wire/process.h"
#include "wire/sys.h"
#include "wire/text.h"

#define SLOTS_PER_CPU 16u

static uint32_t choose_slots(void)
{
	unsigned long set[128] = { 0 }; /* 8,192 CPUs */
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(set), set);
	uint32_t cpus = 0, slots;

	for (long i = 0; i < bytes / (long)sizeof(set[0]); i++)
		cpus += (uint32_t)__builtin_popcountl(set[i]);
	slots = cpus * SLOTS_PER_CPU;
	slots = slots < UT_TIMER_SLOTS_LEAST ? UT_TIMER_SLOTS_LEAST : slots;
	return slots > UT_TIMER_SLOTS_MOST ? UT_TIMER_SLOTS_MOST : slots;
}

/* Its room is really taken: a store into a hole of a full disk would end the program. */
static struct ut_timer_header *map_new(uint32_t slots)
{
	size_t bytes = ut_timer_ring_bytes(slots);
	static char name[4200]; /* a handler's stack may be small, and one thread makes the file */
	struct ut_text path;
	void *map = MAP_FAILED;
	int fd;

	path = ut_text_init(name, sizeof(name));
	ut_text_str(&path, ut_timer.dir);
	ut_text_str(&path, "/");
	ut_text_u64(&path, (uint64_t)syscall(SYS_getpid));
	ut_text_str(&path, "-");
	ut_text_u64(&path, ut_timer.start);
	ut_text_str(&path, UT_TIMER_SUFFIX);
	fd = path.cut ? -1 : ut_sys_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	if (!ut_sys_fallocate(fd, 0, (off_t)bytes))
		map = ut_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	ut_sys_close(fd);
	if (map != MAP_FAILED)
		return map;
	ut_sys_unlink(name);
	return NULL;
}

/* "start-end perms ...": what can be executed. */
static bool is_code(const char *line, const char *end)
{
	const char *blank = memchr(line, ' ', (size_t)(end - line));

	return blank && end - blank > 4 && blank[3] == 'x';
}

/* Goes through the slots, which nobody uses yet: there is no room on a handler's stack. */
static uint32_t take_maps(struct ut_timer_header *h, uint32_t slots)
{
	char *text = (char *)h + ut_timer_slots_at(slots), *to = (char *)h + UT_TIMER_HEADER_BYTES;
	size_t room = slots * sizeof(struct ut_timer_slot), len = 0, used = 0;
	int fd = ut_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	char *line, *end;
	ssize_t n;

	while (fd >= 0 && len < room && (n = ut_sys_read(fd, text + len, room - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		ut_sys_close(fd);
	for (line = text; (end = memchr(line, '\n', len - (size_t)(line - text))); line = end + 1) {
		size_t bytes = (size_t)(end + 1 - line);

		if (is_code(line, end) && used + bytes <= UT_TIMER_MAPS_BYTES) {
			memcpy(to + used, line, bytes);
			used += bytes;
		}
	}
	memset(text, 0, len);
	return (uint32_t)used;
}

struct ut_timer_header *ut_timer_file_make(void)
{
	uint32_t slots = choose_slots();
	struct ut_timer_header *h = map_new(slots);

	if (!h)
		return NULL;
	h->version = UT_TIMER_VERSION;
	h->pid = (uint32_t)syscall(SYS_getpid);
	h->ppid = (uint32_t)syscall(SYS_getppid);
	h->slots = ut_timer.slots = slots;
	h->start = ut_timer.start;
	h->proc_start = ut_process_start(0);
	h->used = ut_timer.used;
	h->maps_bytes = take_maps(h, slots);
	atomic_thread_fence(memory_order_release);
	memcpy(h->magic, UT_TIMER_MAGIC, sizeof(h->magic));
	return h;
}
