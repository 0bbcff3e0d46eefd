#include "launch/cpu/perf.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"

#define RING_BYTES    (4u << 20) /* an ordinary user gets 512 KiB per CPU, mostly */
#define LEAST_BYTES   (32u << 10)
#define MOST_RECORD   65536u
#define MOST_BRANCHES 1024u

#if defined(__x86_64__)
/* The general registers and the instruction pointer: bits of enum perf_event_x86_regs. */
#define USER_REGS  0xff01ffu
#define REGS_COUNT 17u
#else
#define USER_REGS  0u
#define REGS_COUNT 0u
#endif

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define DWARF_TYPE (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* ---- opening ------------------------------------------------------------------------------- */

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(__NR_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr common(const struct ut_perf *p)
{
	const struct ut_perf_opts *o = &p->opts;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = !o->inherit,
		.sample_id_all = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)p->ring_bytes / 4,
	};

	if (o->pid < 0)
		attr.inherit = attr.inherit_thread = 0;
	return attr;
}

/* Tells what is mapped, who comes and goes, who runs when. Never samples. */
static struct perf_event_attr watcher(const struct ut_perf *p)
{
	struct perf_event_attr attr = common(p);

	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_period = 1;
	attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	attr.context_switch = p->switches;
	attr.exclude_kernel = 1;
	attr.enable_on_exec = p->opts.at_exec;
	return attr;
}

static void take_stacks(const struct ut_perf *p, struct perf_event_attr *attr)
{
	attr->exclude_kernel = !p->kernel;
	attr->exclude_callchain_kernel = !p->kernel;
	attr->exclude_callchain_user = p->opts.stacks != UT_STACKS_FP;
	attr->enable_on_exec = p->opts.at_exec && !p->opts.paused;
	if (p->opts.eager) {
		attr->watermark = 0;
		attr->wakeup_events = 1;
	}
	if (p->opts.stacks == UT_STACKS_DWARF) {
		attr->sample_type |= DWARF_TYPE;
		attr->sample_regs_user = USER_REGS;
		attr->sample_stack_user = p->opts.stack_bytes;
	}
}

static struct perf_event_attr sampler(const struct ut_perf *p)
{
	struct perf_event_attr attr = common(p);

	attr.sample_type = SAMPLE_TYPE;
	ut_perf_choice_apply(&p->choice, &attr, p->opts.hz);
	take_stacks(p, &attr);
	return attr;
}

/* Each time that a thread gives up its CPU. */
static struct perf_event_attr waiter(const struct ut_perf *p)
{
	struct perf_event_attr attr = common(p);

	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.sample_period = 1;
	attr.sample_type = SAMPLE_TYPE;
	take_stacks(p, &attr);
	return attr;
}

static int map_ring(const struct ut_perf *p, struct ut_perf_ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page + p->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);

	if (map == MAP_FAILED)
		return errno == EPERM ? -ENOMEM : -errno; /* more than we may lock */
	r->map = map;
	return 0;
}

static void note_kind(struct ut_perf *p, int fd, enum ut_perf_kind kind)
{
	uint64_t number;

	if (!ioctl(fd, PERF_EVENT_IOC_ID, &number))
		ut_idmap_put(&p->kinds, number, (uint32_t)kind + 1);
}

static int open_further(struct ut_perf *p, struct ut_perf_ring *r, enum ut_perf_kind kind, int *to)
{
	struct perf_event_attr attr = kind == UT_PERF_WAITS ? waiter(p) : sampler(p);

	*to = open_event(&attr, p->opts.pid, r->cpu);
	if (*to < 0 || ioctl(*to, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return -errno;
	note_kind(p, *to, kind);
	return 0;
}

static int open_ring(struct ut_perf *p, int cpu)
{
	struct perf_event_attr watch = watcher(p);
	struct ut_perf_ring *r = &p->rings[p->count];
	int rc;

	*r = (struct ut_perf_ring){ .fd = -1, .sample_fd = -1, .wait_fd = -1, .cpu = cpu };
	r->fd = open_event(&watch, p->opts.pid, cpu);
	if (r->fd < 0)
		return -errno;
	p->count++;
	rc = map_ring(p, r);
	if (!rc)
		rc = open_further(p, r, UT_PERF_SAMPLER, &r->sample_fd);
	if (!rc && p->waits)
		rc = open_further(p, r, UT_PERF_WAITS, &r->wait_fd);
	return rc;
}

/* Several descriptors for each CPU may be more than a shell grants; we may take what is allowed. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* A thread that is there already: its events go into the rings of the first. */
static int open_thread(struct ut_perf *p, pid_t tid)
{
	struct perf_event_attr attrs[UT_PERF_EVENTS] = { watcher(p), sampler(p), waiter(p) };

	for (size_t i = 0; i < p->count; i++) {
		for (size_t k = 0; k < UT_PERF_EVENTS; k++) {
			bool wanted = k != UT_PERF_WAITS || p->waits;
			int fd = wanted ? open_event(&attrs[k], tid, p->rings[i].cpu) : -1;

			if (fd < 0 && wanted && errno != ESRCH) /* it may just have ended */
				return -errno;
			p->more =
				ut_grow(p->more, p->more_count + 1, &p->more_cap, sizeof(*p->more));
			p->more[p->more_count++] = fd;
			if (fd < 0)
				continue;
			if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, p->rings[i].fd))
				return -errno;
			note_kind(p, fd, (enum ut_perf_kind)k);
		}
	}
	return 0;
}

static int open_rings(struct ut_perf *p)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int rc = 0;

	p->rings = ut_make((size_t)cpus * sizeof(*p->rings));
	for (int cpu = 0; !rc && cpu < cpus; cpu++) {
		rc = open_ring(p, cpu);
		if (rc == -ENODEV) /* it is switched off */
			rc = 0;
	}
	return !rc && !p->count ? -ENODEV : rc;
}

/* With rings as large as we are given, all of one size. */
static int open_all(struct ut_perf *p)
{
	int rc;

	for (p->ring_bytes = RING_BYTES;; p->ring_bytes /= 2) {
		rc = open_rings(p);
		if (rc)
			ut_perf_close(p);
		if (rc != -ENOMEM || p->ring_bytes <= LEAST_BYTES)
			return rc;
	}
}

static bool refused(int rc)
{
	return rc == -EACCES || rc == -EPERM;
}

/* Who keeps us out: the system's setting, or a filter, as containers have. */
static const char *way_in(void)
{
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	char text[16] = { 0 };
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n > 0 && strtol(text, NULL, 10) <= 2)
		return "the seccomp profile of the container has to allow it (Docker: "
		       "--security-opt seccomp=FILE, or --cap-add PERFMON)";
	return "'sysctl kernel.perf_event_paranoid=2' or CAP_PERFMON allows it, in a container "
	       "also its seccomp profile";
}

int ut_perf_explain(int rc, struct ut_err *err)
{
	if (rc == -EMFILE)
		return ut_err_set(
			err, rc,
			"several descriptors are needed for each thread and CPU: 'ulimit -n' "
			"allows too few");
	if (rc == -ESRCH)
		return ut_err_set(err, rc, "there is no such process");
	if (refused(rc))
		return ut_err_set(err, rc, "the kernel refuses to sample (perf_event_open: %s); %s",
				  strerror(-rc), way_in());
	if (rc == -ENOSYS)
		return ut_err_set(
			err, rc,
			"the kernel knows no perf_event_open (CONFIG_PERF_EVENTS), or the "
			"container hides it");
	return ut_err_set(err, rc, "the kernel cannot sample (perf_event_open: %s)", strerror(-rc));
}

int ut_perf_ask(struct ut_err *err)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = UINT64_C(1000000000),
					.disabled = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd = open_event(&attr, 0, -1);

	if (fd < 0)
		return ut_perf_explain(-errno, err);
	close(fd);
	return 0;
}

static void switch_watchers(struct ut_perf *p)
{
	for (size_t i = 0; i < p->count; i++)
		ioctl(p->rings[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = UT_PERF_WATCHER; i < p->more_count; i += UT_PERF_EVENTS)
		ioctl(p->more[i], PERF_EVENT_IOC_ENABLE, 0);
}

/* Without what it may refuse, one thing after the other. */
static int open_somehow(struct ut_perf *p)
{
	int rc = open_all(p);

	if (rc && p->choice.cycles && p->opts.event != UT_PERF_CYCLES) {
		/* one of the CPUs has no such event, or somebody else uses the only one */
		p->choice = (struct ut_perf_choice){ .cycles = false };
		if (p->opts.stacks == UT_STACKS_LBR)
			p->opts.stacks = UT_STACKS_DWARF;
		rc = open_all(p);
	}
	if (refused(rc)) { /* an ordinary user may look at what is his own: not at the kernel */
		p->kernel = p->waits = false;
		rc = open_all(p);
	}
	if (rc == -EINVAL) { /* a kernel before 4.3 tells no switches */
		p->switches = false;
		rc = open_all(p);
	}
	return rc;
}

int ut_perf_open(struct ut_perf *p, const struct ut_perf_opts *opts, struct ut_err *err)
{
	int rc;

	*p = (struct ut_perf){ .opts = *opts, .kernel = true, .switches = true };
	p->waits = opts->waits;
	raise_limit();
	rc = ut_perf_choose(&p->choice, opts->event, opts->stacks == UT_STACKS_LBR, opts->hz, NULL);
	if (rc)
		return ut_err_set(err, rc,
				  "the CPUs count no cycles for us (%s; virtual machines mostly "
				  "have no counters); --sampling-event auto does without",
				  strerror(-rc));
	if (p->opts.stacks == UT_STACKS_LBR && !p->choice.lbr)
		p->opts.stacks = UT_STACKS_DWARF;
	if (!REGS_COUNT && p->opts.stacks == UT_STACKS_DWARF)
		p->opts.stacks = UT_STACKS_FP;
	rc = open_somehow(p);
	if (refused(rc) && !opts->at_exec && opts->pid != getpid())
		return ut_err_set(err, rc,
				  opts->pid < 0
					  ? "sampling all processes needs root, CAP_PERFMON or "
					    "'sysctl kernel.perf_event_paranoid=0'"
					  : "the kernel does not let us look at that process "
					    "(%s): root or CAP_PERFMON may",
				  strerror(-rc));
	if (rc)
		return ut_perf_explain(rc, err);
	p->scratch = ut_make(MOST_RECORD);
	p->polls = ut_make((p->count + 1) * sizeof(*p->polls));
	if (!opts->at_exec) {
		switch_watchers(p);
		ut_perf_switch(p, !opts->paused);
	}
	return 0;
}

int ut_perf_add(struct ut_perf *p, pid_t tid)
{
	size_t before = p->more_count;
	int rc = open_thread(p, tid);

	for (size_t i = before; i < p->more_count; i++) {
		if (p->more[i] >= 0 && (i % UT_PERF_EVENTS == UT_PERF_WATCHER || !p->opts.paused))
			ioctl(p->more[i], PERF_EVENT_IOC_ENABLE, 0);
	}
	return rc;
}

void ut_perf_close(struct ut_perf *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < p->count; i++) {
		struct ut_perf_ring *r = &p->rings[i];

		if (r->sample_fd >= 0)
			close(r->sample_fd);
		if (r->wait_fd >= 0)
			close(r->wait_fd);
		if (r->map)
			munmap(r->map, page + p->ring_bytes);
		close(r->fd);
	}
	for (size_t i = 0; i < p->more_count; i++) {
		if (p->more[i] >= 0)
			close(p->more[i]);
	}
	p->more_count = 0;
	free(p->more);
	p->more = NULL;
	p->more_cap = 0;
	ut_idmap_release(&p->kinds);
	free(p->rings);
	free(p->scratch);
	free(p->polls);
	p->rings = NULL;
	p->scratch = NULL;
	p->polls = NULL;
	p->count = 0;
}

void ut_perf_switch(struct ut_perf *p, bool on)
{
	unsigned long how = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < p->count; i++) {
		ioctl(p->rings[i].sample_fd, how, 0);
		if (p->rings[i].wait_fd >= 0)
			ioctl(p->rings[i].wait_fd, how, 0);
	}
	for (size_t i = 0; i < p->more_count; i++) {
		if (i % UT_PERF_EVENTS != UT_PERF_WATCHER && p->more[i] >= 0)
			ioctl(p->more[i], how, 0);
	}
}

/* ---- reading ------------------------------------------------------------------------------- */

void ut_perf_wait(const struct ut_perf *p, int wake, int ms)
{
	struct pollfd *last = &p->polls[p->count];

	for (size_t i = 0; i < p->count; i++)
		p->polls[i] = (struct pollfd){ .fd = p->rings[i].fd, .events = POLLIN };
	*last = (struct pollfd){ .fd = wake, .events = POLLIN };
	if (poll(p->polls, (nfds_t)p->count + 1, ms) <= 0)
		return;
	/* Whose process has ended is always ready, though its children may go on. */
	for (size_t i = 0; i <= p->count; i++) {
		if (p->polls[i].revents & POLLIN)
			return;
	}
	poll(last, 1, ms);
}

void ut_perf_look(struct ut_perf *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct ut_perf_ring *r = &p->rings[i];

		r->from = r->map->data_tail;
		r->to = __atomic_load_n(&r->map->data_head, __ATOMIC_ACQUIRE);
	}
}

void ut_perf_forget(struct ut_perf *p)
{
	for (size_t i = 0; i < p->count; i++)
		__atomic_store_n(&p->rings[i].map->data_tail, p->rings[i].to, __ATOMIC_RELEASE);
}

const struct perf_event_header *ut_perf_next(struct ut_perf *p, size_t ring, uint64_t *at)
{
	const struct ut_perf_ring *r = &p->rings[ring];
	const unsigned char *data = (const unsigned char *)r->map + sysconf(_SC_PAGESIZE);
	const struct perf_event_header *h;
	size_t offset = *at & (p->ring_bytes - 1), size;

	if (*at < r->from || *at >= r->to)
		return NULL;
	h = (const struct perf_event_header *)(data + offset); /* 8-aligned: never cut in two */
	size = h->size;
	if (size < sizeof(*h) || size > r->to - *at)
		return NULL;
	*at += size;
	if (offset + size <= p->ring_bytes)
		return h;
	memcpy(p->scratch, data + offset, p->ring_bytes - offset);
	memcpy(p->scratch + (p->ring_bytes - offset), data, size - (p->ring_bytes - offset));
	return (const struct perf_event_header *)p->scratch;
}

/* Takes count words; NULL when the record is too short. */
static const uint64_t *perf_take(const uint64_t **at, const uint64_t *end, uint64_t count)
{
	const uint64_t *words = *at;

	if (count > (uint64_t)(end - words))
		return NULL;
	*at += count;
	return words;
}

static bool take_user(const uint64_t *at, const uint64_t *end, struct ut_perf_sample *s)
{
	const uint64_t *abi = perf_take(&at, end, 1), *size, *stack, *used;

	if (abi && *abi) {
		s->regs = perf_take(&at, end, REGS_COUNT);
		if (!s->regs)
			return false;
		if (*abi != PERF_SAMPLE_REGS_ABI_64)
			s->regs = NULL;
	}
	size = perf_take(&at, end, 1);
	if (!size || !*size)
		return size != NULL;
	stack = perf_take(&at, end, *size / 8);
	used = perf_take(&at, end, 1);
	if (!stack || !used)
		return false;
	s->stack = (const unsigned char *)stack;
	s->stack_bytes = *used < *size ? *used : *size;
	return true;
}

static bool take_branches(const struct ut_perf *p, const uint64_t **at, const uint64_t *end,
			  struct ut_perf_sample *s)
{
	const uint64_t *count;

	if (!p->choice.lbr)
		return true;
	count = perf_take(at, end, 1);
	if (!count || *count > MOST_BRANCHES)
		return false;
	s->branch_count = *count;
	s->branches = perf_take(at, end, *count * UT_PERF_BRANCH);
	return s->branches != NULL;
}

bool ut_perf_sample(const struct ut_perf *p, const struct perf_event_header *h,
		    struct ut_perf_sample *s)
{
	const uint64_t *at = (const uint64_t *)(h + 1);
	const uint64_t *end = (const uint64_t *)h + h->size / 8;
	const uint64_t *fixed = perf_take(&at, end, 7);
	bool wait;

	if (!fixed)
		return false;
	wait = ut_idmap_get(&p->kinds, fixed[0]) == UT_PERF_WAITS + 1;
	*s = (struct ut_perf_sample){
		.wait = wait,
		.ip = fixed[1],
		.pid = (uint32_t)fixed[2],
		.tid = (uint32_t)(fixed[2] >> 32),
		.time = fixed[3],
		.cpu = (uint32_t)fixed[4],
		.period = p->choice.cycles && !wait ? 0 : fixed[5],
		.chain_count = fixed[6],
	};
	s->chain = perf_take(&at, end, s->chain_count);
	if (!s->chain || (!wait && !take_branches(p, &at, end, s)))
		return false;
	return p->opts.stacks != UT_STACKS_DWARF || take_user(at, end, s);
}

bool ut_perf_id(const struct perf_event_header *h, struct ut_perf_id *id)
{
	if (h->size < sizeof(*h) + sizeof(*id))
		return false;
	memcpy(id, (const unsigned char *)h + h->size - sizeof(*id), sizeof(*id));
	return true;
}
