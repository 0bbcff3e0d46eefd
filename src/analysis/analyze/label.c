#include "analyze/label.h"

#include <inttypes.h>

#include "base/str.h"
#include "model/trace.h"

void ut_label_id(struct ut_buf *b, const struct ut_trace *t, uint64_t id, uint32_t id_text)
{
	struct ut_str s = ut_strtab_get(&t->strings, id_text);

	if (!s.len)
		ut_buf_fmt(b, "%" PRIu64, id);
	else if (s.len > 1 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"')
		ut_buf_add(b, s.ptr + 1, s.len - 2);
	else
		ut_buf_add(b, s.ptr, s.len);
}

void ut_label_track(struct ut_buf *b, const struct ut_trace *t, uint32_t track)
{
	static const char *const types[] = { "thread ", "lane ", "async ", "counter " };
	const struct ut_track *k = &t->tracks[track];
	struct ut_str name = ut_strtab_get(&t->strings, k->name);

	if (!name.len) {
		ut_buf_text(b, types[k->type]);
		ut_label_id(b, t, k->id, k->id_text);
		return;
	}
	ut_buf_add(b, name.ptr, name.len);
	if (k->type == UT_TRACK_THREAD) {
		ut_buf_text(b, " (");
		ut_label_id(b, t, k->id, k->id_text);
		ut_buf_text(b, ")");
	}
}

void ut_label_process(struct ut_buf *b, const struct ut_trace *t, uint32_t process)
{
	const struct ut_process *p = &t->processes[process];
	struct ut_str name = ut_strtab_get(&t->strings, ut_process_shown_name(p));

	if (p->rank >= 0)
		ut_buf_fmt(b, "RANK %" PRId32 " ", p->rank);
	if (!name.len)
		ut_buf_text(b, "pid ");
	ut_buf_add(b, name.ptr, name.len);
	ut_buf_text(b, name.len ? " (" : "");
	ut_label_id(b, t, p->pid, p->pid_text);
	ut_buf_text(b, name.len ? ")" : "");
}
