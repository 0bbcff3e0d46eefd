/*
 * sass_open.c - where the assembly of a kernel for NVIDIA's devices comes from: a text of nvdisasm
 * or cuobjdump, or a cubin, which nvdisasm is asked about.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "metrics/cubin.h"
#include "metrics/sass_code.h"
#include "metrics/stall_asm.h"
#include "metrics/stall_parts.h"
#include "text/file_text.h"
#include "text/printed.h"
#include "text/source.h"

#define UT_LOG_MODULE "metrics"
#include "base/logger.h"

#define SECONDS 300u
#define TOOL    "nvdisasm"
#define HEAD    ((size_t)256 << 10) /* what a file is shows there */

/* A file, and the function in it that is the kernel. */
struct code_file {
	const char *path;
	struct ut_str bytes; /* in the arena */
	struct ut_str function;
	uint32_t symbol;
	bool cubin;
};

/* ---- the tool ------------------------------------------------------------------------------ */

static const char *tool_below(struct ut_arena *a, const char *folder, const char *rest)
{
	glob_t found = { 0 };
	const char *path = NULL;

	if (!folder || !folder[0])
		return NULL;
	if (!glob(ut_path_join(a, folder, rest), 0, NULL, &found) && found.gl_pathc)
		path = ut_str_fmt(a, "%s", found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* Where people have it: named, in the PATH, in the toolkit, in packages of Python. */
static const char *find_tool(struct ut_arena *a)
{
	static const struct {
		const char *variable, *folder, *rest;
	} places[] = {
		{ "CUDA_HOME", NULL, "bin/" TOOL },
		{ "CUDA_PATH", NULL, "bin/" TOOL },
		{ NULL, "/usr/local/cuda", "bin/" TOOL },
		{ "VIRTUAL_ENV", NULL, "lib/python3*/site-packages/nvidia/cu*/bin/" TOOL },
		{ "VIRTUAL_ENV", NULL,
		  "lib/python3*/site-packages/triton/backends/nvidia/bin/" TOOL },
		{ "CONDA_PREFIX", NULL, "bin/" TOOL },
		{ "CONDA_PREFIX", NULL,
		  "lib/python3*/site-packages/triton/backends/nvidia/bin/" TOOL },
	};
	const char *path = getenv("UNITRACE_NVDISASM");
	int code;

	if (path && path[0])
		return path;
	path = ut_path_find_program(a, TOOL, &code);
	for (size_t i = 0; !path && i < sizeof(places) / sizeof(places[0]); i++)
		path = tool_below(
			a, places[i].variable ? getenv(places[i].variable) : places[i].folder,
			places[i].rest);
	return path;
}

static int lacks_tool(const struct code_file *f, const char *tool, struct ut_err *err)
{
	return ut_err_set(err, -ENOENT,
			  "%s: " TOOL " of the CUDA toolkit is needed to read it, and %s%s; put it "
			  "into the PATH, or a text made elsewhere beside it: " TOOL
			  " -c -hex -gi %s > %s.sass",
			  f->path, tool ? tool : "not found", tool ? " is not there" : "",
			  ut_path_base(f->path), ut_path_base(f->path));
}

/* The text of one function of a cubin, with lines of the source if it has them. */
static int disassemble(struct ut_stall_code *c, const struct code_file *f, struct ut_str *text,
		       struct ut_err *err)
{
	struct ut_arena *a = &c->result->arena;
	const char *tool = find_tool(a), *symbol = ut_str_fmt(a, "%u", f->symbol);
	const char *const full[] = { tool, "-c", "-hex", "-gi", "-fun", symbol, f->path, NULL };
	const char *const less[] = { tool, "-c", "-hex", "-fun", symbol, f->path, NULL };
	unsigned int seconds = c->opts->seconds ? c->opts->seconds : SECONDS;
	int rc = tool ? ut_printed(text, a, full, UT_STALL_MOST_TEXT, seconds, NULL) : -ENOENT;

	if (rc == -ENOENT)
		return lacks_tool(f, tool, err);
	return rc ? ut_printed(text, a, less, UT_STALL_MOST_TEXT, seconds, err) : 0;
}

/* ---- which file ---------------------------------------------------------------------------- */

static bool in_cubin(struct ut_stall_code *c, struct code_file *f, struct ut_str kernel)
{
	struct ut_cubin_function fn;
	uint32_t at = 0;

	while (ut_cubin_next(f->bytes, &at, &fn)) {
		if (!ut_stall_is_name(c, fn.name, kernel))
			continue;
		f->function = fn.name;
		f->symbol = fn.symbol;
		return true;
	}
	return false;
}

static bool in_text(struct ut_stall_code *c, struct code_file *f, struct ut_str kernel)
{
	struct ut_str rest = f->bytes, line;

	while (ut_asm_line(&rest, &line)) {
		struct ut_str name = ut_sass_function(line);

		if (!name.len || !ut_stall_is_name(c, name, kernel))
			continue;
		f->function = name;
		return true;
	}
	return false;
}

/*
 * Looks for the kernel. -ENOENT: it is not in there. Of a cubin only the name is kept: a program
 * has many, and they are large.
 */
static int sass_open_look_into(struct ut_stall_code *c, const char *path, struct ut_str kernel,
			       struct code_file *f, struct ut_err *err)
{
	struct ut_arena *a = &c->result->arena;
	struct ut_buf b = { 0 };
	bool found = false;
	int rc = ut_file_text(path, UT_STALL_MOST_TEXT, &b, err);

	*f = (struct code_file){ .path = path, .bytes = { b.data, b.len } };
	if (!rc) {
		f->cubin = ut_cubin_is(f->bytes);
		found = (f->cubin ? in_cubin : in_text)(c, f, kernel);
	}
	if (found) {
		f->function.ptr = ut_arena_copy(a, f->function.ptr, f->function.len);
		f->bytes.len = f->cubin ? 0 : b.len;
		f->bytes.ptr = f->cubin ? "" : ut_buf_take(&b, a);
	} else if (!rc) {
		rc = ut_err_set(err, -ENOENT, "%s: no code of %.*s", path,
				(int)(kernel.len < 200 ? kernel.len : 200), kernel.ptr);
	}
	ut_buf_release(&b);
	return rc;
}

static int is_code(const struct dirent *e)
{
	return ut_str_ends(e->d_name, ".cubin") || ut_str_ends(e->d_name, ".sass");
}

/* Texts come before cubins: they need no tool. A module that is known is the only one. */
static int find_file(struct ut_stall_code *c, const struct ut_stall_samples *s, struct code_file *f,
		     struct ut_err *err)
{
	struct dirent **list = NULL;
	int count = scandir(c->opts->code, &list, is_code, alphasort), rc = -ENOENT;
	const char *module = ut_str_fmt(&c->result->arena, "%.*s", (int)s->module.len,
					s->module.len ? s->module.ptr : "");

	for (int pass = 0; pass < 2 && rc; pass++) {
		for (int i = 0; i < count && rc; i++) {
			const char *name = list[i]->d_name;

			if (ut_str_ends(name, pass ? ".cubin" : ".sass") &&
			    (!module[0] || strstr(name, module)))
				rc = sass_open_look_into(
					c, ut_path_join(&c->result->arena, c->opts->code, name),
					s->kernel, f, NULL);
		}
	}
	for (int i = 0; i < count; i++)
		free(list[i]);
	free(list);
	return rc ? ut_err_set(err, -ENOENT, "%s: no code of %.*s", c->opts->code,
			       (int)(s->kernel.len < 200 ? s->kernel.len : 200), s->kernel.ptr)
		  : 0;
}

bool ut_stall_is_sass(const char *path)
{
	struct dirent **list = NULL;
	struct ut_buf b = { 0 };
	struct ut_source source;
	struct ut_str rest, line;
	bool is = false;

	if (ut_path_is_dir(path)) {
		int count = scandir(path, &list, is_code, alphasort);

		for (int i = 0; i < count; i++)
			free(list[i]);
		free(list);
		return count > 0;
	}
	if (ut_source_open_head(&source, path, HEAD, NULL))
		return false;
	if (!ut_file_rest(&source, 16 * HEAD, &b, NULL)) {
		rest = (struct ut_str){ b.data, b.len };
		is = ut_cubin_is(rest);
		while (!is && ut_asm_line(&rest, &line))
			is = ut_sass_function(line).len > 0;
	}
	ut_source_close(&source);
	ut_buf_release(&b);
	return is;
}

int ut_stall_open_sass(struct ut_stall_code *c, const struct ut_stall_samples *samples,
		       struct ut_err *err)
{
	struct code_file f;
	struct ut_str text;
	int rc = ut_path_is_dir(c->opts->code)
			 ? find_file(c, samples, &f, err)
			 : sass_open_look_into(c, c->opts->code, samples->kernel, &f, err);

	if (rc)
		return rc;
	text = f.bytes;
	if (f.cubin)
		rc = disassemble(c, &f, &text, err);
	if (!rc)
		rc = ut_sass_read(&c->code, text, f.function, f.path, err);
	c->result->maker = UT_STALL_NVIDIA;
	c->result->assembly = ut_str_of(f.path);
	return rc;
}
