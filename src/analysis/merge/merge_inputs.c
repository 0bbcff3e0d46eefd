#include "merge/merge_inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/logger.h"
#include "base/path.h"
#include "export/exporter.h"
#include "export/out_check.h"
#include "import/importer.h"
#include "merge/spill.h"
#include "model/strtab.h"
#include "mpijob/mpijob.h"
#include "text/out.h"
#include "text/replaced.h"
#include "text/source.h"

/* ---- the result ------------------------------------------------------------------------------ */

/* Better now than after an hour of reading. */
static int check_output(const struct ut_merge *m, struct ut_err *err)
{
	struct stat st;

	if (!stat(m->output, &st) && S_ISDIR(st.st_mode))
		return ut_err_set(err, -EISDIR, "%s is a directory; -o takes a file", m->output);
	return ut_out_check(m->output, m->format, UT_OUT_OVERWRITE, err);
}

/* ---- the inputs ------------------------------------------------------------------------------ */

/* The last result, found in a directory or by a pattern, is no input; named by hand, it is. */
static int drop_output(struct ut_inputs *in, const char *output, int argc, const char *const *argv,
		       struct ut_err *err)
{
	size_t kept = 0;

	for (int i = 0; i < argc; i++) {
		if (ut_same_file(argv[i], output))
			return ut_replaced_refuse(output, err);
	}
	for (size_t i = 0; i < in->count; i++) {
		if (ut_same_file(in->paths[i], output))
			free(in->paths[i]);
		else
			in->paths[kept++] = in->paths[i];
	}
	in->count = kept;
	return kept ? 0 : ut_err_set(err, -ENODATA, "nothing to merge but the last result");
}

static bool named_like_a_trace(const char *name)
{
	const struct ut_exporter *format = ut_exporter_by_file(name);

	return *name != '.' && (format == &ut_export_chrome || format == &ut_export_perfetto ||
				format == &ut_export_utr);
}

/* Names of files, of which the first few are told. */
struct names {
	struct ut_buf text;
	size_t count;
};

/* Into the names of files, as they are without "./"; was it new? */
static bool merge_inputs_add_name(struct ut_strtab *names, const char *path)
{
	uint32_t known = names->count;

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	ut_strtab_intern(names, path, strlen(path));
	return names->count > known;
}

/* The file of a rank that was killed early may be empty: its loss should not go unnoticed. */
static void note_left_out(const char *dir, const char *output, struct ut_strtab *inputs,
			  struct names *left_out)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct ut_buf path = { 0 };

		if (!named_like_a_trace(e->d_name))
			continue;
		ut_buf_fmt(&path, "%s/%s", dir, e->d_name);
		if (merge_inputs_add_name(inputs, path.data) && !ut_path_is_dir(path.data) &&
		    (!access(path.data, R_OK) || errno != EACCES) && /* told already */
		    !ut_same_file(path.data, output) && left_out->count++ < 3)
			ut_buf_fmt(&left_out->text, "%s%s", left_out->text.len ? ", " : "",
				   path.data);
		ut_buf_release(&path);
	}
	if (d)
		closedir(d);
}

static void report_left_out(const struct ut_inputs *in, const char *output, int argc,
			    const char *const *argv)
{
	struct ut_arena arena = { 0 };
	struct names left_out = { 0 };
	struct ut_strtab inputs;

	ut_strtab_init(&inputs, &arena);
	for (size_t i = 0; i < in->count; i++)
		merge_inputs_add_name(&inputs, in->paths[i]);
	for (int i = 0; i < argc; i++) {
		if (ut_path_is_dir(argv[i]))
			note_left_out(argv[i], output, &inputs, &left_out);
	}
	if (left_out.count > 3)
		ut_buf_fmt(&left_out.text, " and %zu more", left_out.count - 3);
	if (left_out.count)
		ut_logger_log(in->logger, UT_WARN, "no trace in %s; left out", left_out.text.data);
	ut_buf_release(&left_out.text);
	ut_arena_release(&arena);
}

int ut_merge_find(const struct ut_merge *m, int argc, const char *const *argv, struct ut_inputs *in,
		  struct ut_err *err)
{
	int rc = ut_inputs_find(in, argc, argv, m->logger, err);

	if (!rc)
		rc = drop_output(in, m->output, argc, argv, err);
	if (!rc)
		rc = check_output(m, err);
	for (size_t i = 0; !rc && i < m->rules.offsets.count; i++)
		rc = ut_merge_check_offset(m->rules.offsets.items[i], in, err);
	if (!rc)
		report_left_out(in, m->output, argc, argv);
	return rc;
}

/* ---- what can be read only once -------------------------------------------------------------- */

#define PIECE (1 << 20)

#define LEAST 512 /* zeros in a row that are no accident */

/* Text that is none, and perhaps never ends. */
static bool is_zero(const char *data, size_t len)
{
	return len >= LEAST && !data[0] && !memcmp(data, data + 1, len - 1);
}

/* An event needs a bracket: bytes since the last one in what was read up to now. */
static uint64_t since_bracket(uint64_t before, const char *data, size_t len)
{
	const char *last = memrchr(data, '{', len);

	return last ? (uint64_t)(data + len - last) : before + len;
}

static int copy_input(const char *path, int to, uint64_t *size, struct ut_err *err)
{
	const struct ut_importer *importer;
	struct ut_source source;
	uint64_t barren = 0;
	char *buf;
	ssize_t n;
	int rc = ut_source_open(&source, path, err);

	if (rc)
		return rc;
	importer = ut_importer_of(&source, err);
	rc = importer ? 0 : -EPROTO;
	buf = ut_make(PIECE);
	while (!rc && (n = ut_source_read(&source, buf, PIECE, err)) != 0) {
		rc = n < 0 ? (int)n : 0;
		if (!rc && importer == &ut_import_chrome && is_zero(buf, (size_t)n))
			rc = ut_err_set(err, -EPROTO, "%s: zero bytes from %llu on; no JSON", path,
					(unsigned long long)*size);
		barren = rc ? 0 : since_bracket(barren, buf, (size_t)n);
		if (!rc && importer == &ut_import_chrome && barren > UT_JSON_BARREN)
			rc = ut_err_set(err, -EPROTO,
					"%s: no event in more than 256 MiB before %llu", path,
					(unsigned long long)*size);
		if (!rc && write(to, buf, (size_t)n) != n)
			rc = ut_err_set(err, -ENOSPC, "%s: no room to keep a copy of it", path);
		*size += rc ? 0 : (uint64_t)n;
	}
	ut_source_close(&source);
	free(buf);
	return rc;
}

int ut_merge_keep(struct ut_merge *m, size_t i, struct ut_arena *a, struct ut_err *err)
{
	struct ut_merge_file *f = &m->files[i];
	bool standard = !strcmp(f->path, "-");
	struct stat st;
	int fd, rc;

	if (!standard && (stat(f->path, &st) || S_ISREG(st.st_mode)))
		return 0; /* what cannot be looked at is reported when it is opened */
	if (m->job->ranks > 1)
		return ut_err_set(err, -ESPIPE,
				  "%s: under MPI inputs have to be files that all ranks can read",
				  f->path);
	fd = ut_spill_unnamed(strcmp(m->output, "-") ? m->output : "./");
	if (fd < 0)
		fd = ut_spill_unnamed("/tmp/");
	if (fd < 0)
		return ut_err_set(err, fd, "%s: no temporary file: %s", f->path, strerror(-fd));
	rc = copy_input(f->path, fd, &m->sizes[i], err);
	f->name = standard ? "stdin" : f->path;
	f->path = ut_str_fmt(a, "/proc/self/fd/%d", fd); /* open until we end */
	return rc;
}

bool ut_merge_all_text(const struct ut_merge *m)
{
	if (m->format != &ut_export_chrome)
		return false;
	for (size_t i = 0; i < m->count; i++) {
		struct ut_source s;
		const struct ut_importer *importer;

		if (!m->sizes[i] || ut_source_open(&s, m->files[i].path, NULL))
			continue;
		importer = ut_importer_for(s.head, s.head_len);
		ut_source_close(&s);
		if (importer && importer != &ut_import_chrome)
			return false;
	}
	return true;
}
