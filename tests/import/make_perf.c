#include "make_perf.h"

#include <string.h>

#include "import/perf/perf_file.h"

#define ATTR_BYTES 112u
#define FIRST_ID   100u
#define PERIOD     1000000u
#define SAMPLE_TYPE                                                                                \
	(UT_PDATA_IDENTIFIER | UT_PDATA_IP | UT_PDATA_TID | UT_PDATA_TIME | UT_PDATA_PERIOD |      \
	 UT_PDATA_CALLCHAIN)

static void put(struct ut_buf *b, const void *bytes, size_t size)
{
	ut_buf_add(b, bytes, size);
}

static void put64(struct ut_buf *b, uint64_t value)
{
	put(b, &value, sizeof(value));
}

static void put32(struct ut_buf *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

static void put_text(struct ut_buf *b, const char *text)
{
	size_t len = strlen(text) + 1;

	put(b, text, len);
	put(b, "\0\0\0\0\0\0\0", (8 - len % 8) % 8);
}

void perf_record(struct made_perf *p, uint32_t type, const void *bytes, size_t size)
{
	const struct ut_pdata_record rec = { type, 0, (uint16_t)(sizeof(rec) + size) };

	put(&p->data, &rec, sizeof(rec));
	put(&p->data, bytes, size);
}

/* What records that are no samples end with: tid, time, identifier. */
static void put_tail(struct ut_buf *b, uint32_t pid, uint32_t tid, uint64_t time)
{
	put32(b, pid);
	put32(b, tid);
	put64(b, time);
	put64(b, FIRST_ID);
}

void perf_map(struct made_perf *p, uint32_t pid, const struct made_map *map, uint64_t time)
{
	struct ut_buf b = { 0 };

	put32(&b, pid);
	put32(&b, pid);
	put64(&b, map->start);
	put64(&b, map->len);
	put64(&b, map->offset);
	put_text(&b, map->path);
	put_tail(&b, pid, pid, time);
	perf_record(p, UT_PDATA_MMAP, b.data, b.len);
	ut_buf_release(&b);
}

void perf_comm(struct made_perf *p, uint32_t pid, uint32_t tid, const char *name, uint64_t time)
{
	struct ut_buf b = { 0 };

	put32(&b, pid);
	put32(&b, tid);
	put_text(&b, name);
	put_tail(&b, pid, tid, time);
	perf_record(p, UT_PDATA_COMM, b.data, b.len);
	ut_buf_release(&b);
}

void perf_fork(struct made_perf *p, uint32_t pid, uint32_t parent, uint64_t time)
{
	struct ut_buf b = { 0 };

	put32(&b, pid);
	put32(&b, parent);
	put32(&b, pid);
	put32(&b, parent);
	put64(&b, time);
	put_tail(&b, parent, parent, time);
	perf_record(p, UT_PDATA_FORK, b.data, b.len);
	ut_buf_release(&b);
}

void perf_sample(struct made_perf *p, uint32_t pid, uint32_t tid, uint64_t time, int event,
		 const uint64_t *ips)
{
	struct ut_buf b = { 0 };
	uint64_t count = 0;

	while (ips[count])
		count++;
	put64(&b, FIRST_ID + (uint64_t)event);
	put64(&b, ips[0]);
	put32(&b, pid);
	put32(&b, tid);
	put64(&b, time);
	put64(&b, PERIOD);
	put64(&b, count + 1);
	put64(&b, UT_PDATA_CONTEXT_USER);
	put(&b, ips, count * sizeof(*ips));
	perf_record(p, UT_PDATA_SAMPLE, b.data, b.len);
	ut_buf_release(&b);
}

static void put_attr(struct ut_buf *f, int event, uint64_t ids_at)
{
	uint8_t attr[ATTR_BYTES] = { 0 };
	uint64_t flags = UT_PDATA_FLAG_SAMPLE_ID_ALL, type = SAMPLE_TYPE, period = PERIOD,
		 config = (uint64_t)event;
	uint32_t software = 1, size = ATTR_BYTES;

	memcpy(attr + UT_PDATA_ATTR_TYPE, &software, 4);
	memcpy(attr + UT_PDATA_ATTR_SIZE, &size, 4);
	memcpy(attr + UT_PDATA_ATTR_CONFIG, &config, 8);
	memcpy(attr + UT_PDATA_ATTR_PERIOD, &period, 8);
	memcpy(attr + UT_PDATA_ATTR_SAMPLE_TYPE, &type, 8);
	memcpy(attr + UT_PDATA_ATTR_FLAGS, &flags, 8);
	put(f, attr, sizeof(attr));
	put64(f, ids_at);
	put64(f, 8);
}

void perf_finish(struct made_perf *p, struct ut_buf *file)
{
	uint64_t events = (uint64_t)(p->events ? p->events : 1), size = ATTR_BYTES + 16;
	struct ut_pdata_head h = { .size = sizeof(h), .attr_size = size };

	memcpy(h.magic, UT_PDATA_MAGIC, 8);
	h.attrs = (struct ut_pdata_section){ sizeof(h) + 8 * events, events * size };
	h.data = (struct ut_pdata_section){ h.attrs.offset + h.attrs.size, p->data.len };
	put(file, &h, sizeof(h));
	for (uint64_t i = 0; i < events; i++)
		put64(file, FIRST_ID + i);
	for (uint64_t i = 0; i < events; i++)
		put_attr(file, (int)i, sizeof(h) + 8 * i);
	put(file, p->data.data, p->data.len);
	ut_buf_release(&p->data);
}
