#include "workbench/supervisor_state.h"

#include <unistd.h>

#include "base/str.h"
#include "text/json_write.h"
#include "workbench/folder.h"

void ut_supervisor_state_write(int at, const struct ut_supervisor_state *s)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };

	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "state", ut_result_state_word(s->state));
	ut_write_i64(&w, "supervisor", getpid());
	ut_write_double(&w, "started", s->started);
	if (s->ended > 0)
		ut_write_double(&w, "seconds", s->ended - s->started);
	if (s->status >= 0)
		ut_write_i64(&w, "status", s->status);
	if (s->trouble[0])
		ut_write_text(&w, "trouble", s->trouble);
	if (s->is_killed)
		ut_write_flag(&w, "cancelled", true);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	if (ut_folder_write(at, UT_STATE_FILE, (struct ut_str){ text.data, text.len }, NULL))
		text.len = 0;
	ut_buf_release(&text);
}
