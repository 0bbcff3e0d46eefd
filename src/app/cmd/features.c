#include "cmd/features.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "draw/picture.h"
#include "export/exporter.h"
#include "import/importer.h"
#include "launch/inject.h"
#include "launch/library.h"
#include "report/one_page.h"
#include "serve/serve.h"
#include "view/page.h"

struct features {
	FILE *to;
	struct ut_arena *arena;
	struct ut_buf missing;
	const char *dir; /* LIBDIR/unitrace; NULL if there is no collector */
};

static void features_add(struct ut_buf *list, const char *name)
{
	ut_buf_fmt(list, "%s%s", list->len ? ", " : "", name);
}

/* A list on a line of its own, or among what is missing. */
static void features_send_report(struct features *f, const char *what, struct ut_buf *list,
				 const char *missing)
{
	if (list->len)
		fprintf(f->to, "  %-9s %s\n", what, list->data);
	else
		features_add(&f->missing, missing);
	ut_buf_release(list);
}

/* "cuda" of cuda.so; the backend called null is for tests. */
static void add_plugin(struct ut_buf *list, const char *file)
{
	static const struct {
		const char *file, *name;
	} names[] = { { "cuda", "CUDA" },   { "opencl", "OpenCL" }, { "levelzero", "Level Zero" },
		      { "sycl", "SYCL" },   { "mpi", "MPI" },       { "openmpi", "Open MPI" },
		      { "mpich", "MPICH" }, { "memory", "memory" }, { NULL, NULL } };
	const char *dot = strrchr(file, '.');
	size_t len = dot ? (size_t)(dot - file) : 0;

	if (!dot || strcmp(dot, ".so") != 0 || !strcmp(file, "null.so"))
		return;
	for (size_t i = 0; names[i].file; i++) {
		if (strlen(names[i].file) == len && !strncmp(names[i].file, file, len)) {
			features_add(list, names[i].name);
			return;
		}
	}
	ut_buf_fmt(list, "%s%.*s", list->len ? ", " : "", (int)len, file);
}

/* "3.11" of _core.cpython-311-x86_64-linux-gnu.so */
static void add_python(struct ut_buf *list, const char *file)
{
	static const char start[] = "_core.cpython-3";
	int minor = ut_str_starts(file, start) ? atoi(file + strlen(start)) : 0;

	if (minor > 0)
		ut_buf_fmt(list, "%s3.%d", list->len ? ", " : "", minor);
}

static void list_files(const struct features *f, const char *folder, struct ut_buf *list,
		       void (*add_file)(struct ut_buf *list, const char *file))
{
	struct dirent **files = NULL;
	int count =
		f->dir ? scandir(ut_path_join(f->arena, f->dir, folder), &files, NULL, alphasort)
		       : 0;

	for (int i = 0; i < count; i++) {
		add_file(list, files[i]->d_name);
		free(files[i]);
	}
	free(files);
}

static void find_dir(struct features *f)
{
	struct ut_err err = { 0 };
	const char *library;

	if (ut_library_find(f->arena, &library, &err))
		features_add(&f->missing, "the collector (nothing can be recorded)");
	else
		f->dir = ut_path_dir(f->arena, ut_inject_backend_dir(f->arena, library));
}

static void report_recording(struct features *f)
{
	struct ut_buf marks = { 0 }, devices = { 0 }, python = { 0 };

	if (f->dir && UT_WITH_ITT)
		ut_buf_fmt(&marks, "ITT (%d functions)", UT_ITT_FUNCTIONS);
	list_files(f, "backends", &devices, add_plugin);
	list_files(f, "python/unitrace", &python, add_python);
	features_send_report(f, "marks", &marks, "ITT");
	features_send_report(f, "devices", &devices, "devices");
	features_send_report(f, "Python", &python, "Python");
}

static void add_packing(struct features *f, struct ut_buf *list, bool is_first)
{
	if (UT_HAVE_ZLIB)
		features_add(list, ".gz");
	else if (is_first)
		features_add(&f->missing, "zlib (.gz)");
	if (UT_HAVE_ZSTD)
		features_add(list, ".zst");
	else if (is_first)
		features_add(&f->missing, "zstd (.zst)");
	if (!is_first)
		return;
	if (UT_HAVE_LZMA)
		features_add(list, ".xz");
	else
		features_add(&f->missing, "liblzma (.xz)");
	if (UT_HAVE_BZIP2)
		features_add(list, ".bz2");
	else
		features_add(&f->missing, "libbz2 (.bz2)");
}

static void report_files(struct features *f)
{
	struct ut_buf reads = { 0 }, writes = { 0 }, sql = { 0 }, mpi = { 0 };

	for (size_t i = 0; ut_importers[i]; i++)
		features_add(&reads, ut_importers[i]->name);
	for (size_t i = 0; ut_exporters[i]; i++) {
		if (ut_exporters[i] != &ut_export_html || !ut_one_page_missing())
			features_add(&writes, ut_exporters[i]->name);
	}
	add_packing(f, &reads, true);
	add_packing(f, &writes, false);
	if (UT_HAVE_SQLITE)
		features_add(&sql, "SQLite");
	list_files(f, "mpi", &mpi, add_plugin);
	features_send_report(f, "reads", &reads, "");
	features_send_report(f, "writes", &writes, "");
	features_send_report(f, "SQL", &sql, "SQLite (query, --format sqlite)");
	features_send_report(f, "MPI", &mpi, "MPI (commands on several ranks)");
}

static void report_viewer(struct features *f)
{
	struct ut_buf ways = { 0 };
	struct ut_err why = { 0 };
	struct ut_page page;
	bool has_page = ut_page_get(&page);
	int rc = ut_serve_check(&why);

	if (has_page && !rc)
		features_add(&ways, "in a browser");
	if (!ut_one_page_missing())
		features_add(&ways, "as one file");
	else if (has_page)
		features_add(&f->missing, "the module of saved pages (view --save, html)");
	if (rc == -ENOTSUP)
		features_add(&f->missing, "libmicrohttpd (view, --serve)");
	else if (rc)
		ut_buf_fmt(&f->missing, "%sview and --serve: %s", f->missing.len ? ", " : "",
			   why.text);
	features_send_report(f, "view", &ways, "the viewer's page (view, html)");
}

static void report_charts(struct features *f)
{
	struct ut_buf formats = { 0 };
	struct ut_err why = { 0 };
	int rc = ut_picture_check(UT_PICTURE_PDF, &why);

	features_add(&formats, "SVG");
	if (!rc) {
		features_add(&formats, "PDF");
		features_add(&formats, "PNG");
	} else if (rc == -ENOTSUP) {
		features_add(&f->missing, "cairo (PDF, PNG)");
	} else {
		ut_buf_fmt(&f->missing, "%s%s", f->missing.len ? ", " : "", why.text);
	}
	if (!ut_one_page_missing())
		features_add(&formats, "html");
	features_send_report(f, "charts", &formats, "");
}

void ut_features_print(FILE *to)
{
	struct ut_arena arena = { 0 };
	struct features f = { .to = to, .arena = &arena };

	find_dir(&f);
	report_recording(&f);
	report_files(&f);
	report_viewer(&f);
	report_charts(&f);
	if (f.missing.len)
		fprintf(to, "  %-9s %s\n", "not here", f.missing.data);
	ut_buf_release(&f.missing);
	ut_arena_release(&arena);
}
