#include "export/perfetto_track.h"

#include <string.h>

#include "base/str.h"
#include "export/describe.h"
#include "export/pbuf.h"
#include "export/perfetto_fields.h"
#include "model/trace.h"

static void put_str(struct ut_pbuf *b, uint32_t field, const struct ut_trace *t, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	if (s.len)
		ut_pbuf_str(b, field, s.ptr, s.len);
}

void ut_perfetto_put_process(struct ut_pbuf *b, const struct ut_trace *t,
			     const struct ut_process *process,
			     const struct ut_perfetto_place *place)
{
	struct ut_buf title = { 0 };
	size_t mark;

	ut_process_title(&title, t, process);
	ut_pbuf_varint(b, TRACK_UUID, place->uuid);
	mark = ut_pbuf_begin(b, TRACK_PROCESS);
	ut_pbuf_varint(b, PROCESS_PID, place->pid);
	put_str(b, PROCESS_CMDLINE, t, process->cmdline);
	ut_pbuf_str(b, PROCESS_NAME, title.data, title.len);
	put_str(b, PROCESS_LABELS, t, process->host);
	ut_pbuf_end(b, mark);
	ut_buf_release(&title);
}

static void put_thread(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_track *track,
		       uint32_t pid)
{
	size_t mark = ut_pbuf_begin(b, TRACK_THREAD);

	ut_pbuf_varint(b, THREAD_PID, pid);
	ut_pbuf_varint(b, THREAD_TID, track->id);
	put_str(b, THREAD_NAME, t, track->name);
	ut_pbuf_end(b, mark);
}

static void put_counter(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_track *track)
{
	const char *unit = ut_strtab_get(&t->strings, track->unit).ptr;
	size_t mark = ut_pbuf_begin(b, TRACK_COUNTER);

	if (!strcmp(unit, "bytes"))
		ut_pbuf_varint(b, COUNTER_UNIT, UNIT_SIZE_BYTES);
	else if (!strcmp(unit, "ns"))
		ut_pbuf_varint(b, COUNTER_UNIT, UNIT_TIME_NS);
	else if (!strcmp(unit, "count"))
		ut_pbuf_varint(b, COUNTER_UNIT, UNIT_COUNT);
	else
		put_str(b, COUNTER_UNIT_NAME, t, track->unit);
	ut_pbuf_end(b, mark);
}

void ut_perfetto_put_track(struct ut_pbuf *b, const struct ut_trace *t,
			   const struct ut_track *track, const struct ut_perfetto_place *place)
{
	ut_pbuf_varint(b, TRACK_UUID, place->uuid);
	ut_pbuf_varint(b, TRACK_PARENT, place->parent);
	if (track->type == UT_TRACK_THREAD && !place->further)
		put_thread(b, t, track, place->pid);
	else
		put_str(b, TRACK_NAME, t, track->name);
	if (track->type == UT_TRACK_COUNTER && !place->further)
		put_counter(b, t, track);
	if (track->sort_index)
		ut_pbuf_varint(b, TRACK_RANK, (uint64_t)(int64_t)track->sort_index);
}
