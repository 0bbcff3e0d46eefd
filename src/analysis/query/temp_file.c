#include "query/temp_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/guard.h"

#define CHUNK      ((size_t)64 << 10)
#define MOST_LIMIT ((size_t)2 << 30)

struct file {
	sqlite3_file base; /* first: SQLite knows this only */
	unsigned char **chunks;
	size_t chunk_count;
	size_t size;
};

static _Atomic size_t used, limit;

size_t ut_guard_temp_limit(void)
{
	size_t set = atomic_load(&limit), quarter;

	if (set)
		return set;
	quarter = (size_t)sysconf(_SC_PHYS_PAGES) / 4 * (size_t)sysconf(_SC_PAGESIZE);
	return quarter < MOST_LIMIT ? quarter : MOST_LIMIT;
}

void ut_guard_set_temp_limit(size_t bytes)
{
	atomic_store(&limit, bytes);
}

size_t ut_guard_temp_used(void)
{
	return atomic_load(&used);
}

static void drop_chunks(struct file *f, size_t keep)
{
	while (f->chunk_count > keep) {
		free(f->chunks[--f->chunk_count]);
		atomic_fetch_sub(&used, CHUNK);
	}
}

/* Memory up to this size. */
static int temp_file_make_room(struct file *f, size_t size)
{
	size_t want = (size + CHUNK - 1) / CHUNK;
	unsigned char **chunks;

	if (want <= f->chunk_count)
		return SQLITE_OK;
	chunks = realloc(f->chunks, want * sizeof(*chunks));
	if (!chunks)
		return SQLITE_IOERR_NOMEM;
	f->chunks = chunks;
	while (f->chunk_count < want) {
		if (atomic_fetch_add(&used, CHUNK) + CHUNK > ut_guard_temp_limit()) {
			atomic_fetch_sub(&used, CHUNK);
			return SQLITE_FULL;
		}
		f->chunks[f->chunk_count] = calloc(1, CHUNK);
		if (!f->chunks[f->chunk_count]) {
			atomic_fetch_sub(&used, CHUNK);
			return SQLITE_IOERR_NOMEM;
		}
		f->chunk_count++;
	}
	return SQLITE_OK;
}

static int file_close(sqlite3_file *file)
{
	struct file *f = (struct file *)file;

	drop_chunks(f, 0);
	free(f->chunks);
	return SQLITE_OK;
}

/* Copies between the file and a buffer; the range lies in the file's chunks. */
static void temp_file_copy(struct file *f, size_t at, unsigned char *buffer, size_t count,
			   bool to_file)
{
	while (count) {
		unsigned char *place = f->chunks[at / CHUNK] + at % CHUNK;
		size_t part = CHUNK - at % CHUNK;

		part = part < count ? part : count;
		memcpy(to_file ? place : buffer, to_file ? buffer : place, part);
		at += part;
		buffer += part;
		count -= part;
	}
}

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset)
{
	struct file *f = (struct file *)file;
	size_t at = (size_t)offset, want = (size_t)count, there = 0;

	if (at < f->size)
		there = f->size - at < want ? f->size - at : want;
	temp_file_copy(f, at, buffer, there, false);
	if (there == want)
		return SQLITE_OK;
	memset((char *)buffer + there, 0, want - there);
	return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset)
{
	struct file *f = (struct file *)file;
	size_t at = (size_t)offset, end = at + (size_t)count;
	int rc = temp_file_make_room(f, end);

	if (rc != SQLITE_OK)
		return rc;
	temp_file_copy(f, at, (unsigned char *)(uintptr_t)buffer, (size_t)count, true);
	f->size = f->size > end ? f->size : end;
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct file *f = (struct file *)file;
	size_t rest = (size_t)size % CHUNK;

	if ((size_t)size >= f->size)
		return SQLITE_OK;
	f->size = (size_t)size;
	drop_chunks(f, (f->size + CHUNK - 1) / CHUNK);
	if (rest) /* what is written behind this end leaves zeroes between */
		memset(f->chunks[f->chunk_count - 1] + rest, 0, CHUNK - rest);
	return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)((struct file *)file)->size;
	return SQLITE_OK;
}

static int file_sync(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level)
{
	(void)file;
	(void)level;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *is)
{
	(void)file;
	*is = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
	(void)file;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *file)
{
	(void)file;
	return 0; /* SQLite's own */
}

static int file_traits(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND |
	       SQLITE_IOCAP_SEQUENTIAL;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

/* Temporary files only: those that have a name are somebody's. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		    int *flags_out)
{
	(void)vfs;
	memset(file, 0, sizeof(struct file));
	if (name)
		return SQLITE_CANTOPEN;
	file->pMethods = &methods;
	if (flags_out)
		*flags_out = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_IOERR_DELETE_NOENT;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*result = 0;
	return SQLITE_OK;
}

static sqlite3_vfs memory;
static int registered = SQLITE_ERROR;

static void register_once(void)
{
	const sqlite3_vfs *system = sqlite3_vfs_find(NULL);

	if (!system)
		return;
	memory = *system; /* clock, random numbers, full path names */
	memory.zName = UT_TEMP_VFS;
	memory.pNext = NULL;
	memory.szOsFile = sizeof(struct file);
	memory.xOpen = vfs_open;
	memory.xDelete = vfs_delete;
	memory.xAccess = vfs_access;
	memory.xDlOpen = NULL;
	memory.xDlError = NULL;
	memory.xDlSym = NULL;
	memory.xDlClose = NULL;
	registered = sqlite3_vfs_register(&memory, 0);
}

int ut_temp_vfs_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
	return registered;
}
