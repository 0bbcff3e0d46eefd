/* process.c - see process.h. */
#include "wire/process.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "wire/spool.h"
#include "wire/sys.h"
#include "wire/text.h"

/*
 * What job launchers tell their processes. Of the variables for one thing the first that is set
 * counts. Some say nothing by themselves: SLURM sets the rank in every job step, parallel or not,
 * and RANK may be anybody's, so they count where another says that there are more. torchrun is
 * started by other launchers, once on a host: what it says about its workers goes before theirs.
 */
enum what {
	RANK,
	COUNT,
	LOCAL,
	TASK, /* of a step; if TASKS is more than 1 */
	TASKS,
	WORKER, /* if WORKERS is more than 1 */
	WORKERS,
	LOCAL_WORKERS,
	JOB,     /* all of them together name the job */
	ELASTIC, /* the same; only torchrun sets it */
	WHATS,
};

static const struct {
	const char *name;
	enum what what;
} variables[] = {
	{ "PMI_RANK", RANK },             /* MPICH, Intel MPI, Cray */
	{ "PMIX_RANK", RANK },            /* whoever uses PMIx */
	{ "OMPI_COMM_WORLD_RANK", RANK }, /* Open MPI */
	{ "MV2_COMM_WORLD_RANK", RANK },  /* MVAPICH2 */
	{ "PALS_RANKID", RANK },          /* HPE */
	{ "FLUX_TASK_RANK", RANK },       /* Flux */
	{ "JSM_NAMESPACE_RANK", RANK },   /* IBM */
	{ "ALPS_APP_PE", RANK },          /* Cray */
	{ "SLURM_PROCID", TASK },         /* srun */
	{ "RANK", WORKER },               /* torchrun */
	{ "PMI_SIZE", COUNT },
	{ "OMPI_COMM_WORLD_SIZE", COUNT },
	{ "MV2_COMM_WORLD_SIZE", COUNT },
	{ "PALS_SIZE", COUNT },
	{ "FLUX_JOB_SIZE", COUNT },
	{ "JSM_NAMESPACE_SIZE", COUNT },
	{ "SLURM_STEP_NUM_TASKS", TASKS },
	{ "SLURM_NTASKS", TASKS },
	{ "WORLD_SIZE", WORKERS }, /* torchrun */
	{ "OMPI_COMM_WORLD_LOCAL_SIZE", LOCAL },
	{ "MPI_LOCALNRANKS", LOCAL }, /* MPICH, Intel MPI */
	{ "MV2_COMM_WORLD_LOCAL_SIZE", LOCAL },
	{ "PALS_LOCAL_SIZE", LOCAL },
	{ "JSM_NAMESPACE_LOCAL_SIZE", LOCAL },
	{ "LOCAL_WORLD_SIZE", LOCAL_WORKERS }, /* torchrun */
	{ "PMIX_NAMESPACE", JOB },
	{ "I_MPI_HYDRA_UUID", JOB }, /* Intel MPI */
	{ "SLURM_JOB_ID", JOB },
	{ "SLURM_STEP_ID", JOB },
	{ "PALS_APID", JOB },
	{ "FLUX_JOB_ID", JOB },
	{ "PMI_JOBID", JOB },
	{ "JSM_NAMESPACE", JOB },
	{ "ALPS_APP_ID", JOB },
	{ "TORCHELASTIC_RUN_ID", ELASTIC },
};
#define VARIABLES (sizeof(variables) / sizeof(variables[0]))
#define CUT       "..." /* ends what did not fit */

static size_t process_read_file(const char *path, char *buf, size_t size)
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

/* Which variable it is, VARIABLES if none; *value is what stands behind it. */
static size_t variable_of(const char *entry, const char **value)
{
	const char *equals = strchr(entry, '=');
	size_t len = equals ? (size_t)(equals - entry) : 0, i = 0;

	while (i < VARIABLES &&
	       (!len || strncmp(entry, variables[i].name, len) != 0 || variables[i].name[len]))
		i++;
	*value = equals ? equals + 1 : "";
	return i;
}

/* What was found, of each thing that of the first variable in the list. */
struct place {
	size_t found[WHATS]; /* number of the variable + 1; 0 = none */
	int32_t values[WHATS];
	uint64_t job; /* FNV-1a of the entries, in the order of the list */
	uint64_t parts[VARIABLES];
};

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static void process_look_at(struct place *p, const char *entry)
{
	const char *value;
	size_t i = variable_of(entry, &value);
	enum what what = i < VARIABLES ? variables[i].what : WHATS;
	int32_t number;

	if (what == WHATS)
		return;
	if (what == JOB || what == ELASTIC) {
		p->found[what] = i + 1;
		p->parts[i] = value[0] ? mix_text(UINT64_C(0xcbf29ce484222325), entry) : 0;
		return;
	}
	number = to_number(value);
	if (number < 0 || (p->found[what] && p->found[what] <= i))
		return;
	p->found[what] = i + 1;
	p->values[what] = number;
}

/* Where there is no /proc: as the program may have changed them, which job launchers do not. */
static void ask_environment(struct place *p)
{
	for (size_t i = 0; i < VARIABLES; i++) {
		const char *value = getenv(variables[i].name);
		char entry[160];
		struct ut_text text = ut_text_init(entry, sizeof(entry));

		if (!value)
			continue;
		ut_text_str(&text, variables[i].name);
		ut_text_str(&text, "=");
		ut_text_str(&text, value);
		process_look_at(p, entry);
	}
}

/* Reads the entries one by one; of a long one only the start. */
static void scan_environment(struct place *p)
{
	char buf[4096], entry[160] = { 0 };
	size_t len = 0;
	ssize_t n;
	int fd = ut_sys_open("/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0) {
		ask_environment(p);
		return;
	}
	while ((n = ut_sys_read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (len < sizeof(entry) - 1)
				entry[len++] = buf[i];
			if (buf[i])
				continue;
			entry[len] = '\0';
			process_look_at(p, entry);
			len = 0;
		}
	}
	ut_sys_close(fd);
}

/* What /proc/PID/stat tells; pid 0 is ourselves. */
struct stat_line {
	char name[32];
	uint32_t parent;
	uint64_t start;
};

/* Field n behind the name, which is number 2. */
static uint64_t stat_field(const char *p, int n)
{
	uint64_t value = 0;

	for (int field = 2; p && field < n; field++)
		p = strchr(p + 1, ' ');
	for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

/* False if there is no such process. */
static bool read_stat(uint32_t pid, struct stat_line *st)
{
	char path[64], stat[1024];
	struct ut_text text = ut_text_init(path, sizeof(path));
	const char *open, *p;
	size_t len;

	ut_text_str(&text, "/proc/");
	if (pid)
		ut_text_u64(&text, pid);
	else
		ut_text_str(&text, "self"); /* in a namespace /proc may know us by another number */
	ut_text_str(&text, "/stat");
	if (!process_read_file(path, stat, sizeof(stat)))
		return false;
	open = strchr(stat, '(');
	p = strrchr(stat, ')'); /* the name in front may hold blanks and parentheses */
	if (!open || !p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return false; /* a zombie runs no more */
	len = (size_t)(p - open - 1);
	len = len < sizeof(st->name) ? len : sizeof(st->name) - 1;
	memcpy(st->name, open + 1, len);
	st->name[len] = '\0';
	st->parent = (uint32_t)stat_field(p, 4);
	st->start = stat_field(p, 22);
	return true;
}

/*
 * MPICH's launcher gives the job no name. Where all ranks are on this host they have one of its
 * processes above them, which no other job has: known by its number and start.
 */
static uint64_t proxy_above(void)
{
	uint32_t pid = (uint32_t)getppid();
	struct stat_line st;

	for (int up = 0; up < 16 && pid > 1 && read_stat(pid, &st); up++) {
		if (!strcmp(st.name, "hydra_pmi_proxy") || !strcmp(st.name, "pmi_proxy"))
			return (st.start << 24) + pid;
		pid = st.parent;
	}
	return 0;
}

/* The rank and how many there are, if these two are there and say that there are many. */
static bool take_many(struct ut_process_job *j, const struct place *p, enum what rank,
		      enum what count)
{
	if (!p->found[rank] || !p->found[count] || p->values[count] < 2)
		return false;
	j->rank = p->values[rank];
	j->ranks = p->values[count];
	return true;
}

static bool take_rank(struct ut_process_job *j, const struct place *p)
{
	if (!p->found[RANK])
		return false;
	j->rank = p->values[RANK];
	j->ranks = p->found[COUNT] ? p->values[COUNT] : p->values[TASKS] > 1 ? p->values[TASKS] : 0;
	return true;
}

void ut_process_job(struct ut_process_job *j)
{
	struct place p = { 0 };
	bool workers;

	scan_environment(&p);
	*j = (struct ut_process_job){ .rank = -1 };
	workers = p.found[ELASTIC] && take_many(j, &p, WORKER, WORKERS);
	if (!workers && !take_rank(j, &p)) {
		workers = take_many(j, &p, WORKER, WORKERS);
		if (!workers && !take_many(j, &p, TASK, TASKS))
			return;
	}
	j->local = p.values[workers ? LOCAL_WORKERS : LOCAL];
	for (size_t i = 0; i < VARIABLES; i++)
		j->id = p.parts[i] ? (j->id ^ p.parts[i]) * UINT64_C(0x100000001b3) : j->id;
	if (!j->id && j->ranks && j->ranks == j->local)
		j->id = proxy_above();
}

int32_t ut_process_rank(void)
{
	struct ut_process_job j;

	ut_process_job(&j);
	return j.rank;
}

uint64_t ut_process_start(uint32_t pid)
{
	struct stat_line st;

	return read_stat(pid, &st) ? st.start : 0;
}

/*
 * What people call the program: the kernel's name of it, which for a script is the script; in
 * full when argv[0] continues what the kernel cut off.
 */
static void find_name(struct ut_spool_header *h)
{
	char comm[32], exe[4096];
	const char *base = strrchr(program_invocation_name, '/');
	size_t len = process_read_file("/proc/self/comm", comm, sizeof(comm));
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
	len = process_read_file("/proc/self/cmdline", h->cmdline, sizeof(h->cmdline));
	if (!len) { /* without /proc: at least what was started */
		len = strnlen(program_invocation_name, sizeof(h->cmdline) - 1);
		memcpy(h->cmdline, program_invocation_name, len);
	}
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
	size_t len = process_read_file("/proc/sys/kernel/random/boot_id", id, 40);

	if (len && id[len - 1] == '\n')
		id[len - 1] = '\0';
}
