#include "metrics/metric_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/metric_list.h"
#include "text/embed.h"
#include "text/file_text.h"

UT_EMBED_BYTES(ut_metric_groups_nvidia, UT_SHARE_DIR "/metrics/nvidia.ini");

#define MOST_BYTES (1u << 20) /* of a file of groups: people write them */

/* ---- reading --------------------------------------------------------------------------------- */

static struct ut_str metric_groups_keep(struct ut_metric_groups *g, struct ut_str s)
{
	return (struct ut_str){ ut_arena_copy(&g->arena, s.ptr, s.len), s.len };
}

/* What is read later is found first: a new group stands before all others. */
static struct ut_metric_group *metric_groups_add_group(struct ut_metric_groups *g, size_t at)
{
	g->items = ut_grow(g->items, g->count + 1, &g->cap, sizeof(*g->items));
	memmove(&g->items[at + 1], &g->items[at], (g->count - at) * sizeof(*g->items));
	g->count++;
	g->items[at] = (struct ut_metric_group){ .modes = UT_METRIC_QUERY | UT_METRIC_SAMPLING };
	return &g->items[at];
}

/* "[NAME]", "[NAME query]", "[NAME sampling]" */
static bool metric_groups_read_head(struct ut_metric_groups *g, struct ut_metric_group *group,
				    struct ut_str line)
{
	struct ut_str rest, name;

	if (line.ptr[line.len - 1] != ']')
		return false;
	rest = ut_str_trim((struct ut_str){ line.ptr + 1, line.len - 2 });
	name = ut_metric_piece(&rest, ' ');
	rest = ut_str_trim(rest);
	if (!name.len || memchr(name.ptr, '\n', name.len))
		return false;
	if (ut_str_is(rest, "query"))
		group->modes = UT_METRIC_QUERY;
	else if (ut_str_is(rest, "sampling"))
		group->modes = UT_METRIC_SAMPLING;
	else if (rest.len)
		return false;
	group->name = metric_groups_keep(g, name);
	return true;
}

/* Names of metrics have no blanks, and nothing that would tear a list or a table apart. */
static bool is_metric(struct ut_str names)
{
	for (size_t i = 0; i < names.len; i++) {
		char c = names.ptr[i];

		if ((unsigned char)c <= ' ' || strchr("\",[]=", c))
			return false;
		if (c == '|' && (!i || i + 1 == names.len || names.ptr[i + 1] == '|'))
			return false;
	}
	return names.len > 0;
}

/* "[UNIT] TEXT"; either may be missing. */
static bool metric_groups_read_value(struct ut_metric_groups *g, struct ut_metric_line *to,
				     struct ut_str value)
{
	if (value.len && value.ptr[0] == '[') {
		const char *end = memchr(value.ptr, ']', value.len);

		if (!end)
			return false;
		to->unit = metric_groups_keep(
			g, (struct ut_str){ value.ptr + 1, (size_t)(end - value.ptr) - 1 });
		if (memchr(to->unit.ptr, ',', to->unit.len) ||
		    memchr(to->unit.ptr, '\t', to->unit.len))
			return false;
		value.len -= (size_t)(end + 1 - value.ptr);
		value.ptr = end + 1;
	}
	to->about = metric_groups_keep(g, ut_str_trim(value));
	return true;
}

static bool metric_groups_read_line(struct ut_metric_groups *g, struct ut_metric_group *group,
				    struct ut_str line)
{
	struct ut_str value = line, key = ut_str_trim(ut_metric_piece(&value, '='));
	struct ut_metric_line *to;

	value = ut_str_trim(value);
	if (ut_str_is(key, "about")) {
		group->about = metric_groups_keep(g, value);
		return true;
	}
	if (ut_str_is(key, "like")) {
		group->like = metric_groups_keep(g, value);
		return true;
	}
	if (!is_metric(key))
		return false;
	group->lines = ut_grow(group->lines, group->line_count + 1, &group->line_cap,
			       sizeof(*group->lines));
	to = &group->lines[group->line_count++];
	*to = (struct ut_metric_line){ .names = metric_groups_keep(g, key) };
	return metric_groups_read_value(g, to, value);
}

int ut_metric_groups_read(struct ut_metric_groups *g, const char *file, struct ut_str text,
			  struct ut_err *err)
{
	struct ut_metric_group *group = NULL;
	struct ut_str rest = text;
	size_t number = 0, groups = 0;

	while (rest.len) {
		struct ut_str line = ut_str_trim(ut_metric_piece(&rest, '\n'));
		bool good;

		number++;
		if (!line.len || line.ptr[0] == '#' || line.ptr[0] == ';')
			continue;
		if (line.ptr[0] == '[') {
			group = metric_groups_add_group(g, groups++);
			good = metric_groups_read_head(g, group, line);
		} else {
			good = group && metric_groups_read_line(g, group, line);
		}
		if (!good)
			return ut_err_set(
				err, -EINVAL,
				"%s:%zu: neither [GROUP], [GROUP query], [GROUP sampling] "
				"nor METRIC = [UNIT] TEXT below one of them",
				file, number);
	}
	for (size_t i = 0; i < groups; i++) {
		if (!g->items[i].line_count)
			return ut_err_set(err, -EINVAL, "%s: the group %s has no metric", file,
					  g->items[i].name.ptr);
	}
	return 0;
}

int ut_metric_groups_open(struct ut_metric_groups *g, const char *path, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	int rc = ut_file_text(path, MOST_BYTES, &text, err);

	if (!rc)
		rc = ut_metric_groups_read(
			g, path, (struct ut_str){ text.data ? text.data : "", text.len }, err);
	ut_buf_release(&text);
	return rc;
}

void ut_metric_groups_init(struct ut_metric_groups *g)
{
	static const char *const ends[] = { ut_metric_groups_nvidia, ut_metric_groups_nvidia_end };
	size_t len = (size_t)(ends[1] - ends[0]);
	struct ut_err err = { 0 };

	*g = (struct ut_metric_groups){ 0 };
	if (ut_metric_groups_read(g, "nvidia.ini", (struct ut_str){ ut_metric_groups_nvidia, len },
				  &err))
		abort(); /* it is ours, and tested */
}

void ut_metric_groups_release(struct ut_metric_groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->items[i].lines);
	free(g->items);
	ut_arena_release(&g->arena);
	*g = (struct ut_metric_groups){ 0 };
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool metric_groups_same(struct ut_str a, const char *b)
{
	return a.len == strlen(b) && !strncasecmp(a.ptr, b, a.len);
}

static bool is_like(const struct ut_metric_group *group, const char *name)
{
	struct ut_str rest = group->like;

	while (rest.len) {
		if (metric_groups_same(ut_metric_piece(&rest, ' '), name))
			return true;
	}
	return false;
}

static const struct ut_metric_group *metric_groups_find(const struct ut_metric_groups *g,
							const char *name, enum ut_metric_mode mode,
							bool like)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct ut_metric_group *group = &g->items[i];

		if (group->modes & mode &&
		    (like ? is_like(group, name) : metric_groups_same(group->name, name)))
			return group;
	}
	return NULL;
}

int ut_metric_groups_find(const struct ut_metric_groups *g, const char *name,
			  enum ut_metric_mode mode, const struct ut_metric_group **group,
			  struct ut_err *err)
{
	struct ut_buf names = { 0 };
	int rc;

	*group = metric_groups_find(g, name, mode, false);
	if (!*group)
		*group = metric_groups_find(g, name, mode, true);
	if (*group)
		return 0;
	for (size_t i = 0; i < g->count; i++) {
		if (g->items[i].modes & mode)
			ut_buf_fmt(&names, "%s%s", names.len ? ", " : "", g->items[i].name.ptr);
	}
	rc = ut_err_set(err, -ENOENT, "--group %s: no such group for %s; there are: %s", name,
			mode == UT_METRIC_QUERY ? "--metric-query" : "--metric-sampling",
			names.data ? names.data : "none");
	ut_buf_release(&names);
	return rc;
}

void ut_metric_group_list(const struct ut_metric_group *group, struct ut_buf *to)
{
	for (size_t i = 0; i < group->line_count; i++)
		ut_buf_fmt(to, "%s\t%s\n", group->lines[i].names.ptr,
			   group->lines[i].unit.ptr ? group->lines[i].unit.ptr : "");
}

/* ---- printing -------------------------------------------------------------------------------- */

static const char *metric_groups_type_of(const struct ut_metric_line *line, struct ut_str name)
{
	return ut_str_is(line->unit, "ns")    ? "UINT64, DURATION"
	       : ut_str_has_end(name, ".sum") ? "UINT64, EVENT"
	       : ut_str_is(line->unit, "%")   ? "FLOAT64, RATIO"
					      : "FLOAT64, THROUGHPUT";
}

static void print_metric(const struct ut_metric_group *group, size_t number,
			 const struct ut_metric_line *line, struct ut_buf *to)
{
	struct ut_str rest = line->names, name = ut_metric_piece(&rest, '|');

	ut_buf_fmt(to, "\tMetric %zu: %.*s", number, (int)name.len, name.ptr);
	if (line->unit.len)
		ut_buf_fmt(to, "[%s]", line->unit.ptr);
	if (line->about.len)
		ut_buf_fmt(to, " (%s)", line->about.ptr);
	ut_buf_fmt(to, " [%s, %s]\n", metric_groups_type_of(line, name), group->name.ptr);
}

void ut_metric_groups_print(const struct ut_metric_groups *g, size_t first, struct ut_buf *to)
{
	const struct ut_metric_line time = { .names = ut_str_of("GpuTime"),
					     .unit = ut_str_of("ns"),
					     .about = ut_str_of("time that the values are about") };

	for (size_t i = 0; i < g->count; i++) {
		const struct ut_metric_group *group = &g->items[i];

		ut_buf_fmt(to, "%sGroup %zu: %s (%s%s)\n", first + i ? "\n" : "", first + i,
			   group->name.ptr, group->about.len ? group->about.ptr : group->name.ptr,
			   group->modes == UT_METRIC_QUERY      ? "; -q"
			   : group->modes == UT_METRIC_SAMPLING ? "; -k"
								: "");
		print_metric(group, 0, &time, to);
		for (size_t n = 0; n < group->line_count; n++)
			print_metric(group, n + 1, &group->lines[n], to);
	}
}
