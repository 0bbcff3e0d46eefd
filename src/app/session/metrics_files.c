#include "session/metrics_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/path.h"
#include "import/spool/reader.h"
#include "metrics/metrics_stall_write.h"
#include "model/trace.h"
#include "session/outputs.h"
#include "text/file_text.h"
#include "text/out.h"
#include "unitrace/backend.h"
#include "wire/backend_options.h"
#include "wire/control.h"
#include "wire/disk.h"

#define MOST_MODULE (1u << 30) /* bytes of a module's code */

/* ---- files ----------------------------------------------------------------------------------- */

static struct ut_out *metrics_files_fail(struct ut_metrics_files *m, int rc)
{
	m->rc = m->rc ? m->rc : rc;
	return NULL;
}

/* Of a run with both, stalls have a file of their own: readers tell a file's form by its first
 * header. */
static const char *kind_word(const struct ut_metrics_files *m, enum ut_metrics_written kind)
{
	return m->both && kind == UT_METRICS_WROTE_STALLS ? "stalls" : "metrics";
}

static struct ut_out *metrics_files_open_file(void *ctx, int32_t device,
					      enum ut_metrics_written kind)
{
	struct ut_metrics_files *m = ctx;
	struct ut_outputs *o = m->outputs;
	bool own = o->opts->result_dir != NULL;
	const char *path;
	int rc;

	for (size_t i = 0; i < m->count; i++) {
		if ((!own || m->files[i].device == device) &&
		    (!m->both || m->files[i].kind == kind))
			return m->files[i].out;
	}
	rc = ut_output_metrics(&o->names, &m->who, kind_word(m, kind), device, &path, m->err);
	if (!rc)
		rc = ut_path_mkdirs(ut_path_dir(&o->arena, path), m->err);
	if (rc)
		return metrics_files_fail(m, rc);
	m->files = ut_grow(m->files, m->count + 1, &m->cap, sizeof(*m->files));
	m->files[m->count] = (struct ut_metrics_file_out){ .path = path,
							   .out = ut_outputs_open(o, path),
							   .device = own ? device : -1,
							   .kind = kind };
	return m->files[m->count++].out;
}

bool ut_metrics_files_open(struct ut_metrics_files *m, struct ut_outputs *o,
			   const struct ut_spool_info *info, struct ut_err *err)
{
	struct ut_control *control = ut_control_map(ut_path_dir(&o->arena, info->path));
	bool wanted = control && control->want & UT_WANT_METRICS;
	const char *idle = wanted ? ut_backend_option(control->options, "metrics.idle") : NULL;

	*m = (struct ut_metrics_files){ .outputs = o, .info = info, .err = err };
	m->who = (struct ut_output_who){ .app = info->name, .pid = info->pid, .rank = info->rank };
	m->both = wanted && control->want & UT_WANT_STALLS &&
		  control->want & (UT_WANT_QUERY | UT_WANT_SAMPLING);
	if (wanted)
		ut_metrics_write_init(
			&m->write, &(struct ut_metrics_write_opts){ .idle = idle != NULL,
								    .open = metrics_files_open_file,
								    .ctx = m });
	ut_control_close(control);
	return wanted;
}

/* ---- code ------------------------------------------------------------------------------------ */

/* Where the code goes, and where it comes from. */
struct modules {
	struct ut_metrics_files *m;
	const char *to, *from;
};

static int metrics_files_copy(struct modules *s, const char *file, int64_t *bytes)
{
	struct ut_outputs *o = s->m->outputs;
	struct ut_buf code = { 0 };
	struct ut_err ignored = { 0 };
	struct ut_out *out;
	int rc = ut_file_text(ut_path_join(&o->arena, s->from, file), MOST_MODULE, &code, &ignored);

	if (!rc) {
		out = ut_out_open(ut_path_join(&o->arena, s->to, file),
				  UT_OUT_OVERWRITE | UT_OUT_RENEW);
		ut_out_write(out, code.data, code.len);
		rc = ut_out_commit(out, s->m->err);
		if (rc)
			metrics_files_fail(s->m, rc);
	}
	*bytes = (int64_t)code.len;
	ut_buf_release(&code);
	return rc;
}

static int64_t keep_module(void *ctx, const char *file)
{
	int64_t bytes = 0;

	if (strchr(file, '/') || file[0] == '.')
		return -1; /* a damaged recording */
	return metrics_files_copy(ctx, file, &bytes) ? -1 : bytes;
}

static int write_stalls(struct ut_metrics_files *m, const struct ut_trace *trace, const char *path)
{
	struct ut_outputs *o = m->outputs;
	struct modules s = { .m = m };
	struct ut_out *out;
	int rc;

	if (m->rc)
		return m->rc;
	s.to = ut_output_modules(&o->arena, o->opts, path, kind_word(m, UT_METRICS_WROTE_STALLS));
	s.from = ut_str_fmt(&o->arena, "%s" UT_KEPT_SUFFIX, m->info->path);
	rc = ut_path_mkdirs(s.to, m->err);
	if (rc)
		return rc;
	out = ut_out_open(ut_path_join(&o->arena, s.to, "stalls.json"),
			  UT_OUT_OVERWRITE | UT_OUT_RENEW);
	ut_stall_table_json(m->write.stalls, trace, out, keep_module, &s);
	rc = ut_out_commit(out, m->err);
	return m->rc ? m->rc : rc;
}

/* ---- the end --------------------------------------------------------------------------------- */

const char *ut_metrics_files_said(enum ut_metrics_written kind)
{
	return kind == UT_METRICS_WROTE_QUERY ? "Kernel metrics are stored in"
					      : "Device metrics are stored in";
}

int ut_metrics_files_close(struct ut_metrics_files *m, const struct ut_trace *trace)
{
	struct ut_outputs *o = m->outputs;
	const char *stalls = NULL;
	int rc;

	ut_metrics_write_end(&m->write, trace);
	for (size_t i = 0; i < m->count; i++) {
		rc = ut_out_commit_as(m->files[i].out, &o->arena, &m->files[i].path, m->err);
		if (rc)
			metrics_files_fail(m, rc);
		else
			ut_outputs_measured(o, m->files[i].path,
					    ut_metrics_files_said(m->files[i].kind));
		if (!stalls && m->files[i].kind == UT_METRICS_WROTE_STALLS)
			stalls = m->files[i].path;
	}
	rc = stalls ? write_stalls(m, trace, stalls) : 0;
	ut_metrics_write_release(&m->write);
	free(m->files);
	m->files = NULL;
	return m->rc ? m->rc : rc;
}
