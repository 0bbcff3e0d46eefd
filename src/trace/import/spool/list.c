/* list.c - which recordings a session holds. */
#include "import/spool/reader.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "import/cpu/cpu_read.h"
#include "import/spool/records.h"
#include "wire/process.h"

static bool is_alive(const struct ut_spool_header *h)
{
	char boot_id[40];

	ut_process_boot_id(boot_id);
	if (strncmp(boot_id, h->boot_id, sizeof(boot_id)) != 0)
		return false; /* another machine, or before it was started again */
	return h->proc_start && ut_process_start(h->pid) == h->proc_start;
}

/* A process that has recorded nothing itself, but was sampled. */
static int info_of_samples(const char *path, struct ut_spool_info *info, struct ut_err *err)
{
	struct ut_cpu_info cpu;
	int rc = ut_cpu_info(path, &cpu, err);

	if (rc)
		return rc;
	*info = (struct ut_spool_info){ .pid = cpu.pid,
					.rank = cpu.rank,
					.start_mono = cpu.start,
					.bytes = cpu.bytes,
					.alive = cpu.alive };
	memcpy(info->path, cpu.path, sizeof(info->path));
	memcpy(info->name, cpu.name, sizeof(info->name));
	return 0;
}

int ut_spool_info(const char *path, struct ut_spool_info *info, struct ut_err *err)
{
	struct ut_spool_map m;
	int rc;

	if (ut_str_ends(path, UT_CPU_SUFFIX))
		return info_of_samples(path, info, err);
	if (!info_of_samples(path, info, NULL)) /* by another name, such as a descriptor's */
		return 0;
	rc = ut_spool_map(&m, path, err);
	if (rc)
		return rc;
	*info = (struct ut_spool_info){ .pid = m.header->pid,
					.rank = m.header->rank,
					.start_mono = m.header->start.mono,
					.bytes = m.used };
	snprintf(info->path, sizeof(info->path), "%s", path);
	snprintf(info->name, sizeof(info->name), "%.*s", (int)sizeof(m.header->name) - 1,
		 m.header->name);
	info->alive = is_alive(m.header);
	ut_spool_unmap(&m);
	return 0;
}

static int spool_list_by_start(const void *a, const void *b)
{
	const struct ut_spool_info *x = a, *y = b;

	return (x->start_mono > y->start_mono) - (x->start_mono < y->start_mono);
}

/* Samples of a process that has a spool are read with that. */
static bool is_recording(const char *dir, const char *name, char path[4096])
{
	if (snprintf(path, 4096, "%s/%s", dir, name) >= 4096)
		return false;
	return ut_str_ends(name, UT_SPOOL_SUFFIX) ||
	       (ut_str_ends(name, UT_CPU_SUFFIX) && !ut_cpu_has_spool(path));
}

int ut_spool_list(const char *dir, struct ut_spool_info **list, size_t *count, struct ut_err *err)
{
	DIR *d = opendir(dir);
	size_t cap = 0;
	struct dirent *e;
	int rc = 0;

	*list = NULL;
	*count = 0;
	if (!d)
		return ut_err_set(err, -errno, "%s: %s", dir, strerror(errno));
	while (!rc && (e = readdir(d))) {
		char path[4096];

		if (!is_recording(dir, e->d_name, path))
			continue;
		*list = ut_grow(*list, *count + 1, &cap, sizeof(**list));
		/* A file whose process was killed before it was ready holds nothing. */
		rc = ut_spool_info(path, &(*list)[*count], NULL);
		if (rc == -EPROTO || rc == -ENOENT)
			rc = 0; /* or it has just been removed */
		else if (!rc)
			(*count)++;
	}
	closedir(d);
	if (rc) {
		free(*list);
		*list = NULL;
		*count = 0;
		return ut_err_set(err, rc, "%s: cannot read its recordings: %s", dir,
				  strerror(-rc));
	}
	if (*count)
		qsort(*list, *count, sizeof(**list), spool_list_by_start);
	return 0;
}
