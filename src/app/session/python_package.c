#include "session/python_package.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/size.h"
#include "base/str.h"

#define SETTINGS "python" /* the file in the session directory */

/* Makes what torch.compile writes in C++ tell PyTorch's profiler, and so ITT, which kernel runs. */
#define NAMED_KERNELS "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE"

static int set_min(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_python_opts *o = ctx;

	return ut_time_parse(value, &o->min_ns, err);
}

size_t ut_python_rows(struct ut_python_opts *o, struct ut_opt *rows, size_t most)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Python"),
		ut_opt_flag(0, "python", &o->on, "every function of Python programs"),
		ut_opt_flag(0, "python-partial", &o->partial,
			    "only where the program says so: unitrace.Profiler, the fixture "
			    "unitrace_profile"),
		ut_opt_flag(0, "python-lines", &o->lines,
			    "also every line; needs --python-partial"),
		ut_opt_flag(0, "python-c-calls", &o->c_calls,
			    "also calls of functions that are written in C"),
		ut_opt_flag(0, "python-imports", &o->imports,
			    "also the functions of the import system itself (importlib)"),
		ut_opt_u64(0, "python-depth", "N", &o->depth, "no calls that are deeper than N"),
		ut_opt_call("python-min-duration", "TIME", set_min, o,
			    "no calls that are shorter and have nothing longer in them: 10us, 1ms"),
		ut_opt_strs(0, "python-files", "GLOB[,GLOB]", &o->files,
			    "only functions in files that fit a pattern"),
		ut_opt_strs(0, "python-exclude-files", "GLOB[,GLOB]", &o->not_files,
			    "no functions in these files"),
		ut_opt_strs(0, "python-modules", "NAME[,NAME]", &o->modules,
			    "only these modules and what is below them"),
		ut_opt_strs(0, "python-exclude-modules", "NAME[,NAME]", &o->not_modules,
			    "not these modules"),
		ut_opt_str(0, "python-test-traces", "DIR", &o->tests,
			   "also a trace of its own for each test of pytest, put there"),
	};
	size_t count = sizeof(table) / sizeof(table[0]);

	if (count > most)
		abort();
	memcpy(rows, table, sizeof(table));
	return count;
}

void ut_python_release(struct ut_python_opts *o)
{
	ut_opt_list_release(&o->files);
	ut_opt_list_release(&o->not_files);
	ut_opt_list_release(&o->modules);
	ut_opt_list_release(&o->not_modules);
}

static int check_list(const char *option, const struct ut_opt_list *list, struct ut_err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strchr(list->items[i], '\n'))
			return ut_err_set(err, -EINVAL, "%s: a line break in a name", option);
	}
	return 0;
}

int ut_python_check(struct ut_python_opts *o, struct ut_err *err)
{
	int rc = check_list("--python-files", &o->files, err);

	if (!rc)
		rc = check_list("--python-exclude-files", &o->not_files, err);
	if (!rc)
		rc = check_list("--python-modules", &o->modules, err);
	if (!rc)
		rc = check_list("--python-exclude-modules", &o->not_modules, err);
	if (rc)
		return rc;
	if (o->lines && !o->partial)
		return ut_err_set(err, -EINVAL,
				  "--python-lines needs --python-partial: lines of a whole program "
				  "are too many");
	o->on = o->on || o->partial || o->c_calls || o->imports || o->depth || o->min_ns ||
		o->files.count || o->not_files.count || o->modules.count || o->not_modules.count ||
		o->tests;
	return 0;
}

/* One line per name of the comma lists. */
static void write_list(FILE *f, const char *key, const struct ut_opt_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *p = list->items[i];

		do {
			size_t len = strcspn(p, ",");

			if (len)
				fprintf(f, "%s %.*s\n", key, (int)len, p);
			p += len;
		} while (*p++);
	}
}

static int write_settings(const struct ut_python_opts *o, const char *path, struct ut_err *err)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	fprintf(f, "partial %d\nlines %d\nc_calls %d\nimports %d\n", o->partial, o->lines,
		o->c_calls, o->imports);
	fprintf(f, "depth %" PRIu64 "\nmin_ns %" PRIu64 "\n", o->depth, o->min_ns);
	fprintf(f, "tests %d\n", o->tests != NULL);
	write_list(f, "file", &o->files);
	write_list(f, "not_file", &o->not_files);
	write_list(f, "module", &o->modules);
	write_list(f, "not_module", &o->not_modules);
	if (ferror(f) | fclose(f))
		return ut_err_set(err, -EIO, "%s: cannot be written", path);
	return 0;
}

int ut_python_open(const struct ut_python_opts *o, struct ut_arena *a, const char *library,
		   const char *session_dir, struct ut_python_vars *vars, struct ut_err *err)
{
	const char *old = getenv("PYTHONPATH"), *inject;
	int rc = 0;

	vars->count = 0;
	inject = ut_path_join(a, ut_path_dir(a, library), "unitrace/python/inject");
	if (!ut_path_is_dir(inject))
		return !o->on ? 0
			      : ut_err_set(err, -ENOENT,
					   "--python: %s is missing; install unitrace again",
					   inject);
	if (o->on)
		rc = write_settings(o, ut_path_join(a, session_dir, SETTINGS), err);
	if (rc)
		return rc;
	/* An empty variable and none are the same to Python. */
	vars->items[vars->count++] = (struct ut_launch_var){
		"PYTHONPATH", old && old[0] ? ut_str_fmt(a, "%s:%s", inject, old) : inject
	};
	if (o->on && !getenv(NAMED_KERNELS))
		vars->items[vars->count++] = (struct ut_launch_var){ NAMED_KERNELS, "1" };
	return 0;
}

/* ---- interpreters that PYTHONPATH does not reach ---------------------------------------- */

#define WITH_VALUE                                                                                 \
	"WX" /* Python's options that take a word; -c and -m do, too, and are the last             \
	      */

/* A command line of Python, taken apart. */
struct command {
	size_t first;  /* index of the word at which the program begins; 0 = there is none */
	size_t letter; /* index in that word of c or m; 0 = it is a script */
	bool locked;   /* -E, -I or -S */
	bool odd;      /* -x: the first line of the script is none of Python's */
};

/* One word of options; false: it is the last, and command->letter says why. */
static bool read_letters(const char *word, struct command *c, bool *takes_next)
{
	for (size_t i = 1; word[i]; i++) {
		if (word[i] == 'c' || word[i] == 'm') {
			c->letter = i;
			return false;
		}
		if (strchr(WITH_VALUE, word[i])) {
			*takes_next = !word[i + 1];
			return true;
		}
		c->locked = c->locked || strchr("EIS", word[i]);
		c->odd = c->odd || word[i] == 'x';
	}
	return true;
}

static struct command read_command(const char *const *argv)
{
	struct command c = { 0 };
	size_t i = 1;

	for (; argv[i] && argv[i][0] == '-' && argv[i][1]; i++) {
		bool takes_next = !strcmp(argv[i], "--check-hash-based-pycs");

		if (!strncmp(argv[i], "--", 2)) {
			if (!argv[i][2]) {
				i++;
				break;
			}
		} else if (!read_letters(argv[i], &c, &takes_next)) {
			break;
		}
		if (takes_next && argv[i + 1])
			i++;
	}
	/* Standard input and what is not there are left to Python. */
	if (argv[i] && (c.letter || ut_path_exists(argv[i])))
		c.first = i;
	return c;
}

const char *const *ut_python_argv(const struct ut_python_opts *o, struct ut_arena *a,
				  const char *library, const char *const *argv)
{
	const char **words, *rest;
	struct command c;
	size_t count = 0, n = 0;

	if (!o->on || strncmp(ut_path_base(argv[0]), "python", 6))
		return argv;
	c = read_command(argv);
	if (!c.locked || c.odd || !c.first)
		return argv;
	while (argv[count])
		count++;
	words = UT_NEW_N(a, const char *, count + 4);
	for (; n < c.first; n++)
		words[n] = argv[n];
	if (c.letter > 1) /* -Im: the letters before */
		words[n++] = ut_str_fmt(a, "%.*s", (int)c.letter, argv[c.first]);
	words[n++] = ut_path_join(a, ut_path_dir(a, library), "unitrace/python/unitrace/_run.py");
	if (c.letter) {
		rest = argv[c.first] + c.letter + 1;
		words[n++] = argv[c.first][c.letter] == 'c' ? "-c" : "-m";
		if (rest[0])
			words[n++] = rest;
		c.first++;
	}
	while (argv[c.first])
		words[n++] = argv[c.first++];
	return words;
}
