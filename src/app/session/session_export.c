#include "session/session_export.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/path.h"
#include "import/inputs.h"
#include "import/spool/reader.h"
#include "session/output_check.h"
#include "session/outputs.h"
#include "session/reserve.h"
#include "session/spools.h"
#include "text/replaced.h"
#include "wire/control.h"

static const struct ut_output_who nobody = { .app = "unitrace", .rank = -1 };

static int refuse_alive(const struct ut_spools *s, struct ut_err *err)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].alive)
			return ut_err_set(err, -EBUSY,
					  "%s: process %u is still recording; wait for its end or "
					  "export what is there with --live",
					  s->items[i].path, s->items[i].pid);
	}
	return 0;
}

static int remove_inputs(const struct ut_export_plan *p, struct ut_err *err)
{
	for (int i = 0; i < p->count; i++) {
		int rc = ut_path_remove_tree(p->inputs[i], err);

		if (rc)
			return rc;
	}
	return 0;
}

/* A session directory or a spool file: what a collector of ours has written. */
static bool is_recording(const char *path)
{
	struct ut_spool_info *info;
	struct ut_arena arena = { 0 };
	struct stat st;
	bool yes = false;

	if (ut_path_is_dir(path)) {
		yes = ut_path_exists(ut_path_join(&arena, path, UT_CONTROL_FILE));
	} else if (!stat(path, &st) && S_ISREG(st.st_mode)) { /* a pipe can be read only once */
		info = UT_NEW(&arena, struct ut_spool_info);
		yes = !ut_spool_info(path, info, NULL);
	}
	ut_arena_release(&arena);
	return yes;
}

static bool all_recordings(const struct ut_export_plan *p)
{
	for (int i = 0; i < p->count; i++) {
		if (!is_recording(p->inputs[i]))
			return false;
	}
	return true;
}

/* Traces of any format, ours among them. */
static int convert(const struct ut_export_plan *p, struct ut_session_client *client,
		   struct ut_err *err)
{
	const struct ut_logger logger = ut_session_logger(client);
	struct ut_inputs in;
	struct ut_outputs out;
	int rc = ut_inputs_find(&in, p->count, p->inputs, &logger, err);

	if (!rc && p->remove)
		rc = ut_err_set(err, -EINVAL, "--remove is for recordings; %s is none",
				p->inputs[0]);
	if (!rc)
		rc = ut_replaced_check(p->out.output, in.paths, in.count, err);
	if (!rc) {
		ut_outputs_init(&out, &p->out, false, client);
		rc = ut_outputs_convert(&out, &in, err);
		if (!rc)
			rc = ut_outputs_finish(&out, &nobody, err);
		ut_outputs_release(&out);
	}
	ut_inputs_release(&in);
	return rc;
}

/* Recordings stream past, whatever their size. */
static int export(const struct ut_export_plan *p, const struct ut_session_client *client,
		  struct ut_err *err)
{
	struct ut_spools spools = { 0 };
	struct ut_outputs out;
	int rc, finish_rc;

	rc = ut_spools_open(&spools, p->count, p->inputs, err);
	if (!rc && !spools.count)
		rc = ut_err_set(err, -ENODATA, "%s: no process has recorded anything there",
				p->inputs[0]);
	if (!rc && !p->live)
		rc = refuse_alive(&spools, err);
	if (!rc) {
		ut_outputs_init(&out, &p->out, false, client);
		rc = ut_outputs_export(&out, spools.items, spools.count, err);
		finish_rc = ut_outputs_finish(&out, &nobody, err);
		rc = rc ? rc : finish_rc;
		ut_outputs_report_results(&out, -1);
		ut_outputs_release(&out);
	}
	if (!rc && p->remove)
		rc = remove_inputs(p, err);
	ut_spools_close(&spools);
	return rc;
}

int ut_session_export_check(const struct ut_export_plan *p, const struct ut_session_client *client,
			    struct ut_err *err)
{
	return p->out.output || p->out.dir ? ut_output_check(&p->out, &nobody, client, err) : 0;
}

int ut_session_export(const struct ut_export_plan *p, const struct ut_session_client *client,
		      struct ut_err *err)
{
	struct ut_session_client own = client ? *client : (struct ut_session_client){ 0 };
	const char *dir = p->out.dir ? p->out.dir : ".";
	struct ut_arena arena = { 0 };

	if (p->out.output)
		dir = ut_path_dir(&arena, ut_path_join(&arena, p->out.dir, p->out.output));
	if (!p->out.output || strcmp(p->out.output, "-") != 0)
		ut_reserve_results(&p->reserve, dir, &own);
	ut_arena_release(&arena);
	return all_recordings(p) ? export(p, &own, err) : convert(p, &own, err);
}
