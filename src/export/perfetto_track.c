#include "export/perfetto_track.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "export/describe.h"
#include "export/pbuf.h"
#include "export/perfetto_json.h"
#include "model/perfetto_fields.h"
#include "model/trace.h"

#define MADE_UP (1 << 30) /* Linux gives out none from 2^22 on; still positive as an int32 */

static void put_str(struct ut_pbuf *b, uint32_t field, const struct ut_trace *t, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	if (s.len)
		ut_pbuf_str(b, field, s.ptr, s.len);
}

/* An id as the number that the format wants; false if it is none, or out of the range. */
static bool number_of(const struct ut_trace *t, uint64_t id, uint32_t text, int64_t most,
		      int64_t *number)
{
	char *end;

	*number = (int64_t)id;
	if (!text)
		return id <= (uint64_t)most;
	errno = 0;
	*number = strtoll(ut_strtab_get(&t->strings, text).ptr, &end, 10);
	return !errno && !*end && *number >= -most && *number <= most;
}

int32_t ut_perfetto_pid(const struct ut_trace *t, const struct ut_process *process)
{
	int64_t pid;

	return number_of(t, process->pid, process->pid_text, INT32_MAX, &pid) ? (int32_t)pid
									      : MADE_UP;
}

/* An id that could not be said otherwise: "NAME (ID)". */
static void put_id(struct ut_buf *b, const struct ut_trace *t, uint64_t id, uint32_t text)
{
	struct ut_str s = ut_strtab_get(&t->strings, text);
	const char *after = b->len ? ")" : "";

	if (b->len)
		ut_buf_text(b, " (");
	if (text)
		ut_perfetto_plain_text(b, s.ptr, s.len);
	else
		ut_buf_fmt(b, "%" PRIu64, id);
	ut_buf_text(b, after);
}

void ut_perfetto_put_process(struct ut_pbuf *b, const struct ut_trace *t,
			     const struct ut_process *process,
			     const struct ut_perfetto_place *place)
{
	struct ut_buf title = { 0 };
	int64_t pid;
	size_t mark;

	ut_process_title(&title, t, process);
	if (!number_of(t, process->pid, process->pid_text, INT32_MAX, &pid))
		put_id(&title, t, process->pid, process->pid_text);
	ut_pbuf_varint(b, TRACK_UUID, place->uuid);
	mark = ut_pbuf_begin(b, TRACK_PROCESS);
	ut_pbuf_varint(b, PROCESS_PID, (uint64_t)(int64_t)place->pid);
	put_str(b, PROCESS_CMDLINE, t, process->cmdline);
	ut_pbuf_str(b, PROCESS_NAME, title.data, title.len);
	put_str(b, PROCESS_LABELS, t, process->host);
	ut_pbuf_end(b, mark);
	ut_buf_release(&title);
}

static void put_thread(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_track *track,
		       const struct ut_perfetto_place *place)
{
	struct ut_str name = ut_strtab_get(&t->strings, track->name);
	size_t mark = ut_pbuf_begin(b, TRACK_THREAD);
	struct ut_buf title = { 0 };
	int64_t tid;

	ut_buf_add(&title, name.ptr, name.len);
	if (!number_of(t, track->id, track->id_text, INT64_MAX, &tid)) {
		put_id(&title, t, track->id, track->id_text);
		tid = MADE_UP + (int64_t)place->index;
	}
	ut_pbuf_varint(b, THREAD_PID, (uint64_t)(int64_t)place->pid);
	ut_pbuf_varint(b, THREAD_TID, (uint64_t)tid);
	if (title.len)
		ut_pbuf_str(b, THREAD_NAME, title.data, title.len);
	ut_pbuf_end(b, mark);
	ut_buf_release(&title);
}

/* A row below a track, for what does not nest on it. */
static void put_overlap(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_track *track)
{
	struct ut_str name = ut_strtab_get(&t->strings, track->name);
	struct ut_buf title = { 0 };

	if (name.len)
		ut_buf_add(&title, name.ptr, name.len);
	else
		put_id(&title, t, track->id, track->id_text);
	ut_buf_text(&title, " (overlap)");
	ut_pbuf_str(b, TRACK_NAME, title.data, title.len);
	ut_buf_release(&title);
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
	if (place->overlap) {
		put_overlap(b, t, track);
		return;
	}
	if (track->type == UT_TRACK_THREAD)
		put_thread(b, t, track, place);
	else
		put_str(b, TRACK_NAME, t, track->name);
	if (track->type == UT_TRACK_COUNTER)
		put_counter(b, t, track);
	if (track->sort_index)
		ut_pbuf_varint(b, TRACK_RANK, (uint64_t)(int64_t)track->sort_index);
}
