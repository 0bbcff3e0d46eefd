#include "session/output_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "export/exporter.h"
#include "session/session_event.h"

static bool has_format(const struct ut_output_opts *opts, const struct ut_exporter *format)
{
	for (size_t i = 0; i < opts->format_count; i++) {
		if (opts->formats[i] == format)
			return true;
	}
	return false;
}

static int complain_format(const char *word, struct ut_err *err)
{
	struct ut_buf known = { 0 };

	for (size_t i = 0; ut_exporters[i]; i++)
		ut_buf_fmt(&known, "%s%s", i ? ", " : "", ut_exporters[i]->name);
	ut_err_set(err, -EINVAL, "'%s' is not a format; known are: %s", word, known.data);
	ut_buf_release(&known);
	return -EINVAL;
}

int ut_output_add_formats(struct ut_output_opts *opts, const char *list, struct ut_err *err)
{
	const char *p = list;

	do {
		size_t len = strcspn(p, ",");
		const struct ut_exporter *format;
		char word[32];

		if (len >= sizeof(word))
			return complain_format(list, err);
		memcpy(word, p, len);
		word[len] = '\0';
		format = ut_exporter_by_name(word);
		if (!format)
			return complain_format(word, err);
		if (!has_format(opts, format) && opts->format_count < UT_MAX_FORMATS)
			opts->formats[opts->format_count++] = format;
		p += len;
	} while (*p++);
	return 0;
}

const char *ut_output_format_words(struct ut_arena *a)
{
	struct ut_buf words = { 0 };

	for (size_t i = 0; ut_exporters[i]; i++)
		ut_buf_fmt(&words, "%s%s", i ? " " : "", ut_exporters[i]->name);
	return ut_buf_take(&words, a);
}

const char *ut_output_format_list(struct ut_arena *a)
{
	struct ut_buf text = { 0 };

	for (size_t i = 0; ut_exporters[i]; i++)
		ut_buf_fmt(&text, "%s%s%s", i ? ", " : "", ut_exporters[i]->name,
			   i ? "" : " (the default)");
	return ut_buf_take(&text, a);
}

/*
 * The format that the name of -o tells. When a program is recorded, a .csv is a table of the
 * reports, as it always was, and not the list of all events.
 */
static const struct ut_exporter *named_format(const struct ut_output_opts *opts)
{
	const struct ut_exporter *named = opts->output ? ut_exporter_by_file(opts->output) : NULL;

	return named == &ut_export_csv && !opts->export_mode ? NULL : named;
}

bool ut_output_is_timeline(const struct ut_output_opts *opts)
{
	return opts->output && (opts->export_mode || named_format(opts));
}

bool ut_output_is_single(const struct ut_output_opts *opts)
{
	if (opts->output && ut_output_has_pattern(opts->output))
		return false;
	return opts->together || (opts->export_mode && opts->output);
}

int ut_output_finalize_formats(struct ut_output_opts *opts, struct ut_err *err)
{
	const struct ut_exporter *named = named_format(opts);

	if (named && opts->format_count && !has_format(opts, named))
		return ut_err_set(err, -EINVAL,
				  "-o %s is the name of a %s file, but --format says %s",
				  opts->output, named->name, opts->formats[0]->name);
	if (opts->export_mode && opts->output && !named && !opts->format_count)
		return ut_err_set(err, -EINVAL,
				  "-o %s: the name does not tell the format; add --format",
				  opts->output);
	if (!opts->format_count)
		opts->formats[opts->format_count++] = named ? named : ut_exporters[0];
	return 0;
}

bool ut_output_has_pattern(const char *text)
{
	for (const char *p = strchr(text, '%'); p; p = strchr(p, '%')) {
		if (p[1] && strchr("phrq", p[1]))
			return true;
		p += p[1] ? 2 : 1;
	}
	return false;
}

/* %q{VAR}, with p behind the q. Returns the end, NULL if the braces are not right. */
static const char *expand_variable(struct ut_buf *b, const char *p)
{
	const char *close = *p == '{' ? strchr(p, '}') : NULL;
	char name[256];
	size_t len;

	if (!close || (size_t)(close - p) > sizeof(name))
		return NULL;
	len = (size_t)(close - p - 1);
	memcpy(name, p + 1, len);
	name[len] = '\0';
	ut_buf_text(b, getenv(name) ? getenv(name) : "");
	return close + 1;
}

static void expand_host(struct ut_buf *b)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	ut_buf_text(b, host);
}

int ut_output_expand(struct ut_arena *a, const char *text, const struct ut_output_who *who,
		     const char **out, struct ut_err *err)
{
	struct ut_buf b = { 0 };
	const char *p = text;

	while (p && *p) {
		if (*p != '%') {
			ut_buf_char(&b, *p++);
			continue;
		}
		p += 2;
		switch (p[-1]) {
		case 'p':
			ut_buf_fmt(&b, "%u", who->pid);
			break;
		case 'r':
			ut_buf_fmt(&b, "%d", who->rank < 0 ? 0 : who->rank);
			break;
		case 'h':
			expand_host(&b);
			break;
		case '%':
			ut_buf_char(&b, '%');
			break;
		case 'q':
			p = expand_variable(&b, p);
			break;
		default:
			p = NULL;
		}
	}
	*out = ut_buf_take(&b, a);
	if (!p)
		return ut_err_set(err, -EINVAL,
				  "'%s': after %% only p, h, r, q{VAR} and %% are known", text);
	return 0;
}

/* A pipe or a device: written in place, by all, and never numbered. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static bool is_free(const struct ut_output_names *n, const char *path)
{
	for (size_t i = 0; i < n->taken_count; i++) {
		if (!strcmp(n->taken[i].path, path))
			return false;
	}
	return n->opts->overwrite || !ut_path_exists(path);
}

static void output_names_take(struct ut_output_names *n, const char *path, const char *wanted)
{
	if (n->taken_count == n->taken_cap) {
		size_t cap = n->taken_cap ? n->taken_cap * 2 : 16;
		struct ut_output_name *taken = UT_NEW_N(n->arena, struct ut_output_name, cap);

		if (n->taken_count)
			memcpy(taken, n->taken, n->taken_count * sizeof(*taken));
		n->taken = taken;
		n->taken_cap = cap;
	}
	n->taken[n->taken_count++] = (struct ut_output_name){ path, wanted };
}

const char *ut_output_wanted(const struct ut_output_names *n, const char *path)
{
	for (size_t i = n->taken_count; i > 0; i--) {
		if (!strcmp(n->taken[i - 1].path, path))
			return n->taken[i - 1].wanted;
	}
	return path;
}

/* The name itself or, if it is in use, the first of NAME-2, NAME-3, ... that is not. */
static const char *output_names_claim(struct ut_output_names *n, const char *path)
{
	const char *wanted = path;
	char number[16];

	if (!strcmp(path, "-") || is_special(path))
		return path;
	for (unsigned int i = 2; !is_free(n, path); i++) {
		snprintf(number, sizeof(number), "-%u", i);
		path = ut_path_insert(n->arena, wanted, number);
	}
	/* Who chose a name himself may read the old file and believe that it is the new one. */
	if (path != wanted && n->opts->output && ut_path_exists(wanted) && !n->taken_count)
		ut_session_notify_text(
			n->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
						   .level = UT_WARN },
			"%s exists already and is kept; --overwrite would replace it", wanted);
	output_names_take(n, path, wanted);
	return path;
}

/* What the program is called, fit for a file name. */
static const char *file_part(struct ut_arena *a, const char *app)
{
	char *name = ut_arena_copy(a, app[0] ? app : "app", app[0] ? strlen(app) : 3);

	for (char *p = name; *p; p++) {
		if (*p == '/' || iscntrl((unsigned char)*p))
			*p = '_';
	}
	return name;
}

static const char *pid_and_rank(struct ut_arena *a, const struct ut_output_who *who)
{
	if (who->rank < 0)
		return ut_str_fmt(a, ".%u", who->pid);
	return ut_str_fmt(a, ".%u.%d", who->pid, who->rank);
}

const char *ut_output_process_dir(struct ut_arena *a, const char *result_dir,
				  const struct ut_output_who *who)
{
	const char *rank = who->rank < 0 ? "" : ut_str_fmt(a, "rank_%d.", who->rank);

	return ut_path_join(a, result_dir,
			    ut_str_fmt(a, "%s%s.%u", rank, file_part(a, who->app), who->pid));
}

/* The timeline under the name that -o gave. */
static const char *named_timeline(struct ut_output_names *n, const struct ut_output_who *who,
				  const struct ut_exporter *format, const char *dir,
				  const char *name)
{
	const struct ut_exporter *named = ut_exporter_by_file(name);

	/* A second format beside the one that the name tells: same name, its own suffix. */
	if (named && named != format)
		name = ut_str_fmt(n->arena, "%.*s%s", (int)(ut_path_suffix(name) - name), name,
				  format->suffix);
	if (is_special(ut_path_join(n->arena, dir, name)))
		return name;
	if (ut_output_has_pattern(n->opts->output) || n->opts->export_mode)
		return name;
	/* Each rank has a launcher of its own: all of them would take the plain name. */
	if (who->first && who->rank < 0)
		return name;
	return ut_path_insert(n->arena, name, pid_and_rank(n->arena, who));
}

int ut_output_timeline(struct ut_output_names *n, const struct ut_output_who *who,
		       const struct ut_exporter *format, const char **path, struct ut_err *err)
{
	const struct ut_output_opts *opts = n->opts;
	const char *dir = NULL, *name;
	int rc = 0;

	if (opts->result_dir) {
		dir = ut_output_process_dir(n->arena, opts->result_dir, who);
		name = ut_str_fmt(n->arena, "%s_trace%s", format->name, format->suffix);
		*path = output_names_claim(n, ut_path_join(n->arena, dir, name));
		return 0;
	}
	if (opts->dir)
		rc = ut_output_expand(n->arena, opts->dir, who, &dir, err);
	if (!rc && ut_output_is_timeline(opts)) {
		rc = ut_output_expand(n->arena, opts->output, who, &name, err);
		if (!rc)
			name = named_timeline(n, who, format, dir, name);
	} else {
		name = ut_str_fmt(n->arena, "%s%s%s", file_part(n->arena, who->app),
				  pid_and_rank(n->arena, who), format->suffix);
	}
	if (rc)
		return rc;
	*path = strcmp(name, "-") ? output_names_claim(n, ut_path_join(n->arena, dir, name)) : name;
	return 0;
}

int ut_output_converted(struct ut_output_names *n, const struct ut_output_who *who,
			const char *input, const struct ut_exporter *format, const char **path,
			struct ut_err *err)
{
	const char *base = strcmp(input, "-") ? ut_path_base(input) : "stdin", *dir = NULL;
	int rc;

	if (n->opts->output)
		return ut_output_timeline(n, who, format, path, err);
	rc = n->opts->dir ? ut_output_expand(n->arena, n->opts->dir, who, &dir, err) : 0;
	if (rc)
		return rc;
	base = ut_str_fmt(n->arena, "%.*s%s", (int)(ut_path_suffix(base) - base), base,
			  format->suffix);
	*path = output_names_claim(n, ut_path_join(n->arena, dir, base));
	return 0;
}

int ut_output_report(struct ut_output_names *n, const struct ut_output_who *who, const char *kind,
		     const char **path, struct ut_err *err)
{
	const struct ut_output_opts *opts = n->opts;
	const char *name;
	int rc;

	*path = NULL;
	if (opts->result_dir) {
		name = ut_str_fmt(n->arena, "%s.txt", kind);
		*path = output_names_claim(
			n,
			ut_path_join(n->arena,
				     ut_output_process_dir(n->arena, opts->result_dir, who), name));
		return 0;
	}
	if (!opts->output || ut_output_is_timeline(opts))
		return 0;
	rc = ut_output_expand(n->arena, opts->output, who, &name, err);
	if (rc)
		return rc;
	if (!ut_output_has_pattern(opts->output) && !is_special(name))
		name = ut_path_insert(n->arena, name, pid_and_rank(n->arena, who));
	*path = output_names_claim(n, name);
	return 0;
}

/* ---- hardware metrics ------------------------------------------------------------------------ */

#define MODULES ".modules"

/* "perf.metrics.123.csv" of "perf.csv", whoever the suffix belongs to. */
static const char *metrics_name(struct ut_output_names *n, const struct ut_output_who *who,
				const char *word, const char *name)
{
	const char *base = ut_path_base(name), *dot = strchr(base, '.');

	if (n->opts->output &&
	    ut_output_has_pattern(n->opts->output)) { /* it has its numbers already */
		dot = dot && dot != base ? dot : base + strlen(base);
		return ut_str_fmt(n->arena, "%.*s.%s%s", (int)(dot - name), name, word, dot);
	}
	return ut_path_insert(n->arena, name,
			      ut_str_fmt(n->arena, ".%s%s", word, pid_and_rank(n->arena, who)));
}

int ut_output_metrics(struct ut_output_names *n, const struct ut_output_who *who, const char *word,
		      int32_t device, const char **path, struct ut_err *err)
{
	const struct ut_output_opts *opts = n->opts;
	const char *dir = NULL, *name = NULL;
	int rc = 0;

	if (opts->result_dir) {
		dir = ut_output_process_dir(n->arena, opts->result_dir, who);
		name = ut_str_fmt(n->arena, "metrics/%s_%d.csv", word, (int)device);
		*path = output_names_claim(n, ut_path_join(n->arena, dir, name));
		return 0;
	}
	if (opts->output && strcmp(opts->output, "-"))
		rc = ut_output_expand(n->arena, opts->output, who, &name, err);
	if (!rc && opts->dir && (!opts->output || ut_output_is_timeline(opts)))
		rc = ut_output_expand(n->arena, opts->dir, who, &dir, err);
	if (rc)
		return rc;
	if (!name || is_special(name))
		name = ut_str_fmt(n->arena, "%s.csv", file_part(n->arena, who->app));
	else if (ut_output_is_timeline(opts))
		name = ut_str_fmt(n->arena, "%.*s.csv", (int)(ut_path_suffix(name) - name), name);
	*path = output_names_claim(n,
				   ut_path_join(n->arena, dir, metrics_name(n, who, word, name)));
	return 0;
}

const char *ut_output_modules(struct ut_arena *a, const struct ut_output_opts *opts,
			      const char *metrics, const char *word)
{
	const char *base = ut_path_base(metrics), *at = NULL, *rest, *suffix;
	const char *sign = ut_str_fmt(a, ".%s", word);

	if (opts->result_dir)
		return ut_path_join(a, ut_path_dir(a, ut_path_dir(a, metrics)), "modules");
	for (const char *p = strstr(base, sign); p; p = strstr(p + 1, sign))
		at = p;
	if (!at)
		return ut_str_fmt(a, "%s" MODULES, metrics);
	rest = at + strlen(sign);
	suffix = ut_path_suffix(rest);
	/* What looks like a suffix may be a process id. */
	if (!suffix[0] || (suffix[1] >= '0' && suffix[1] <= '9'))
		suffix = rest + strlen(rest);
	return ut_str_fmt(a, "%.*s" MODULES "%.*s", (int)(at - metrics), metrics,
			  (int)(suffix - rest), rest);
}
