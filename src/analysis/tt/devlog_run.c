#include "tt/devlog_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "export/exporter.h"
#include "model/store.h"
#include "model/trace.h"
#include "report/one_page.h"
#include "text/out.h"
#include "text/source.h"
#include "text/table_report.h"
#include "text/tar.h"
#include "tt/devlog_page.h"
#include "tt/kernels.h"
#include "tt/log_trace.h"
#include "tt/read_log.h"
#include "tt/write_devlog.h"
#include "view/view.h"

/* ---- reading ------------------------------------------------------------------------------- */

static void report_doubts(const struct ut_tt_log *log, const char *path,
			  const struct ut_logger *logger)
{
	const struct ut_tt_doubts *d = &log->doubts;

	if (log->arch_guessed)
		ut_logger_log(logger, UT_WARN,
			      "%s: no line about the chip: taken as %s at %" PRIu64
			      " MHz; --arch and --frequency say otherwise",
			      path, log->arch, log->mhz);
	else if (log->mhz_guessed)
		ut_logger_log(
			logger, UT_WARN,
			"%s: the line about the chip does not tell its frequency: taken as %" PRIu64
			" MHz; --frequency says otherwise",
			path, log->mhz);
	if (d->cut_line)
		ut_logger_log(logger, UT_WARN,
			      "%s:%" PRIu64 ": the last line is cut and was left out", path,
			      d->cut_line);
	if (d->cut_packed)
		ut_logger_log(logger, UT_WARN,
			      "%s: the compressed log ends in the middle: what is missing is not "
			      "in the results",
			      path);
	if (d->no_end || d->no_start) {
		const struct ut_tt_lane *lane = &log->lanes[d->worst];
		const struct ut_tt_core *core = &log->cores[lane->core];
		struct ut_str risc = ut_tt_str(log, log->riscs[lane->risc].name);

		ut_logger_log(
			logger, UT_WARN,
			"%s: markers are missing, as when a buffer on the device is full: %" PRIu64
			" starts without an end, %" PRIu64 " ends without a start, on %" PRIu32
			" RISCs, most on chip %" PRId32 " core (%" PRId32 ", %" PRId32 ") %.*s",
			path, d->no_end, d->no_start, d->lanes, log->chips[core->chip].id, core->x,
			core->y, (int)risc.len, risc.ptr);
	}
	if (d->wraps)
		ut_logger_log(logger, UT_WARN,
			      "%s:%" PRIu64
			      ": the time goes back by about 2^32 cycles%s: a counter wrapped "
			      "or was read half way; durations across it are wrong",
			      path, d->wrap_line, d->wraps > 1 ? ", here and later" : "");
	if (d->again || d->stray)
		ut_logger_log(logger, UT_WARN,
			      "%s: firmware starts %" PRIu64 " times and ends %" PRIu64
			      " times more than once in one op: data was lost or is corrupt",
			      path, d->again, d->stray);
}

int ut_devlog_open(struct ut_devlog *d, const char *path, const struct ut_devlog_opts *o,
		   struct ut_err *err)
{
	const struct ut_tt_read_opts opts = { .arch = o->arch, .mhz = o->mhz };
	struct ut_tt_setup setup;
	int rc;

	*d = (struct ut_devlog){ 0 };
	ut_tt_log_init(&d->log);
	rc = ut_tt_read_file(&d->log, path, &opts, err);
	if (!rc && !ut_tt_setup_find(&setup, d->log.zones, o->setup))
		rc = ut_err_set(err, -EINVAL, "Setup %s not available for this kind of log",
				o->setup);
	if (rc) {
		ut_tt_log_release(&d->log);
		return rc;
	}
	setup.detect_ops = setup.detect_ops && !o->no_ops;
	ut_tt_analyze(&d->analysis, &d->log, &setup);
	report_doubts(&d->log, path, o->logger);
	return 0;
}

void ut_devlog_close(struct ut_devlog *d)
{
	ut_tt_analysis_release(&d->analysis);
	ut_tt_log_release(&d->log);
}

/* ---- the folder ---------------------------------------------------------------------------- */

#define LOG_COPY "profile_log_device.csv"
#define TARBALL  "device_perf_results.tgz"
#define TAR_LINK "device_perf_results.tar" /* what the documents call it; tar reads either */
#define CHROME   "device_chrome_tracing.json"
#define TRACE    "device_trace.utr"
#define PAGE     "device_perf.html"

#define MOST_CHIP_PAGES 256u /* a damaged log may claim a hundred thousand */

/* The folder as one of those who fill it sees it, and the names of what he has put there. */
struct folder {
	const struct ut_devlog *d;
	const struct ut_devlog_opts *opts;
	const char *path; /* of the log */
	const struct ut_tt_alignment *align;
	struct ut_arena arena;
	struct ut_opt_list names;
	struct ut_err *err;
};

static struct ut_out *devlog_run_open_file(struct folder *f, const char *name)
{
	return ut_out_open(ut_path_join(&f->arena, f->opts->output, name), UT_OUT_OVERWRITE);
}

static int commit_file(struct folder *f, struct ut_out *out, const char *name)
{
	int rc = ut_out_commit(out, f->err);

	if (!rc)
		ut_opt_list_add(&f->names, name);
	return rc;
}

/* A file that this run does not write must not be left from another one. */
static void drop_file(struct folder *f, const char *name)
{
	unlink(ut_path_join(&f->arena, f->opts->output, name));
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Plain bytes need not come by here. */
static void copy_plain(const struct ut_source *source, struct ut_out *out)
{
	const char *file = ut_out_file(out);
	int fd = file ? open(file, O_WRONLY | O_CLOEXEC) : -1;
	off_t at = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0)
		n = sendfile(fd, source->fd, &at, 1u << 30);
	if (file && (fd < 0 || n < 0))
		ut_out_fail(out, -errno, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int copy_unpacked(struct ut_source *source, struct ut_out *out, struct ut_err *err)
{
	ssize_t got;

	do {
		char *p = ut_out_reserve(out, 65536);

		got = ut_source_read(source, p, 65536, err);
		ut_out_advance(out, p + (got > 0 ? got : 0));
	} while (got > 0);
	return (int)got;
}

/* The log goes along as it is, so that the folder tells the whole story. */
static int copy_log(struct folder *f)
{
	char *to = ut_path_join(&f->arena, f->opts->output, LOG_COPY);
	struct ut_source source;
	struct ut_out *out;
	int rc = 0;

	if (same_file(f->path, to)) {
		ut_opt_list_add(&f->names, LOG_COPY);
		return 0;
	}
	if (!strcmp(f->path, "-"))
		return 0;
	if (ut_source_open(&source, f->path, f->err))
		return -EIO;
	out = ut_out_open(to, UT_OUT_OVERWRITE);
	if (source.seekable)
		copy_plain(&source, out);
	else
		rc = copy_unpacked(&source, out, f->err);
	ut_source_close(&source);
	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	return commit_file(f, out, LOG_COPY);
}

/* The timeline in any of our formats: from its events, or from columns if there are any. */
static void devlog_run_put_trace(struct folder *f, const struct ut_exporter *format,
				 struct ut_store *store, struct ut_out *out)
{
	struct ut_sink *sink;
	struct ut_trace trace;

	if (store && format->write) {
		format->write(store, out);
		return;
	}
	sink = format->open(out);
	ut_trace_init(&trace);
	ut_tt_send(&f->d->analysis, f->align, UT_TT_ALL_CHIPS, &trace, sink);
	format->end_trace(sink, &trace);
	format->close(sink);
	ut_trace_release(&trace);
}

/* Logs of zones had no such file, so theirs is the good one. */
static int write_chrome(struct folder *f)
{
	struct ut_out *out = devlog_run_open_file(f, CHROME);

	if (f->d->log.zones)
		devlog_run_put_trace(f, &ut_export_chrome, NULL, out);
	else
		ut_tt_write_chrome(&f->d->log, out);
	return commit_file(f, out, CHROME);
}

static int write_traces(struct folder *f, struct ut_store *store)
{
	struct ut_out *out = devlog_run_open_file(f, TRACE);
	int rc;

	devlog_run_put_trace(f, &ut_export_utr, store, out);
	rc = commit_file(f, out, TRACE);
	for (size_t i = 0; !rc && i < f->opts->traces.count; i++) {
		const char *path = f->opts->traces.items[i];

		out = ut_out_open(path, UT_OUT_OVERWRITE);
		devlog_run_put_trace(f, ut_exporter_by_file(path), store, out);
		rc = ut_out_commit(out, f->err);
	}
	return rc;
}

/* What a page shows; all in the arena. */
static struct ut_tt_shown shown(struct folder *f, uint32_t chip)
{
	return (struct ut_tt_shown){ .a = &f->d->analysis,
				     .align = f->align,
				     .chip = chip,
				     .log = f->path,
				     .trace = ut_path_join(&f->arena, f->opts->output, TRACE) };
}

/* The view is taken over. */
static int devlog_run_write_page(struct folder *f, const char *name, struct ut_view *view)
{
	struct ut_out *out = devlog_run_open_file(f, name);

	ut_one_page_write(view, f->opts->page_bars, out);
	ut_view_free(view);
	return commit_file(f, out, name);
}

/* A file under a second name; false if the file system has no such thing. */
static bool link_file(struct folder *f, const char *name, const char *as)
{
	if (link(ut_path_join(&f->arena, f->opts->output, name),
		 ut_path_join(&f->arena, f->opts->output, as)))
		return false;
	ut_opt_list_add(&f->names, as);
	return true;
}

/* Pages of chips that an earlier log had. */
static void drop_chip_pages(struct folder *f)
{
	DIR *dir = opendir(f->opts->output);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (ut_str_starts(entry->d_name, "Chip_") &&
		    ut_str_ends(entry->d_name, "_Cores_timeline.html"))
			drop_file(f, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* One page for all, and each chip's under the name that it used to have. */
static int write_pages(struct folder *f, struct ut_store *store)
{
	const struct ut_tt_shown all = shown(f, UT_TT_ALL_CHIPS);
	const struct ut_tt_log *log = &f->d->log;
	int rc = devlog_run_write_page(f, PAGE, ut_tt_view_of(&all, store));

	if (log->chip_count > MOST_CHIP_PAGES)
		ut_logger_log(f->opts->logger, UT_WARN,
			      "%zu chips: only the first %u get a page of their own; %s has all",
			      log->chip_count, MOST_CHIP_PAGES, PAGE);
	for (uint32_t i = 0; !rc && i < log->chip_count && i < MOST_CHIP_PAGES; i++) {
		const struct ut_tt_shown one = shown(f, i);
		char *name = ut_str_fmt(&f->arena, "Chip_%" PRId32 "_Cores_timeline.html",
					log->chips[i].id);

		/* of one chip, both are the same */
		if (log->chip_count > 1 || !link_file(f, PAGE, name))
			rc = devlog_run_write_page(f, name, ut_tt_make_view(&one));
	}
	return rc;
}

/* A build without the viewer has everything but pages. */
static bool has_pages(struct folder *f)
{
	const char *why = ut_one_page_missing();

	if (!f->opts->no_plots && why)
		ut_logger_log(f->opts->logger, UT_WARN, "%s is left out: %s", PAGE, why);
	return !f->opts->no_plots && !why;
}

/* Traces and pages are made from the same columns, one after the other. */
static int write_shown(struct folder *f)
{
	const struct ut_tt_shown all = shown(f, UT_TT_ALL_CHIPS);
	struct ut_store store;
	int rc;

	ut_tt_make_store(&all, &store);
	rc = write_traces(f, &store);
	drop_chip_pages(f);
	if (rc || !has_pages(f))
		drop_file(f, PAGE);
	else
		rc = write_pages(f, &store);
	ut_store_release(&store);
	return rc;
}

static int write_stats(struct folder *f)
{
	static const char name[] = "device_stats.txt";
	struct ut_out *out;

	if (!f->opts->any_arch && !ut_tt_has_stats(&f->d->log)) {
		drop_file(f, name);
		return 0;
	}
	out = devlog_run_open_file(f, name);
	ut_tt_write_stats(&f->d->analysis, out);
	return commit_file(f, out, name);
}

static int write_rearranged(struct folder *f)
{
	static const char name[] = "device_rearranged_timestamps.csv";
	struct ut_out *out = devlog_run_open_file(f, name);

	ut_tt_write_rearranged(&f->d->log, out);
	return commit_file(f, out, name);
}

/* The analysis has 1500 bytes per row: nobody wants it of a very long log who does not say so. */
#define MOST_ROWS    5000000u
#define ROW_IN_BYTES 1500u

static bool leave_out_analysis(const struct ut_devlog *d, const struct ut_devlog_opts *o)
{
	return o->no_analysis || (d->log.row_count > MOST_ROWS && !o->analysis);
}

static int write_analysis(struct folder *f)
{
	static const char name[] = "device_analysis_data.json";
	const struct ut_tt_about_run run = { f->path, UT_DEVLOG_OUTPUT, UT_DEVLOG_PORT };
	struct ut_out *out;

	if (leave_out_analysis(f->d, f->opts)) {
		drop_file(f, name);
		return 0;
	}
	out = devlog_run_open_file(f, name);
	ut_tt_write_analysis(&f->d->analysis, &run, out);
	return commit_file(f, out, name);
}

static int write_kernels(struct folder *f)
{
	static const char name[] = "device_kernels.csv";
	const struct ut_report_opts csv = { .format = UT_REPORT_CSV };
	struct ut_out *out = devlog_run_open_file(f, name);
	struct ut_tt_kernels kernels = { 0 };
	int rc;

	ut_tt_kernels_find(&kernels, &f->d->analysis, UT_TT_ALL_CHIPS);
	rc = ut_tt_kernels_print(&kernels, &f->d->log, out, &csv, f->err);
	ut_tt_kernels_release(&kernels);
	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	return commit_file(f, out, name);
}

static int print_kernels(struct folder *f)
{
	struct ut_tt_kernels kernels = { 0 };
	struct ut_out *out;
	int rc;

	if (!f->opts->kernels)
		return 0;
	out = ut_out_open("-", 0);
	ut_tt_kernels_find(&kernels, &f->d->analysis, UT_TT_ALL_CHIPS);
	rc = ut_tt_kernels_print(&kernels, &f->d->log, out, &f->opts->report, f->err);
	ut_tt_kernels_release(&kernels);
	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	return ut_out_commit(out, f->err);
}

static int print_stats(struct folder *f)
{
	struct ut_out *out;

	if (f->opts->no_print_stats || f->opts->report.format != UT_REPORT_TABLE)
		return 0;
	out = ut_out_open("-", 0);
	if (f->opts->any_arch || ut_tt_has_stats(&f->d->log))
		ut_tt_write_stats(&f->d->analysis, out);
	else
		ut_out_fmt(out, "%s stat print is not supported\n", f->d->log.arch);
	return ut_out_commit(out, f->err);
}

static int write_tarball(struct folder *f)
{
	struct ut_out *out;
	int rc = 0;

	drop_file(f, TAR_LINK);
	if (f->opts->no_artifacts) {
		drop_file(f, TARBALL);
		return 0;
	}
	out = devlog_run_open_file(f, TARBALL);
	for (size_t i = 0; !rc && i < f->names.count; i++)
		rc = ut_tar_add(out, f->opts->output, f->names.items[i], f->err);
	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	ut_tar_end(out);
	rc = ut_out_commit(out, f->err);
	if (!rc && symlink(TARBALL, ut_path_join(&f->arena, f->opts->output, TAR_LINK)))
		ut_logger_log(f->opts->logger, UT_DEBUG, "no link %s: %s", TAR_LINK,
			      strerror(errno));
	return rc;
}

static void report_alignment(const struct ut_tt_log *log, const struct ut_tt_alignment *align,
			     const struct ut_logger *logger)
{
	if (align->used == UT_TT_ALIGN_OPS)
		ut_logger_log(logger, UT_INFO,
			      "clocks of %zu chips brought together by %" PRIu64
			      " common ops; half of them agree to %" PRIu64 " cycles",
			      log->chip_count, align->ops, align->spread);
	else if (align->used == UT_TT_ALIGN_START)
		ut_logger_log(
			logger, UT_INFO,
			"clocks of %zu chips brought together at their first markers; no op is "
			"common",
			log->chip_count);
}

/* ---- several at once ----------------------------------------------------------------------- */

/* Nobody needs what another one writes; the largest files first, so that nobody waits long. */
static int (*const jobs[])(struct folder *f) = {
	write_analysis,   write_chrome,  write_shown, copy_log,
	write_rearranged, write_kernels, write_stats,
};

#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

struct work {
	struct folder folders[JOBS];
	struct ut_err errs[JOBS];
	int rc[JOBS];
	atomic_size_t next;
};

static void take_jobs(void *ctx)
{
	struct work *w = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&w->next, 1)) < JOBS)
		w->rc[i] = jobs[i](&w->folders[i]);
}

/* All jobs; what they have written becomes part of f. */
static int do_jobs(struct folder *f)
{
	struct work w = { .next = 0 };
	int rc = 0;

	for (size_t i = 0; i < JOBS; i++) {
		w.folders[i] = *f;
		w.folders[i].err = &w.errs[i];
	}
	ut_thread_pool_run(ut_thread_pool_size(0, JOBS), take_jobs, &w);
	for (size_t i = 0; i < JOBS; i++) {
		for (size_t k = 0; k < w.folders[i].names.count; k++)
			ut_opt_list_add(&f->names,
					ut_str_fmt(&f->arena, "%s", w.folders[i].names.items[k]));
		if (w.rc[i] && !rc) {
			rc = w.rc[i];
			*f->err = w.errs[i];
		}
		ut_opt_list_release(&w.folders[i].names);
		ut_arena_release(&w.folders[i].arena);
	}
	return rc;
}

int ut_devlog_write(const struct ut_devlog *d, const char *path, const struct ut_devlog_opts *o,
		    struct ut_err *err)
{
	static int (*const steps[])(struct folder * f) = { do_jobs, print_stats, print_kernels,
							   write_tarball };
	struct ut_tt_alignment align;
	struct folder f = { .d = d, .opts = o, .path = path, .align = &align, .err = err };
	int rc = ut_path_mkdirs(o->output, err);

	ut_tt_align(&d->analysis, o->alignment, &align);
	report_alignment(&d->log, &align, o->logger);
	if (!o->no_analysis && leave_out_analysis(d, o))
		ut_logger_log(o->logger, UT_INFO,
			      "device_analysis_data.json would be about %zu GB and is left out; "
			      "--analysis-json writes it",
			      d->log.row_count * ROW_IN_BYTES / 1000000000);
	for (size_t i = 0; !rc && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](&f);
	if (!rc)
		ut_logger_log(o->logger, UT_INFO, "results are in %s", o->output);
	ut_tt_alignment_release(&align);
	ut_opt_list_release(&f.names);
	ut_arena_release(&f.arena);
	return rc;
}
