/*
 * omp.c - what LLVM's OpenMP runtime says, as its users think of it.
 *
 * libomp makes a domain of every parallel region and barrier of the source, and submits a frame of
 * it when it is over; then it says how evenly the work was spread, as metadata without an id.
 * Here they share one lane, barriers inside their regions, and the metadata become arguments.
 */
#include <string.h>

#include "import/spool/steps.h"
#include "ittnotify.h"

/* What libomp's two kinds of metadata consist of. */
enum {
	LOOP_LINE,
	LOOP_COLUMN,
	LOOP_SCHEDULE,
	LOOP_ITERATIONS,
	LOOP_CHUNK,
	LOOP_WORDS
};
enum {
	UNEVEN_BEGIN,
	UNEVEN_END,
	UNEVEN_TICKS,
	UNEVEN_REDUCTION,
	UNEVEN_WORDS
};

static uint32_t omp_text(struct ut_spool_import *im, const char *s)
{
	return ut_strtab_intern_z(&im->trace->strings, s);
}

static bool omp_contains(struct ut_spool_import *im, uint32_t string, const char *part)
{
	struct ut_str s = ut_strtab_get(&im->trace->strings, string);

	return memmem(s.ptr, s.len, part, strlen(part)) != NULL;
}

uint32_t ut_spool_omp_lane(struct ut_spool_import *im, uint32_t domain)
{
	return omp_contains(im, domain, "$omp$") ? omp_text(im, "OpenMP") : 0;
}

/* ---- metadata ------------------------------------------------------------------------------ */

static void omp_add_number(struct ut_spool_import *im, const char *key, uint64_t value)
{
	ut_trace_add_arg(im->trace, omp_text(im, key), UT_ARG_U64)->value.u64 = value;
}

static size_t read_commands(const struct ut_spool_rec *r, uint64_t *v, size_t count)
{
	size_t len = ut_rec_low(r, 5) * sizeof(uint64_t);
	const char *p = ut_rec_bytes(r, 6, &len);

	len = len < count * sizeof(*v) ? len : count * sizeof(*v);
	memcpy(v, p, len);
	return len / sizeof(*v);
}

static void add_loop(struct ut_spool_import *im, const uint64_t *v)
{
	static const char *const schedules[] = { "static", "dynamic", "guided", "other" };

	omp_add_number(im, "line", v[LOOP_LINE]);
	omp_add_number(im, "column", v[LOOP_COLUMN]);
	ut_spool_args_text(im, "schedule",
			   omp_text(im, schedules[v[LOOP_SCHEDULE] < 3 ? v[LOOP_SCHEDULE] : 3]));
	omp_add_number(im, "iterations", v[LOOP_ITERATIONS]);
	omp_add_number(im, "chunk", v[LOOP_CHUNK]);
}

/* The time that threads waited for the last of them, of all threads together. */
static void add_imbalance(struct ut_spool_import *im, const uint64_t *v)
{
	uint64_t begin = ut_spool_ns(&im->tables, v[UNEVEN_BEGIN]);

	omp_add_number(im, "imbalance_ns",
		       ut_spool_ns(&im->tables, v[UNEVEN_BEGIN] + v[UNEVEN_TICKS]) - begin);
	omp_add_number(im, "reduction", v[UNEVEN_REDUCTION]);
}

static bool is_words(const struct ut_spool_rec *r)
{
	return r->type == UT_REC_META_NUM && ut_rec_low(r, 4) == __itt_metadata_u64;
}

static bool has_key(struct ut_spool_import *im, const struct ut_spool_rec *r, const char *key)
{
	return is_words(r) && ut_spool_string(&im->tables, ut_rec_high(r, 0)) == omp_text(im, key);
}

bool ut_spool_omp_meta(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	uint64_t v[LOOP_WORDS] = { 0 };

	if (has_key(im, r, "omp_metadata_loop") && read_commands(r, v, LOOP_WORDS) == LOOP_WORDS) {
		add_loop(im, v);
		return true;
	}
	if (has_key(im, r, "omp_metadata_imbalance") &&
	    read_commands(r, v, UNEVEN_WORDS) == UNEVEN_WORDS) {
		omp_add_number(im, "begin_ns", ut_spool_ns(&im->tables, v[UNEVEN_BEGIN]));
		omp_add_number(im, "end_ns", ut_spool_ns(&im->tables, v[UNEVEN_END]));
		add_imbalance(im, v);
		return true;
	}
	return false;
}

/* ---- onto the frames ----------------------------------------------------------------------- */

/* The first frame that begins after ns. */
static size_t after(const struct ut_spool_late *frames, size_t count, uint64_t ns)
{
	size_t lo = 0;

	while (lo < count) {
		size_t mid = lo + (count - lo) / 2;

		if (frames[mid].begin <= ns)
			lo = mid + 1;
		else
			count = mid;
	}
	return lo;
}

/* Regions come before their barriers: of two frames that fit, the first is the region. */
static struct ut_spool_late *find_exact(struct ut_spool_late *frames, size_t count, uint64_t begin,
					uint64_t end)
{
	struct ut_spool_late *found = NULL;

	for (size_t i = after(frames, count, begin); i && frames[i - 1].begin == begin; i--)
		if (frames[i - 1].end == end)
			found = &frames[i - 1];
	return found;
}

enum {
	SEARCH = 16
}; /* regions nest, but hardly deeper */

static struct ut_spool_late *find_context(struct ut_spool_import *im, struct ut_spool_late *frames,
					  size_t count, uint64_t ns)
{
	size_t i = after(frames, count, ns);

	for (size_t tries = 0; i && tries < SEARCH; i--, tries++)
		if (frames[i - 1].end >= ns &&
		    omp_contains(im, frames[i - 1].name, "$omp$parallel"))
			return &frames[i - 1];
	return NULL;
}

static bool has_arg(const struct ut_spool_late *late, uint32_t key)
{
	for (uint32_t i = 0; i < late->arg_count; i++)
		if (late->args[i].key == key)
			return true;
	return false;
}

static size_t open_args(struct ut_spool_import *im, const struct ut_spool_late *late)
{
	size_t mark = im->trace->arg_count;

	for (uint32_t i = 0; i < late->arg_count; i++)
		*ut_trace_add_arg(im->trace, 0, UT_ARG_END) = late->args[i];
	return mark;
}

static void hang_on(struct ut_spool_import *im, struct ut_spool_note *n,
		    struct ut_spool_late *frames, size_t count)
{
	struct ut_spool_late *late;
	uint64_t v[LOOP_WORDS] = { 0 };
	size_t mark;

	if (has_key(im, &n->rec, "omp_metadata_imbalance")) {
		read_commands(&n->rec, v, UNEVEN_WORDS);
		late = find_exact(frames, count, ut_spool_ns(&im->tables, v[UNEVEN_BEGIN]),
				  ut_spool_ns(&im->tables, v[UNEVEN_END]));
		if (!late || has_arg(late, omp_text(im, "imbalance_ns")))
			return;
		mark = open_args(im, late);
		add_imbalance(im, v);
	} else if (has_key(im, &n->rec, "omp_metadata_loop")) {
		read_commands(&n->rec, v, LOOP_WORDS);
		late = find_context(im, frames, count, ut_spool_ns(&im->tables, n->ticks));
		if (!late || has_arg(late, omp_text(im, "iterations")))
			return; /* a region of several loops: they stay moments of their own */
		mark = open_args(im, late);
		add_loop(im, v);
	} else {
		return;
	}
	ut_spool_keep_args(im, late, mark);
	n->used = true;
}

/*
 * A barrier's frame reaches back to the barrier before it, or to the begin of the region. For the
 * one that ends a region it is the region again, and would take all of the region's own time.
 */
static bool is_region_again(struct ut_spool_import *im, const struct ut_spool_late *frame,
			    const struct ut_spool_late *before)
{
	return frame->begin == before->begin && frame->end == before->end &&
	       omp_contains(im, frame->name, "$omp$barrier") &&
	       omp_contains(im, before->name, "$omp$parallel");
}

static size_t drop_repeats(struct ut_spool_import *im, size_t first, size_t count)
{
	struct ut_spool_late *frames = im->late.items + first;
	size_t kept = 1;

	for (size_t i = 1; i < count; i++)
		if (!is_region_again(im, &frames[i], &frames[kept - 1]))
			frames[kept++] = frames[i];
	memmove(frames + kept, frames + count, (im->late.count - first - count) * sizeof(*frames));
	im->late.count -= count - kept;
	return kept;
}

void ut_spool_omp_finalize(struct ut_spool_import *im)
{
	uint32_t lane = omp_text(im, "OpenMP");
	size_t first = 0, count = 0;

	while (first < im->late.count && im->late.items[first].lane != lane)
		first++;
	while (first + count < im->late.count && im->late.items[first + count].lane == lane)
		count++;
	if (!count)
		return;
	count = drop_repeats(im, first, count);
	for (size_t i = 0; i < im->metas.count; i++)
		hang_on(im, &im->metas.items[i], im->late.items + first, count);
}
