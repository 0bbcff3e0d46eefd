/* mark.c - has a recording grown? */
#include "import/cpu/cpu_read.h"
#include "import/spool/reader.h"
#include "import/spool/records.h"

/* Words are written from the front: the first one that is not, or the end. A hole that a killed
 * writer left may be taken for it; then the next words tell nothing new until the last look. */
static uint64_t mark_words_of(const struct ut_chunk_view *view)
{
	uint64_t low = 0, high = (uint64_t)(view->end - view->begin);

	if (high && __atomic_load_n(&view->begin[high - 1], __ATOMIC_RELAXED))
		return high;
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (__atomic_load_n(&view->begin[mid], __ATOMIC_RELAXED))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int ut_spool_mark(const char *path, struct ut_spool_mark *mark, struct ut_err *err)
{
	struct ut_chunk_view view;
	struct ut_spool_map m;
	size_t offset = 0;
	struct ut_cpu_info cpu;
	int rc;

	if (!ut_cpu_info(path, &cpu, NULL)) { /* samples come behind those that are there */
		*mark = (struct ut_spool_mark){ .bytes = cpu.bytes, .number = cpu.bytes };
		return 0;
	}
	rc = ut_spool_map(&m, path, err);
	*mark = (struct ut_spool_mark){ 0 };
	if (rc)
		return rc;
	while (ut_spool_next_chunk(&m, &offset, &view)) {
		uint64_t words = mark_words_of(&view);
		/* the flight recorder writes a chunk again: its first record is another one */
		uint64_t first = words > 1 ? __atomic_load_n(&view.begin[1], __ATOMIC_RELAXED) : 0;

		mark->bytes += words * sizeof(uint64_t);
		mark->number = (mark->number ^ words ^ first) * 0x9e3779b97f4a7c15u;
	}
	ut_spool_unmap(&m);
	return 0;
}
