/* records.c - see records.h. */
#include "import/spool/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapped.h"

static int check_header(const struct ut_spool_map *m, const char *path, struct ut_err *err)
{
	const struct ut_spool_header *h = m->header;

	if (m->size < UT_CHUNK_UNIT || memcmp(h->magic, UT_SPOOL_MAGIC, sizeof(h->magic)) != 0)
		return ut_err_set(err, -EPROTO, "%s: not a recording of unitrace", path);
	if (h->version != UT_SPOOL_VERSION)
		return ut_err_set(err, -EPROTO,
				  "%s: format version %u; this unitrace reads version %d", path,
				  h->version, UT_SPOOL_VERSION);
	return 0;
}

int ut_spool_map(struct ut_spool_map *m, const char *path, struct ut_err *err)
{
	struct stat st;
	void *map;
	int fd, rc = 0;

	*m = (struct ut_spool_map){ 0 };
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		rc = ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(struct ut_spool_header)) {
		rc = ut_err_set(err, -EPROTO, "%s: not a recording of unitrace", path);
		goto out;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		rc = ut_err_set(err, -errno, "%s: cannot map it: %s", path, strerror(errno));
		goto out;
	}
	m->base = map;
	m->size = (size_t)st.st_size;
	m->header = map;
	ut_mapped_add(map, m->size, path);
	rc = check_header(m, path, err);
	if (!rc) {
		uint64_t next = atomic_load(&m->header->next);

		m->used = next < m->size ? (size_t)next : m->size;
		madvise(map, m->size, MADV_SEQUENTIAL);
	}
out:
	if (rc)
		ut_spool_unmap(m);
	if (fd >= 0)
		close(fd);
	return rc;
}

void ut_spool_unmap(struct ut_spool_map *m)
{
	ut_mapped_remove(m->base);
	if (m->base)
		munmap((void *)(uintptr_t)m->base, m->size);
	*m = (struct ut_spool_map){ 0 };
}

void ut_spool_forget(const uint64_t *begin, const uint64_t *end)
{
	uintptr_t from = ((uintptr_t)begin + 4095) & ~(uintptr_t)4095;
	uintptr_t to = (uintptr_t)end & ~(uintptr_t)4095;

	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

bool ut_spool_next_chunk(const struct ut_spool_map *m, size_t *offset, struct ut_chunk_view *view)
{
	if (*offset < UT_CHUNK_UNIT)
		*offset = UT_CHUNK_UNIT;
	for (; *offset + UT_CHUNK_UNIT <= m->used; *offset += UT_CHUNK_UNIT) {
		const struct ut_chunk *c = (const void *)(m->base + *offset);
		/* The magic first: it was written last. */
		bool opened = atomic_load(&c->magic) == UT_CHUNK_MAGIC;
		uint32_t bytes = c->bytes;

		/* A chunk that was claimed and never opened is zeros; they end at the next one. */
		if (!opened || bytes % UT_CHUNK_UNIT || !bytes || bytes > m->used - *offset)
			continue;
		view->kind = (enum ut_chunk_kind)c->kind;
		view->begin = (const uint64_t *)(const void *)(c + 1);
		view->end = (const uint64_t *)(const void *)((const char *)c + bytes);
		if (c->kind == UT_CHUNK_META)
			view->begin++;
		*offset += bytes;
		return true;
	}
	return false;
}

bool ut_spool_walk_long(struct ut_spool_walk *w, struct ut_spool_rec *r, uint64_t word)
{
	uint32_t payload = (uint32_t)(word >> 36);
	size_t words = payload >> 8, left = (size_t)(w->end - w->pos) + 1;

	if ((word & 15) > UT_WORD_RESERVED || !words || words > left) {
		/* Garbage, not a record: what follows cannot be told apart from it. */
		w->torn++;
		w->pos = w->end;
		return false;
	}
	r->words = w->pos;
	r->count = words - 1;
	w->pos += r->count;
	if ((word & 15) == UT_WORD_RESERVED) {
		w->torn++;
		return false;
	}
	r->kind = UT_WORD_LONG;
	r->type = (enum ut_rec)(payload & 255);
	if (r->type == UT_REC_THREAD || r->type == UT_REC_TIME)
		w->ticks = ut_rec_word(r, 0);
	else
		w->ticks +=
			(uint64_t)(int64_t)(int32_t)((uint32_t)(word >> 4) - (uint32_t)w->ticks);
	return true;
}

const char *ut_rec_bytes(const struct ut_spool_rec *r, size_t n, size_t *len)
{
	size_t there = r->count > n ? (r->count - n) * sizeof(uint64_t) : 0;

	if (*len > there)
		*len = there;
	return *len ? (const char *)(r->words + n) : "";
}
