#include "import/perfetto/tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/perfetto/shared.h"
#include "model/perfetto_fields.h"
#include "text/json_text.h"

#define MOST_OUTER 16 /* tracks around a track that its name tells */
#define MOST_STEPS 64 /* from parent to parent; more is a circle */

enum process_tree {
	TREE_PROCESSES = 1,
	TREE_THREADS = 2,
	TREE_PID = 1,     /* of a Process */
	TREE_CMDLINE = 3, /* of a Process */
	TREE_TID = 1,     /* of a Thread */
	TREE_NAME = 2,    /* of a Thread */
	TREE_TGID = 3,    /* of a Thread */
};

static uint32_t tracks_add(struct ut_pf *p, struct ut_pf_track track)
{
	struct ut_pf_tracks *t = &p->tracks;

	t->items = ut_grow(t->items, t->count + 1, &t->cap, sizeof(*t->items));
	t->items[t->count] = track;
	t->items[t->count].multiplier = 1;
	return (uint32_t)t->count++;
}

uint32_t ut_pf_track(struct ut_pf *p, uint64_t uuid)
{
	uint32_t at = p->tracks.last;

	if (at && uuid == p->tracks.last_uuid)
		return at - 1;
	at = ut_idmap_get(&p->tracks.by_uuid, uuid);
	if (!at) {
		at = tracks_add(p, (struct ut_pf_track){ .uuid = uuid }) + 1;
		ut_idmap_put(&p->tracks.by_uuid, uuid, at);
	}
	p->tracks.last = at;
	p->tracks.last_uuid = uuid;
	return at - 1;
}

/* An id as the model wants it: text if it is no uint64_t. */
static uint32_t id_text(struct ut_pf *p, int64_t id)
{
	char text[24];

	if (id >= 0)
		return 0;
	snprintf(text, sizeof(text), "%" PRId64, id);
	return ut_strtab_intern_z(&ut_pf_trace(p)->strings, text);
}

uint32_t ut_pf_process(struct ut_pf *p, int64_t pid)
{
	struct ut_trace *t = ut_pf_trace(p);
	uint32_t at = ut_idmap_get(&p->tracks.by_pid, (uint64_t)pid);

	if (!at) {
		at = ut_trace_add_process(t, 0) + 1;
		t->processes[at - 1].pid = pid < 0 ? 0 : (uint64_t)pid;
		t->processes[at - 1].pid_text = id_text(p, pid);
		ut_idmap_put(&p->tracks.by_pid, (uint64_t)pid, at);
	}
	return at - 1;
}

uint32_t ut_pf_home(struct ut_pf *p)
{
	struct ut_trace *t = ut_pf_trace(p);

	if (!p->tracks.home) {
		p->tracks.home = ut_pf_process(p, 0) + 1;
		if (!t->processes[p->tracks.home - 1].name)
			t->processes[p->tracks.home - 1].name =
				ut_strtab_intern_z(&t->strings, "global");
	}
	return p->tracks.home - 1;
}

uint32_t ut_pf_thread(struct ut_pf *p, uint32_t process, int64_t tid)
{
	struct ut_trace *t = ut_pf_trace(p);
	uint64_t key = (uint64_t)tid + process * 0xd6e8feb86659fd93u;
	uint32_t at = ut_idmap_get(&p->tracks.by_thread, key), model;

	if (at)
		return at - 1;
	model = ut_trace_add_track(t, process, UT_TRACK_THREAD);
	t->tracks[model].id = tid < 0 ? 0 : (uint64_t)tid;
	t->tracks[model].id_text = id_text(p, tid);
	at = tracks_add(p, (struct ut_pf_track){ .kind = UT_PF_THREAD,
						 .process = process + 1,
						 .model = model + 1 }) +
	     1;
	ut_idmap_put(&p->tracks.by_thread, key, at);
	ut_idmap_put(&p->tracks.by_tid, (uint64_t)tid, at);
	return at - 1;
}

uint32_t ut_pf_lane(struct ut_pf *p, uint64_t id, uint32_t process, uint32_t name)
{
	uint32_t at = ut_idmap_get(&p->tracks.by_id, id);

	if (!at) {
		at = tracks_add(p, (struct ut_pf_track){ .kind = UT_PF_LANE,
							 .process = process + 1,
							 .name = name }) +
		     1;
		ut_idmap_put(&p->tracks.by_id, id, at);
	}
	return at - 1;
}

void ut_pf_name_thread(struct ut_pf *p, uint32_t track, uint32_t name)
{
	if (name)
		ut_pf_trace(p)->tracks[ut_pf_at(p, track)->model - 1].name = name;
}

/* ---- what a track belongs to --------------------------------------------------------------- */

/* The track around a track; false if there is none. */
static bool step_out(const struct ut_pf *p, uint32_t *track)
{
	const struct ut_pf_track *t = &p->tracks.items[*track];
	uint32_t at = t->parent ? ut_idmap_get(&p->tracks.by_uuid, t->parent) : 0;

	if (at)
		*track = at - 1;
	return at != 0;
}

uint32_t ut_pf_process_of(struct ut_pf *p, uint32_t track)
{
	for (int steps = 0; steps < MOST_STEPS; steps++) {
		if (ut_pf_at(p, track)->process)
			return ut_pf_at(p, track)->process - 1;
		if (!step_out(p, &track))
			break;
	}
	return ut_pf_home(p);
}

static void tracks_put_name(struct ut_pf *p, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&ut_pf_trace(p)->strings, id);

	if (p->text.len)
		ut_buf_text(&p->text, " / ");
	ut_buf_add(&p->text, s.ptr, s.len);
}

static void tracks_put_thread(struct ut_pf *p, const struct ut_pf_track *t)
{
	const struct ut_track *model = &ut_pf_trace(p)->tracks[t->model - 1];

	if (model->name)
		tracks_put_name(p, model->name);
	else if (model->id_text)
		tracks_put_name(p, model->id_text);
	else
		ut_buf_fmt(&p->text, "%" PRIu64, model->id);
}

uint32_t ut_pf_full_name(struct ut_pf *p, uint32_t track, uint32_t own)
{
	uint32_t outer[MOST_OUTER];
	size_t count = 0;
	bool any = false;

	while (count < MOST_OUTER && step_out(p, &track)) {
		const struct ut_pf_track *t = ut_pf_at(p, track);

		if (t->kind == UT_PF_PROCESS)
			break;
		outer[count++] = track;
		any |= t->name || t->kind == UT_PF_THREAD;
		if (t->kind == UT_PF_THREAD)
			break;
	}
	if (!any)
		return own;
	p->text.len = 0;
	while (count) {
		const struct ut_pf_track *t = ut_pf_at(p, outer[--count]);

		if (t->kind == UT_PF_THREAD)
			tracks_put_thread(p, t);
		else if (t->name)
			tracks_put_name(p, t->name);
	}
	if (own)
		tracks_put_name(p, own);
	return ut_strtab_intern(&ut_pf_trace(p)->strings, p->text.data, p->text.len);
}

/* ---- descriptors --------------------------------------------------------------------------- */

/* "RANK 3 solver", as our exporter writes it, is rank 3 of a parallel job. */
static void take_process_name(struct ut_pf *p, struct ut_process *process, uint32_t id)
{
	struct ut_trace *t = ut_pf_trace(p);
	struct ut_str s = ut_strtab_get(&t->strings, id);
	int rank = -1, used = 0;

	process->name = id;
	if (s.len > 5 && s.len < 4096 && sscanf(s.ptr, "RANK %9d %n", &rank, &used) == 1 &&
	    used > 0 && rank >= 0 && s.ptr[used - 1] == ' ') {
		process->rank = rank;
		process->name = ut_strtab_intern(&t->strings, s.ptr + used, s.len - (size_t)used);
	}
}

/* A process without a name is called as its program. */
static uint32_t program_name(struct ut_pf *p, uint32_t cmdline)
{
	struct ut_str s = ut_strtab_get(&ut_pf_trace(p)->strings, cmdline);
	size_t len = strcspn(s.ptr, " "), start = len;

	while (start && s.ptr[start - 1] != '/')
		start--;
	return ut_strtab_intern(&ut_pf_trace(p)->strings, s.ptr + start, len - start);
}

static void tracks_add_word(struct ut_buf *b, const struct ut_pb_field *f)
{
	if (f->wire != UT_PB_BYTES)
		return;
	if (b->len)
		ut_buf_char(b, ' ');
	ut_buf_add(b, (const char *)f->data, f->value);
}

static void take_cmdline(struct ut_pf *p, struct ut_process *process)
{
	if (!p->text.len)
		return;
	process->cmdline = ut_strtab_intern(&ut_pf_trace(p)->strings, p->text.data, p->text.len);
	if (!process->name)
		process->name = program_name(p, process->cmdline);
}

/* Our exporter tells the host as a label; Chrome labels processes with titles of pages. */
static bool is_host(const struct ut_pb_field *f)
{
	return f->wire == UT_PB_BYTES && f->value && !memchr(f->data, ' ', f->value);
}

/* Labels of other tools, as Chrome's JSON has them: process_labels is {"labels":"one,two"}. */
static void keep_labels(struct ut_pf *p, uint32_t process, struct ut_pb m)
{
	struct ut_trace *t = ut_pf_trace(p);
	struct ut_buf all = { 0 };
	struct ut_pb_field f;
	struct ut_arg *arg;

	while (ut_pb_next(&m, &f)) {
		if (f.number != PROCESS_LABELS || f.wire != UT_PB_BYTES)
			continue;
		ut_buf_text(&all, all.len ? "," : "");
		ut_buf_add(&all, (const char *)f.data, f.value);
	}
	p->text.len = 0;
	ut_buf_text(&p->text, "{\"labels\":");
	ut_json_text_str(&p->text, all.len ? all.data : "", all.len);
	ut_buf_char(&p->text, '}');
	ut_buf_release(&all);
	t->processes[process].args = (uint32_t)t->arg_count;
	arg = ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, "process_labels"), UT_ARG_JSON);
	arg->value.str = ut_strtab_intern(&t->strings, p->text.data, p->text.len);
	ut_trace_close_args(t);
}

uint32_t ut_pf_describe_process(struct ut_pf *p, struct ut_pb m)
{
	struct ut_trace *t = ut_pf_trace(p);
	uint32_t name = 0, host = 0, index;
	struct ut_pb rest = m;
	struct ut_pb_field f;
	int64_t pid = 0;
	int32_t sort_index = 0;
	size_t labels = 0;

	p->text.len = 0;
	while (ut_pb_next(&rest, &f)) {
		if (f.number == PROCESS_PID)
			pid = (int32_t)f.value;
		else if (f.number == PROCESS_NAME)
			name = ut_pf_string(p, &f);
		else if (f.number == PROCESS_SORT_INDEX)
			sort_index = (int32_t)f.value;
		else if (f.number == PROCESS_CMDLINE)
			tracks_add_word(&p->text, &f);
		else if (f.number == PROCESS_LABELS && !labels++ && is_host(&f))
			host = ut_pf_string(p, &f);
	}
	index = ut_pf_process(p, pid);
	if (sort_index)
		t->processes[index].sort_index = sort_index;
	if (name)
		take_process_name(p, &t->processes[index], name);
	take_cmdline(p, &t->processes[index]);
	if (host && labels == 1)
		t->processes[index].host = host;
	else if (labels)
		keep_labels(p, index, m);
	return index;
}

struct thread {
	bool has_pid;
	int64_t pid, tid;
	uint32_t name;
	uint64_t reference_us;
};

static struct thread read_thread(struct ut_pf *p, struct ut_pb m)
{
	struct thread t = { 0 };
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		if (f.number == THREAD_PID) {
			t.pid = (int32_t)f.value;
			t.has_pid = true;
		} else if (f.number == THREAD_TID) {
			t.tid = (int64_t)f.value;
		} else if (f.number == THREAD_NAME) {
			t.name = ut_pf_string(p, &f);
		} else if (f.number == THREAD_REFERENCE_US) {
			t.reference_us = f.value;
		}
	}
	return t;
}

static void describe_thread(struct ut_pf *p, uint32_t track, struct ut_pb m, uint32_t name)
{
	struct thread t = read_thread(p, m);
	uint32_t process = t.has_pid ? ut_pf_process(p, t.pid) : ut_pf_process_of(p, track);
	uint32_t thread = ut_pf_thread(p, process, t.tid);
	struct ut_pf_track *to = ut_pf_at(p, track);

	to->kind = UT_PF_THREAD;
	to->model = ut_pf_at(p, thread)->model;
	to->process = process + 1;
	ut_pf_name_thread(p, track, t.name ? t.name : name);
	if (to->rank)
		ut_pf_trace(p)->tracks[to->model - 1].sort_index = to->rank;
}

static void describe_counter(struct ut_pf *p, struct ut_pf_track *t, struct ut_pb m)
{
	static const char *const names[] = { NULL, "thread_time", "thread_instruction_count" };
	static const char *const units[] = { NULL, "ns", "count", "bytes" };
	struct ut_strtab *strings = &ut_pf_trace(p)->strings;
	const char *name = NULL, *unit = NULL;
	struct ut_pb_field f;

	t->kind = UT_PF_COUNTER;
	while (ut_pb_next(&m, &f)) {
		if (f.number == COUNTER_TYPE && (f.value == 1 || f.value == 2)) {
			name = names[f.value];
			unit = units[f.value];
		} else if (f.number == COUNTER_UNIT && f.value < 4) {
			unit = units[f.value];
		} else if (f.number == COUNTER_UNIT_NAME) {
			t->unit = ut_pf_string(p, &f);
		} else if (f.number == COUNTER_MULTIPLIER && f.value) {
			t->multiplier = (int64_t)f.value;
		} else if (f.number == COUNTER_INCREMENTAL) {
			t->incremental = f.value != 0;
		}
	}
	if (unit)
		t->unit = ut_strtab_intern_z(strings, unit);
	if (name && !t->name)
		t->name = ut_strtab_intern_z(strings, name);
}

uint32_t ut_pf_describe(struct ut_pf *p, struct ut_pb descriptor)
{
	struct ut_pb process = { 0 }, thread = { 0 }, counter = { 0 };
	struct ut_pf_track new = { 0 }, *t;
	struct ut_pb_field f;
	uint32_t track;

	while (ut_pb_next(&descriptor, &f)) {
		if (f.number == TRACK_UUID)
			new.uuid = f.value;
		else if (f.number == TRACK_PARENT)
			new.parent = f.value;
		else if (f.number == TRACK_NAME || f.number == TRACK_STATIC_NAME ||
			 f.number == TRACK_ATRACE_NAME)
			new.name = ut_pf_string(p, &f);
		else if (f.number == TRACK_RANK)
			new.rank = (int32_t)f.value;
		else if (f.number == TRACK_PROCESS)
			process = ut_pb_inside(&f);
		else if (f.number == TRACK_THREAD)
			thread = ut_pb_inside(&f);
		else if (f.number == TRACK_COUNTER)
			counter = ut_pb_inside(&f);
	}
	track = ut_pf_track(p, new.uuid);
	t = ut_pf_at(p, track);
	t->parent = new.parent &&new.parent != new.uuid ? new.parent : t->parent;
	t->name = new.name ? new.name : t->name;
	t->rank = new.rank ? new.rank : t->rank;
	if (thread.at) {
		describe_thread(p, track, thread, new.name);
	} else if (process.at) {
		t->process = ut_pf_describe_process(p, process) + 1;
		t->kind = UT_PF_PROCESS;
	} else if (counter.at) {
		describe_counter(p, t, counter);
	} else if (t->kind == UT_PF_UNKNOWN && t->uuid) {
		t->kind = UT_PF_LANE;
	}
	return track;
}

void ut_pf_describe_of_old(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pb thread)
{
	struct thread t = read_thread(p, thread);
	uint32_t track = ut_pf_thread(p, ut_pf_process(p, t.pid), t.tid);

	ut_pf_name_thread(p, track, t.name);
	s->thread = track + 1;
	s->reference_us = t.reference_us;
}

/* ---- the process tree ---------------------------------------------------------------------- */

static void tree_process(struct ut_pf *p, struct ut_pb m)
{
	struct ut_pb_field f;
	uint32_t process;
	int64_t pid = 0;

	p->text.len = 0;
	while (ut_pb_next(&m, &f)) {
		if (f.number == TREE_PID)
			pid = (int32_t)f.value;
		else if (f.number == TREE_CMDLINE)
			tracks_add_word(&p->text, &f);
	}
	process = ut_pf_process(p, pid);
	take_cmdline(p, &ut_pf_trace(p)->processes[process]);
}

static void tree_thread(struct ut_pf *p, struct ut_pb m)
{
	struct ut_pb_field f;
	int64_t tid = 0, pid = -1;
	uint32_t name = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == TREE_TID)
			tid = (int32_t)f.value;
		else if (f.number == TREE_TGID)
			pid = (int32_t)f.value;
		else if (f.number == TREE_NAME)
			name = ut_pf_string(p, &f);
	}
	if (pid >= 0)
		ut_pf_name_thread(p, ut_pf_thread(p, ut_pf_process(p, pid), tid), name);
}

void ut_pf_process_tree(struct ut_pf *p, struct ut_pb tree)
{
	struct ut_pb_field f;

	while (ut_pb_next(&tree, &f)) {
		if (f.number == TREE_PROCESSES)
			tree_process(p, ut_pb_inside(&f));
		else if (f.number == TREE_THREADS)
			tree_thread(p, ut_pb_inside(&f));
	}
}

void ut_pf_tracks_release(struct ut_pf_tracks *t)
{
	free(t->items);
	ut_idmap_release(&t->by_uuid);
	ut_idmap_release(&t->by_pid);
	ut_idmap_release(&t->by_thread);
	ut_idmap_release(&t->by_tid);
	ut_idmap_release(&t->by_id);
	*t = (struct ut_pf_tracks){ 0 };
}
