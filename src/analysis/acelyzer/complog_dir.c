#include "acelyzer/complog_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "text/source.h"

struct entry {
	double cycles;
	struct ut_str cat; /* raw */
};

static ssize_t complog_dir_read_source(void *ctx, void *to, size_t len, struct ut_err *err)
{
	return ut_source_read(ctx, to, len, err);
}

/* {"ideal_cycles": N, "op_category": S} at the cursor. */
static bool read_entry(struct ut_json *j, struct entry *e)
{
	struct ut_str key, value;
	struct ut_json_number n;

	*e = (struct entry){ 0 };
	if (ut_json_peek(j) != '{')
		return ut_json_skip(j, NULL);
	ut_json_enter(j);
	while (ut_json_member(j, &key)) {
		if (!ut_json_skip(j, &value))
			return false;
		if (ut_str_is(key, "ideal_cycles") && ut_json_number(value, &n) != UT_JSON_NOT)
			e->cycles = n.f64;
		else if (ut_str_is(key, "op_category") && *value.ptr == '"')
			e->cat = (struct ut_str){ value.ptr + 1, value.len - 2 };
	}
	return !j->trouble;
}

static void read_entries(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			 struct ut_json *j, uint32_t kernel)
{
	struct ut_ace_ideal *t = &log->tables[log->table_count];
	struct entry e;
	bool more;

	do {
		ut_json_mark(j);
		do
			more = ut_json_element(j) && read_entry(j, &e);
		while (!more && ut_json_again(j));
		if (more) {
			struct ut_ace_ideal_row row = { .kernel = kernel, .cycles = e.cycles };

			row.cat = e.cat.len ? ut_strtab_intern(&r->table->strings, e.cat.ptr,
							       e.cat.len)
					    : ut_strtab_intern_z(&r->table->strings, "other");
			ut_ace_complog_row(r, log, t, &row);
		}
	} while (more);
}

static void read_kernel(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			const char *dir, const char *name)
{
	char path[4096], kernel[512];
	struct ut_source source;
	struct ut_err err = { 0 };
	struct ut_json j;

	if (snprintf(path, sizeof(path), "%s/inductor-spyre/%s/perf/ideal_cycles.json", dir,
		     name) >= (int)sizeof(path) ||
	    snprintf(kernel, sizeof(kernel), "%s Cmpt Exec", name) >= (int)sizeof(kernel) ||
	    ut_source_open(&source, path, &err))
		return; /* not every folder is a kernel's */
	ut_json_init(&j, complog_dir_read_source, &source, 0);
	ut_json_mark(&j);
	while (!ut_json_peek(&j) && ut_json_again(&j))
		;
	if (j.at < j.end && *j.at == '[') {
		ut_json_enter(&j);
		read_entries(r, log, &j, ut_strtab_intern_z(&r->table->strings, kernel));
	}
	ut_json_release(&j);
	ut_source_close(&source);
}

int ut_ace_complog_dir(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
		       const char *dir, struct ut_err *err)
{
	struct dirent **names;
	char path[4096];
	int n;

	if (snprintf(path, sizeof(path), "%s/inductor-spyre", dir) >= (int)sizeof(path))
		return ut_err_set(err, -ENAMETOOLONG, "%s: name too long", dir);
	n = scandir(path, &names, NULL, alphasort);
	if (n < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	ut_ace_complog_begin(r, log, "UNKN");
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.')
			read_kernel(r, log, dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	ut_ace_complog_end(r, log);
	return 0;
}
