#include "export/perfetto_track.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "export/describe.h"
#include "export/pbuf.h"
#include "export/perfetto_json.h"
#include "export/perfetto_packet.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"
#include "model/trace.h"

#define MADE_UP (1 << 30) /* Linux gives out none from 2^22 on; still positive as an int32 */

static void perfetto_track_put_str(struct ut_pbuf *b, uint32_t field, const struct ut_trace *t,
				   uint32_t id)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	if (s.len)
		ut_pbuf_str(b, field, s.ptr, s.len);
}

/* An id as the number that the format wants; false if it is none, or out of the range. */
static bool perfetto_track_number_of(const struct ut_trace *t, uint64_t id, uint32_t text,
				     int64_t most, int64_t *number)
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

	return perfetto_track_number_of(t, process->pid, process->pid_text, INT32_MAX, &pid)
		       ? (int32_t)pid
		       : MADE_UP;
}

int64_t ut_perfetto_tid(const struct ut_trace *t, uint32_t track, int32_t pid)
{
	const struct ut_track *k = &t->tracks[track];
	int64_t tid;

	if (k->type != UT_TRACK_THREAD)
		return pid;
	return perfetto_track_number_of(t, k->id, k->id_text, INT64_MAX, &tid)
		       ? tid
		       : MADE_UP + (int64_t)track;
}

/* An id that could not be said otherwise: "NAME (ID)". */
static void perfetto_track_put_id(struct ut_buf *b, const struct ut_trace *t, uint64_t id,
				  uint32_t text)
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

/* What we add to a packet for ourselves; nothing if there is nothing to say. */
static size_t begin_ours(struct ut_pbuf *b)
{
	return ut_pbuf_begin(b, PACKET_OURS);
}

static void end_ours(struct ut_pbuf *b, size_t before, size_t mark)
{
	bool any = b->len > mark;

	ut_pbuf_end(b, mark);
	if (!any)
		b->len = before;
}

static void put_own_id(struct ut_pbuf *b, const struct ut_trace *t, uint64_t id, uint32_t text)
{
	if (text)
		perfetto_track_put_str(b, OURS_ID_TEXT, t, text);
	else
		ut_pbuf_varint(b, OURS_ID, id);
}

static bool is_process_labels(const struct ut_trace *t, const struct ut_arg *a)
{
	return a->type == UT_ARG_JSON &&
	       !strcmp(ut_strtab_get(&t->strings, a->key).ptr, "process_labels");
}

/* A fact of Chrome's, {"labels":"one,two"}; false if there is none. */
static bool find_labels(const struct ut_trace *t, const struct ut_process *process,
			struct ut_str *labels)
{
	static const char before[] = "{\"labels\":\"", after[] = "\"}";

	for (const struct ut_arg *a = &t->args[process->args]; a->type != UT_ARG_END; a++) {
		struct ut_str s = ut_strtab_get(&t->strings, a->value.str);

		if (!is_process_labels(t, a) || s.len < strlen(before) + strlen(after) ||
		    !ut_str_has_start(s, before))
			continue;
		labels->ptr = s.ptr + strlen(before) - 1; /* with its quotes */
		labels->len = s.len - strlen(before);
		return true;
	}
	return false;
}

static void perfetto_track_put_labels(struct ut_pbuf *b, const struct ut_trace *t,
				      const struct ut_process *process, struct ut_str labels)
{
	struct ut_buf text = { 0 };

	perfetto_track_put_str(b, PROCESS_LABELS, t, process->host);
	ut_perfetto_plain_text(&text, labels.ptr, labels.len);
	for (size_t i = 0, n; i < text.len; i += n + 1) {
		n = strcspn(text.data + i, ",");
		if (n)
			ut_pbuf_str(b, PROCESS_LABELS, text.data + i, n);
	}
	ut_buf_release(&text);
}

static void perfetto_track_put_text(struct ut_pbuf *b, uint32_t field, struct ut_str s)
{
	if (s.len)
		ut_pbuf_str(b, field, s.ptr, s.len);
}

static void perfetto_track_put_word(struct ut_pbuf *b, uint32_t field, const char *text)
{
	ut_pbuf_str(b, field, text, strlen(text));
}

/* What a process stands for, unless it is a program, as most are. */
static void put_kind(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_process *process)
{
	if (!ut_process_is_described(process))
		return;
	perfetto_track_put_word(b, OURS_KIND, ut_process_kind_name(process->kind));
	perfetto_track_put_text(b, OURS_API, ut_api_name(&t->strings, process->api));
	if (process->device >= 0)
		ut_pbuf_varint(b, OURS_DEVICE, (uint64_t)process->device);
	if (process->sub_device >= 0)
		ut_pbuf_varint(b, OURS_SUB_DEVICE, (uint64_t)process->sub_device);
	if (process->device_type != UT_DEVICE_TYPE_UNKNOWN)
		perfetto_track_put_word(b, OURS_DEVICE_TYPE,
					ut_device_type_name(process->device_type));
	perfetto_track_put_str(b, OURS_MODEL, t, process->model);
}

static void put_role(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_track *track)
{
	if (!ut_track_is_described(track))
		return;
	perfetto_track_put_word(b, OURS_ROLE, ut_role_name(track->role));
	if (track->role != UT_ROLE_CALLS)
		return;
	ut_pbuf_varint(b, OURS_THREAD, track->thread);
	perfetto_track_put_text(b, OURS_API, ut_api_name(&t->strings, track->api));
}

static void put_own_process(struct ut_pbuf *b, const struct ut_trace *t,
			    const struct ut_process *process, const struct ut_perfetto_place *place,
			    bool labels)
{
	struct ut_str host = ut_strtab_get(&t->strings, process->host);
	struct ut_str name = ut_strtab_get(&t->strings, process->name);
	size_t before = b->len, mark = begin_ours(b);
	int64_t pid;
	bool odd = !perfetto_track_number_of(t, process->pid, process->pid_text, INT32_MAX, &pid);

	if (odd || pid != place->pid)
		put_own_id(b, t, process->pid, process->pid_text);
	if (odd || process->rank >= 0)
		ut_pbuf_str(b, OURS_NAME, name.ptr, name.len);
	if (process->rank >= 0)
		ut_pbuf_varint(b, OURS_RANK, (uint64_t)process->rank);
	if (labels || memchr(host.ptr, ' ', host.len))
		ut_pbuf_str(b, OURS_HOST, host.ptr, host.len);
	put_kind(b, t, process);
	ut_perfetto_put_facts(b, OURS_FACTS, t, process->args);
	end_ours(b, before, mark);
}

void ut_perfetto_put_process(struct ut_pbuf *b, const struct ut_trace *t,
			     const struct ut_process *process,
			     const struct ut_perfetto_place *place)
{
	size_t descriptor = ut_pbuf_begin(b, PACKET_TRACK_DESCRIPTOR), mark;
	struct ut_str labels = { 0 };
	struct ut_buf title = { 0 };
	int64_t pid;

	ut_process_title(&title, t, process);
	if (!perfetto_track_number_of(t, process->pid, process->pid_text, INT32_MAX, &pid))
		perfetto_track_put_id(&title, t, process->pid, process->pid_text);
	ut_pbuf_varint(b, TRACK_UUID, place->uuid);
	ut_pbuf_varint(b, TRACK_CHILD_ORDERING, ORDER_EXPLICIT); /* else ranks mean nothing */
	mark = ut_pbuf_begin(b, TRACK_PROCESS);
	ut_pbuf_varint(b, PROCESS_PID, (uint64_t)(int64_t)place->pid);
	perfetto_track_put_str(b, PROCESS_CMDLINE, t, process->cmdline);
	if (process->sort_index)
		ut_pbuf_varint(b, PROCESS_SORT_INDEX, (uint64_t)(int64_t)process->sort_index);
	ut_pbuf_str(b, PROCESS_NAME, title.data, title.len);
	if (find_labels(t, process, &labels))
		perfetto_track_put_labels(b, t, process, labels);
	else
		perfetto_track_put_str(b, PROCESS_LABELS, t, process->host);
	ut_pbuf_end(b, mark);
	ut_pbuf_end(b, descriptor);
	put_own_process(b, t, process, place, labels.len);
	ut_buf_release(&title);
}

static void perfetto_track_put_thread(struct ut_pbuf *b, const struct ut_trace *t,
				      const struct ut_track *track,
				      const struct ut_perfetto_place *place)
{
	struct ut_str name = ut_strtab_get(&t->strings, track->name);
	size_t mark = ut_pbuf_begin(b, TRACK_THREAD);
	struct ut_buf title = { 0 };
	int64_t tid;

	ut_buf_add(&title, name.ptr, name.len);
	if (!perfetto_track_number_of(t, track->id, track->id_text, INT64_MAX, &tid))
		perfetto_track_put_id(&title, t, track->id, track->id_text);
	tid = ut_perfetto_tid(t, place->index, place->pid);
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
		perfetto_track_put_id(&title, t, track->id, track->id_text);
	ut_buf_text(&title, " (overlap)");
	ut_pbuf_str(b, TRACK_NAME, title.data, title.len);
	ut_buf_release(&title);
}

static void perfetto_track_put_counter(struct ut_pbuf *b, const struct ut_trace *t,
				       const struct ut_track *track)
{
	const char *unit = ut_strtab_get(&t->strings, track->unit).ptr;
	size_t mark = ut_pbuf_begin(b, TRACK_COUNTER);

	if (!strcmp(unit, "bytes"))
		ut_pbuf_varint(b, COUNTER_UNIT, UNIT_SIZE_BYTES);
	else if (!strcmp(unit, "ns"))
		ut_pbuf_varint(b, COUNTER_UNIT, UNIT_TIME_NS);
	else if (!strcmp(unit, "count"))
		ut_pbuf_varint(b, COUNTER_UNIT, UNIT_COUNT);
	else if (!track->base) /* else it is a series, and part of the name */
		perfetto_track_put_str(b, COUNTER_UNIT_NAME, t, track->unit);
	ut_pbuf_end(b, mark);
}

static void put_own_track(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_track *track,
			  uint64_t lane)
{
	struct ut_str name = ut_strtab_get(&t->strings, track->name);
	size_t before = b->len, mark = begin_ours(b);
	int64_t tid;

	if (track->type == UT_TRACK_THREAD &&
	    !perfetto_track_number_of(t, track->id, track->id_text, INT64_MAX, &tid)) {
		put_own_id(b, t, track->id, track->id_text);
		ut_pbuf_str(b, OURS_NAME, name.ptr, name.len);
	}
	if (track->type == UT_TRACK_LANE || track->type == UT_TRACK_ASYNC)
		ut_pbuf_varint(b, OURS_LANE, lane);
	if (track->type == UT_TRACK_ASYNC)
		ut_pbuf_varint(b, OURS_ASYNC, 1);
	if (track->type == UT_TRACK_COUNTER && (track->base || track->id_text)) {
		perfetto_track_put_str(b, OURS_BASE, t, track->base);
		perfetto_track_put_str(b, OURS_UNIT, t, track->unit);
		perfetto_track_put_str(b, OURS_ID_TEXT, t, track->id_text);
	}
	put_role(b, t, track);
	ut_perfetto_put_facts(b, OURS_FACTS, t, track->args);
	end_ours(b, before, mark);
}

static void put_descriptor(struct ut_pbuf *b, const struct ut_trace *t,
			   const struct ut_track *track, const struct ut_perfetto_place *place)
{
	ut_pbuf_varint(b, TRACK_UUID, place->uuid);
	ut_pbuf_varint(b, TRACK_PARENT, place->parent);
	if (place->overlap) {
		put_overlap(b, t, track);
		return;
	}
	if (track->type == UT_TRACK_THREAD)
		perfetto_track_put_thread(b, t, track, place);
	else
		perfetto_track_put_str(b, TRACK_NAME, t, track->name);
	if (track->type == UT_TRACK_COUNTER)
		perfetto_track_put_counter(b, t, track);
	if (track->sort_index)
		ut_pbuf_varint(b, TRACK_RANK, (uint64_t)(int64_t)track->sort_index);
}

void ut_perfetto_put_track(struct ut_pbuf *b, const struct ut_trace *t,
			   const struct ut_track *track, const struct ut_perfetto_place *place)
{
	size_t mark = ut_pbuf_begin(b, PACKET_TRACK_DESCRIPTOR);

	put_descriptor(b, t, track, place);
	ut_pbuf_end(b, mark);
	if (!place->overlap)
		put_own_track(b, t, track, place->first);
}
