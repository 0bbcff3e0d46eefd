/* process.c - see process.h. */
#include "wire/process.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "wire/spool.h"
#include "wire/sys.h"
#include "wire/text.h"

/* The first one that is set counts. SLURM sets its number in every job step, parallel or not. */
static const char *const rank_variables[] = { "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
					      "MV2_COMM_WORLD_RANK", "SLURM_PROCID" };
#define RANK_VARIABLES (sizeof(rank_variables) / sizeof(rank_variables[0]))
#define SLURM          (RANK_VARIABLES - 1)
#define CUT            "..." /* ends what did not fit */

static size_t read_file(const char *path, char *buf, size_t size)
{
	int fd = ut_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	size_t len = 0;
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return 0;
	while (len + 1 < size && (n = ut_sys_read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	ut_sys_close(fd);
	buf[len] = '\0';
	return len;
}

static int32_t to_number(const char *s)
{
	int32_t value = 0;

	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9' && value < 100000000; s++)
		value = value * 10 + (*s - '0');
	return value;
}

static int32_t value_of(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(entry, name, len) && entry[len] == '=' ? to_number(entry + len + 1) : -1;
}

struct ranks {
	int32_t found[RANK_VARIABLES];
	int32_t slurm_tasks;
};

static void look_at(struct ranks *r, const char *entry)
{
	for (size_t i = 0; i < RANK_VARIABLES; i++) {
		int32_t value = value_of(entry, rank_variables[i]);

		if (value >= 0)
			r->found[i] = value;
	}
	if (value_of(entry, "SLURM_NTASKS") > 1)
		r->slurm_tasks = 2;
}

/* Reads the entries one by one; of a long one only the start, which is all we compare. */
static void scan_environment(struct ranks *r)
{
	char buf[4096], entry[64] = { 0 };
	size_t len = 0;
	ssize_t n;
	int fd = ut_sys_open("/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	while ((n = ut_sys_read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (len < sizeof(entry) - 1)
				entry[len++] = buf[i];
			if (buf[i])
				continue;
			entry[len] = '\0';
			look_at(r, entry);
			len = 0;
		}
	}
	ut_sys_close(fd);
}

int32_t ut_process_rank(void)
{
	struct ranks r = { .found = { -1, -1, -1, -1, -1 } };

	scan_environment(&r);
	for (size_t i = 0; i < RANK_VARIABLES; i++)
		if (r.found[i] >= 0 && (i != SLURM || r.slurm_tasks))
			return r.found[i];
	return -1;
}

uint64_t ut_process_start(uint32_t pid)
{
	char path[64], stat[1024];
	struct ut_text text = ut_text_init(path, sizeof(path));
	uint64_t start = 0;
	const char *p;

	ut_text_str(&text, "/proc/");
	if (pid)
		ut_text_u64(&text, pid);
	else
		ut_text_str(&text, "self"); /* in a namespace /proc may know us by another number */
	ut_text_str(&text, "/stat");
	if (!read_file(path, stat, sizeof(stat)))
		return 0;
	p = strrchr(stat, ')'); /* the name in front may hold blanks and parentheses */
	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return 0; /* a zombie runs no more */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
		start = start * 10 + (uint64_t)(*p - '0');
	return start;
}

/*
 * What people call the program: the kernel's name of it, which for a script is the script; in
 * full when argv[0] continues what the kernel cut off.
 */
static void find_name(struct ut_spool_header *h)
{
	char comm[32], exe[4096];
	const char *base = strrchr(program_invocation_name, '/');
	size_t len = read_file("/proc/self/comm", comm, sizeof(comm));
	ssize_t n;

	base = base ? base + 1 : program_invocation_name;
	if (len && comm[len - 1] == '\n')
		comm[--len] = '\0';
	/* Started through /proc/self/exe, as programs do that start themselves again. */
	if (!strcmp(comm, "exe") &&
	    (n = ut_sys_readlink("/proc/self/exe", exe, sizeof(exe) - 1)) > 0) {
		exe[n] = '\0';
		base = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
		len = 0;
	}
	if (!len || (len == 15 && !strncmp(base, comm, len)))
		memcpy(h->name, base, strnlen(base, sizeof(h->name) - 1));
	else
		memcpy(h->name, comm, len);
	for (char *p = h->name; *p; p++)
		if (*p == '/')
			*p = '_'; /* becomes part of a file name */
}

void ut_process_describe(struct ut_spool_header *h, int32_t rank)
{
	size_t len;

	h->pid = (uint32_t)getpid();
	h->ppid = (uint32_t)getppid();
	h->proc_start = ut_process_start(0);
	h->rank = ut_process_rank();
	if (h->rank < 0)
		h->rank = rank;
	find_name(h);
	if (gethostname(h->host, sizeof(h->host) - 1))
		h->host[0] = '\0';
	len = read_file("/proc/self/cmdline", h->cmdline, sizeof(h->cmdline));
	if (len == sizeof(h->cmdline) - 1) /* there may be more */
		memcpy(h->cmdline + len - strlen(CUT), CUT, strlen(CUT));
	while (len && !h->cmdline[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (!h->cmdline[i])
			h->cmdline[i] = ' ';
}

void ut_process_boot_id(char id[40])
{
	size_t len = read_file("/proc/sys/kernel/random/boot_id", id, 40);

	if (len && id[len - 1] == '\n')
		id[len - 1] = '\0';
}
