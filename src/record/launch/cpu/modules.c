#include "launch/cpu/modules.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/str.h"
#include "launch/cpu/file_maps.h"
#include "wire/cpu_file.h"

#define MOST_KEPT (UINT64_C(256) << 20)

/* Names that stand for no file: "[vdso]", "//anon", "[heap]", "anon_inode:...", "/memfd:..." */
static uint32_t modules_kind_of(const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return UT_CPU_MODULE_VDSO;
	if (path[0] != '/' || ut_str_starts(path, "//anon") || ut_str_starts(path, "/dev/zero") ||
	    ut_str_starts(path, "/SYSV"))
		return UT_CPU_MODULE_ANONYMOUS;
	return UT_CPU_MODULE_FILE;
}

static uint32_t modules_add(struct ut_modules *m, const char *path, uint64_t inode, uint32_t kind)
{
	struct ut_module *module = UT_NEW(&m->arena, struct ut_module);

	*module = (struct ut_module){ .path = ut_arena_copy(&m->arena, path, strlen(path)),
				      .inode = inode,
				      .kind = kind,
				      .unwind.fd = -1 };
	m->items = ut_grow(m->items, m->count + 1, &m->cap, sizeof(struct ut_module *));
	m->items[m->count] = module;
	return (uint32_t)++m->count;
}

void ut_modules_init(struct ut_modules *m)
{
	*m = (struct ut_modules){ 0 };
	modules_add(m, "[kernel]", 0, UT_CPU_MODULE_KERNEL);
	modules_add(m, "[unknown]", 0, UT_CPU_MODULE_UNKNOWN);
	modules_add(m, "[script]", 0, UT_CPU_MODULE_SCRIPT);
}

void ut_modules_release(struct ut_modules *m)
{
	for (size_t i = 0; i < m->count; i++)
		ut_unwind_close(&m->items[i]->unwind);
	free(m->items);
	ut_hashtab_release(&m->by_path);
	ut_arena_release(&m->arena);
}

static bool modules_same(const struct ut_module *m, const char *path, uint64_t inode)
{
	return m->inode == inode && !strcmp(m->path, path);
}

uint32_t ut_modules_number(struct ut_modules *m, const char *path, uint64_t inode)
{
	uint32_t hash = (uint32_t)(ut_hash_bytes(path, strlen(path)) + inode), at = hash, number;

	while ((number = ut_hashtab_next(&m->by_path, hash, &at)) &&
	       !modules_same(m->items[number - 1], path, inode))
		;
	if (number)
		return number;
	number = modules_add(m, path, inode, modules_kind_of(path));
	ut_hashtab_add(&m->by_path, hash, number);
	return number;
}

/* ---- files --------------------------------------------------------------------------------- */

static bool is_it(int fd, uint64_t inode)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (!inode || st.st_ino == inode);
}

/* The file behind a name, if it is the one that was mapped. */
static int open_it(const char *path, uint64_t inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && !is_it(fd, inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * In the process's own root, which may be a container's. What has been removed can still be opened
 * by its mapping, if we may; a process that has ended has left only the name.
 */
static int modules_open_file(const struct ut_module *m, uint32_t pid, const struct ut_map *map)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root%s", pid, m->path);
	fd = open_it(path, m->inode);
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
			 pid, map->start, map->end);
		fd = open_it(path, m->inode);
	}
	return fd >= 0 ? fd : open_it(m->path, m->inode);
}

/* Ours is the same as that of any other program. */
static void open_vdso(struct ut_module *m)
{
	const Elf64_Ehdr *base = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t size = ut_elf_vdso_size();

	if (base && size)
		ut_unwind_open_memory(&m->unwind, base, size);
}

void ut_module_open(struct ut_module *m, uint32_t pid, const struct ut_map *map)
{
	int fd;

	if (m->opened)
		return;
	m->opened = true;
	if (m->kind == UT_CPU_MODULE_VDSO) {
		open_vdso(m);
	} else if (m->kind == UT_CPU_MODULE_FILE) {
		fd = modules_open_file(m, pid, map);
		if (fd >= 0 && !ut_unwind_open(&m->unwind, fd))
			close(fd);
	}
}

/* ---- what is gone -------------------------------------------------------------------------- */

static bool is_gone(const struct ut_module *m)
{
	struct stat now, then;

	return m->unwind.fd >= 0 && m->unwind.id.len && !fstat(m->unwind.fd, &then) &&
	       (stat(m->path, &now) || now.st_ino != then.st_ino || now.st_dev != then.st_dev);
}

static void modules_copy(int from, uint64_t size, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	off_t at = 0;

	while (to >= 0 && (uint64_t)at < size && sendfile(to, from, &at, size - (uint64_t)at) > 0)
		;
	if (to >= 0)
		close(to);
}

void ut_modules_keep(const struct ut_modules *m, const char *dir)
{
	char path[4200], id[2 * UT_BUILD_ID_MOST + 1];
	uint64_t kept = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct ut_module *module = m->items[i];

		if (!is_gone(module) || kept + module->unwind.size > MOST_KEPT)
			continue;
		kept += module->unwind.size;
		snprintf(path, sizeof(path), "%s/%s" UT_CPU_KEPT_SUFFIX, dir,
			 ut_build_id_text(&module->unwind.id, id));
		modules_copy(module->unwind.fd, module->unwind.size, path);
	}
}
