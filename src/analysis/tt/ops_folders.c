#include "tt/ops_folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define UT_LOG_MODULE "tt"
#include "base/logger.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "ops/report.h"
#include "ops/report_columns.h"
#include "text/csv_read.h"
#include "tt/ops_folders_device.h"

#define HOST_LOG   "profile_log_host.csv"
#define DEVICE_LOG "profile_log_device.csv"

/* Groups of columns, in order. */
enum {
	FIXED,
	INPUTS,
	OUTPUTS,
	DEPTH,
	API,
};

/* The first columns, in order. */
enum {
	OP_CODE,
	OP_TYPE,
	CALL,
	ATTRIBUTES,
	FIDELITY,
	CORES,
	STRATEGY,
	HOST_START,
	HOST_END,
	HOST_TIME,
	FW_START,
	FW_END,
	TIMES, /* as in ops_folders_device.h */
};

static const char *const fixed[] = {
	"OP CODE",
	"OP TYPE",
	"GLOBAL CALL COUNT",
	"ATTRIBUTES",
	"MATH FIDELITY",
	"CORE COUNT",
	"PARALLELIZATION STRATEGY",
	"HOST START TS",
	"HOST END TS",
	"HOST DURATION [ns]",
	"DEVICE FW START CYCLE",
	"DEVICE FW END CYCLE",
	"DEVICE FW DURATION [ns]",
	"DEVICE KERNEL DURATION [ns]",
	"DEVICE BRISC KERNEL DURATION [ns]",
	"DEVICE NCRISC KERNEL DURATION [ns]",
	"DEVICE TRISC0 KERNEL DURATION [ns]",
	"DEVICE TRISC1 KERNEL DURATION [ns]",
	"DEVICE TRISC2 KERNEL DURATION [ns]",
	NULL,
};

_Static_assert(sizeof(fixed) / sizeof(fixed[0]) == TIMES + UT_OPS_TIMES + 1, "a name each");

/* The fields of a host log, in the order of `titles`. */
enum {
	NAME,
	START,
	STOP,
	DELTA,
	GLOBAL,
	NTH,
	STACK,
	IN,
	OUT,
	MATH,
	PARALLEL,
	PREFERRED,
	META,
	TYPE,
	FIELDS
};

static const char *const titles[FIELDS] = {
	"Name",
	"Start timer count [ns]",
	"Stop timer count [ns]",
	"Delta timer count [ns]",
	"Global Call Count",
	"Call Count",
	"Stack Size",
	"Inputs",
	"Outputs",
	"Math Fidelity",
	"Parallelization Strategy",
	"Preferred Name",
	"Meta Data",
	"Type",
};

#define MOST_APIS 64u /* there are about six */

/* A call of the API, and the first of its two columns. */
struct known {
	const char *name;
	uint32_t column;
};

struct reader {
	struct ut_ops_report *r;
	const struct ut_logger *logger;
	const char *folder;
	const char *device; /* the folder of the other run; NULL = there is none */
	uint32_t first, depth;
	size_t field[FIELDS];
	const char *op;    /* name of its folder */
	const char *lacks; /* the columns that its log does not have; NULL = it has all */
	struct ut_csv csv;
	struct ut_buf why; /* what is wrong with the row */
	struct ut_ops_tensors inputs, outputs;
	struct known apis[MOST_APIS]; /* up to the first without a name */
};

/* ---- texts --------------------------------------------------------------------------------- */

static struct ut_str ops_folders_get(const struct reader *d, int field)
{
	return ut_csv_field(&d->csv, d->field[field]);
}

static void ops_folders_put(struct reader *d, uint32_t column, struct ut_str text)
{
	ut_ops_put(d->r, d->first + column, text);
}

/* Where the last `word` begins; s.len if it is not in s. */
static size_t find_last(struct ut_str s, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = s.len >= len ? s.len - len + 1 : 0; i-- > 0;) {
		if (!memcmp(s.ptr + i, word, len))
			return i;
	}
	return s.len;
}

static struct ut_str ops_folders_behind(struct ut_str s, size_t n)
{
	return (struct ut_str){ s.ptr + n, s.len - n };
}

/* The class without its namespaces: what follows the last tt_metal of a name that begins in tt. */
static struct ut_str ops_folders_short_name(struct ut_str name)
{
	size_t at = find_last(name, "tt_metal");
	struct ut_str rest;

	if (at == name.len || find_last((struct ut_str){ name.ptr, at }, "tt") == at)
		return name;
	rest = ops_folders_behind(name, at + strlen("tt_metal"));
	while (rest.len && *rest.ptr == ':')
		rest = ops_folders_behind(rest, 1);
	while (rest.len && *rest.ptr >= '0' && *rest.ptr <= '9')
		rest = ops_folders_behind(rest, 1);
	return rest;
}

static void ops_folders_put_code(struct reader *d, uint64_t depth)
{
	static const char space[] = "tt::tt_metal::";
	struct ut_str name = ops_folders_short_name(ops_folders_get(d, NAME)),
		      preferred = ops_folders_get(d, PREFERRED);
	size_t at = find_last(preferred, space);
	struct ut_buf b = { 0 };
	struct ut_str code;

	for (uint64_t i = 0; i < depth; i++)
		ut_buf_char(&b, ' ');
	ut_buf_add(&b, name.ptr, name.len);
	if (at < preferred.len)
		preferred = ops_folders_behind(preferred, at + strlen(space));
	if (preferred.len && !ut_str_is(ops_folders_get(d, TYPE), "tt_dnn_device")) {
		ut_buf_char(&b, '_');
		ut_buf_add(&b, preferred.ptr, preferred.len);
	}
	code.len = b.len;
	code.ptr = ut_buf_take(&b, &d->r->arena);
	ops_folders_put(d, OP_CODE, code);
}

static void ops_folders_complain(struct reader *d, const char *what)
{
	ut_buf_text(&d->why, d->why.len ? "; " : "");
	ut_buf_text(&d->why, what);
}

/* ---- tensors ------------------------------------------------------------------------------- */

static struct ut_str ops_folders_cut(struct ut_str *rest, char separator)
{
	const char *end = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
	struct ut_str head = *rest;

	if (end) {
		head.len = (size_t)(end - rest->ptr);
		*rest = ops_folders_behind(*rest, head.len + 1);
	} else {
		*rest = ops_folders_behind(*rest, rest->len);
	}
	return head;
}

/* "W_Z_Y_X|LAYOUT|TYPE|MEMORY"; the columns of all tensors in front of it are there, too. */
static bool put_tensor(struct reader *d, struct ut_ops_tensors *t, uint32_t index,
		       struct ut_str text)
{
	struct ut_str shape = ops_folders_cut(&text, '|'), part[UT_OPS_TENSOR_FIELDS];
	size_t n = 0;

	while (shape.len && n < 4)
		part[n++] = ops_folders_cut(&shape, '_');
	if (n != 4 || shape.len)
		return false;
	while (text.len && n < UT_OPS_TENSOR_FIELDS)
		part[n++] = ops_folders_cut(&text, '|');
	if (n != UT_OPS_TENSOR_FIELDS || text.len)
		return false;
	for (uint32_t i = 0; i <= index; i++) {
		for (uint32_t k = 0; k < UT_OPS_TENSOR_FIELDS; k++)
			ut_ops_tensor_column(t, d->r, i, k);
	}
	for (uint32_t k = 0; k < UT_OPS_TENSOR_FIELDS; k++)
		ut_ops_put(d->r, ut_ops_tensor_column(t, d->r, index, k), part[k]);
	return true;
}

static void put_tensors(struct reader *d, struct ut_ops_tensors *t, struct ut_str list)
{
	for (uint32_t i = 0; list.len && i < UT_OPS_MOST_TENSORS; i++) {
		struct ut_str one = ops_folders_cut(&list, '-');

		if (one.len && !put_tensor(d, t, i, one))
			ops_folders_complain(d, t->output ? "an output that is no tensor"
							  : "an input that is no tensor");
	}
}

/* ---- what a call did ----------------------------------------------------------------------- */

static void ops_folders_put_device(struct reader *d, const char *path)
{
	struct ut_err err = { 0 };
	struct ut_ops_device device;

	if (ut_ops_device_read(&device, path, &err)) {
		ops_folders_complain(d, err.text);
		return;
	}
	ut_ops_put_u64(d->r, d->first + CORES, device.cores);
	ut_ops_put_u64(d->r, d->first + FW_START, device.start);
	ut_ops_put_u64(d->r, d->first + FW_END, device.end);
	for (uint32_t i = 0; i < UT_OPS_TIMES; i++) {
		if (device.found[i])
			ut_ops_put_u64(d->r, d->first + TIMES + i, device.ns[i]);
	}
}

struct api {
	char *name; /* NULL closes the list */
	uint64_t count, sum;
};

/* The columns of the 64 first names are remembered. */
static uint32_t api_column(struct reader *d, const char *name)
{
	uint32_t column;
	size_t i = 0;

	while (i < MOST_APIS && d->apis[i].name && strcmp(d->apis[i].name, name) != 0)
		i++;
	if (i < MOST_APIS && d->apis[i].name)
		return d->apis[i].column;
	column = ut_ops_call_column(d->r, API, name, 0);
	ut_ops_call_column(d->r, API, name, 1);
	if (i < MOST_APIS)
		d->apis[i] = (struct known){ name, column };
	return column;
}

static void put_api(struct reader *d, const struct api *api)
{
	uint32_t column = api_column(d, api->name);

	if (column >= UT_OPS_MOST_COLUMNS - 1) /* the other one may not have found room */
		return;
	ut_ops_put_u64(d->r, column, api->count);
	ut_ops_put_u64(d->r, column + 1, api->sum / api->count);
}

static void add_api(struct api *list, struct ut_arena *a, struct ut_str name, uint64_t ns)
{
	size_t i = 0;

	while (list[i].name && !ut_str_is(name, list[i].name))
		i++;
	if (i == MOST_APIS)
		return;
	if (!list[i].name)
		list[i].name = ut_arena_copy(a, name.ptr, name.len);
	list[i].count++;
	list[i].sum += ns;
}

static void put_apis(struct reader *d, const char *path)
{
	struct ut_csv csv = { .separator = ',', .trim = true };
	struct api list[MOST_APIS + 1] = { 0 };
	struct ut_err err = { 0 };
	size_t name, delta;
	uint64_t ns;

	if (ut_csv_open(&csv, &d->r->arena, path, &err)) {
		ops_folders_complain(d, err.text);
		return;
	}
	name = ut_csv_find(&csv, titles[NAME]);
	delta = ut_csv_find(&csv, titles[DELTA]);
	while (ut_csv_next(&csv)) {
		if (ut_csv_number(ut_csv_field(&csv, delta), &ns))
			add_api(list, &d->r->arena, ut_csv_field(&csv, name), ns);
		else
			ops_folders_complain(d, "a call of the API without a time");
	}
	ut_csv_close(&csv);
	for (size_t i = 0; list[i].name; i++)
		put_api(d, &list[i]);
}

static const char *call_log(struct reader *d, const char *folder, const char *file)
{
	struct ut_str nth = ops_folders_get(d, NTH);
	const char *path = ut_str_fmt(&d->r->arena, "%s/%s/%.*s/%s", folder, d->op, (int)nth.len,
				      nth.ptr, file);

	return ut_path_exists(path) ? path : NULL;
}

static void ops_folders_put_call(struct reader *d)
{
	const char *device = d->device ? call_log(d, d->device, DEVICE_LOG) : NULL;
	const char *api = call_log(d, d->folder, HOST_LOG);

	if (device)
		ops_folders_put_device(d, device);
	else if (ut_str_is(ops_folders_get(d, TYPE), "tt_dnn_device"))
		d->r->missing++;
	if (api)
		put_apis(d, api);
}

/* ---- rows ---------------------------------------------------------------------------------- */

#define MOST_DEPTH 1000u /* blanks in front of a name */

static void ops_folders_add_row(struct reader *d)
{
	static const struct {
		uint32_t column;
		int field;
	} plain[] = {
		{ OP_TYPE, TYPE },  { CALL, GLOBAL },       { ATTRIBUTES, META },
		{ FIDELITY, MATH }, { STRATEGY, PARALLEL }, { HOST_START, START },
		{ HOST_END, STOP }, { HOST_TIME, DELTA },
	};
	struct ut_ops_report *r = d->r;
	size_t first = r->cell_count;
	struct ut_ops_row *row;
	uint64_t call, depth, nth, ns;

	d->why.len = 0;
	if (d->lacks)
		ops_folders_complain(d, d->lacks);
	if (!ut_csv_number(ops_folders_get(d, GLOBAL), &call) || call > INT64_MAX) {
		ops_folders_complain(d, "no Global Call Count");
		call = INT64_MAX;
	}
	if (!ut_csv_number(ops_folders_get(d, STACK), &depth) || depth > MOST_DEPTH) {
		ops_folders_complain(d, "no Stack Size");
		depth = 0;
	}
	if (!ut_csv_number(ops_folders_get(d, DELTA), &ns))
		ops_folders_complain(d, "no host time");
	ops_folders_put_code(d, depth);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (d->field[plain[i].field] != UT_CSV_NO_FIELD)
			ops_folders_put(d, plain[i].column, ops_folders_get(d, plain[i].field));
	}
	ut_ops_put(r, d->depth, ops_folders_get(d, STACK));
	put_tensors(d, &d->inputs, ops_folders_get(d, IN));
	put_tensors(d, &d->outputs, ops_folders_get(d, OUT));
	if (ut_csv_number(ops_folders_get(d, NTH), &nth))
		ops_folders_put_call(d);
	else
		ops_folders_complain(d, "no Call Count: no device times, no calls of the API");
	if (d->why.len)
		ut_ops_put_problem(r, d->why.data);
	row = ut_ops_row_add(r);
	row->when = (int64_t)call;
	row->turn = r->row_count;
	row->parts[0] = ut_ops_since(r, first);
}

/* An op of which nothing but its name can be told. */
static void add_bad_op(struct reader *d, const char *why)
{
	size_t first = d->r->cell_count;
	struct ut_ops_row *row;

	ops_folders_put(d, OP_CODE, (struct ut_str){ d->op, strlen(d->op) });
	ut_ops_put_problem(d->r, why);
	row = ut_ops_row_add(d->r);
	row->when = INT64_MAX;
	row->turn = d->r->row_count;
	row->parts[0] = ut_ops_since(d->r, first);
}

/* Where the columns are, in whatever order. */
static void find_fields(struct reader *d)
{
	struct ut_buf lacks = { 0 };

	for (int i = 0; i < FIELDS; i++) {
		d->field[i] = ut_csv_find(&d->csv, titles[i]);
		if (d->field[i] == UT_CSV_NO_FIELD)
			ut_buf_fmt(&lacks, "%s'%s'", lacks.len ? ", " : "no column ", titles[i]);
	}
	d->lacks = lacks.len ? ut_buf_take(&lacks, &d->r->arena) : NULL;
}

static void read_op(struct reader *d)
{
	const char *path = ut_str_fmt(&d->r->arena, "%s/%s/" HOST_LOG, d->folder, d->op);
	struct ut_err err = { 0 };

	if (!ut_path_exists(path)) {
		ut_logger_log(d->logger, UT_WARN, "%s: missing; %s is left out", path, d->op);
		return;
	}
	d->csv = (struct ut_csv){ .separator = ',', .trim = true };
	if (ut_csv_open(&d->csv, &d->r->arena, path, &err)) {
		add_bad_op(d, err.text);
		return;
	}
	find_fields(d);
	if (d->field[NAME] == UT_CSV_NO_FIELD)
		add_bad_op(d, ut_str_fmt(&d->r->arena, "%s: %s", path, d->lacks));
	while (d->field[NAME] != UT_CSV_NO_FIELD && ut_csv_next(&d->csv))
		ops_folders_add_row(d);
	ut_csv_close(&d->csv);
}

bool ut_ops_folder_has_ops(const char *folder)
{
	DIR *dir = opendir(folder);
	struct ut_arena a = { 0 };
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = *entry->d_name != '.' &&
			ut_path_exists(ut_str_fmt(&a, "%s/%s/" HOST_LOG, folder, entry->d_name));
	if (dir)
		closedir(dir);
	ut_arena_release(&a);
	return found;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ops, by name: a folder lists its files in no particular order. */
static int list_ops(struct reader *d, struct ut_opt_list *ops, struct ut_err *err)
{
	DIR *dir = opendir(d->folder);
	const struct dirent *entry;

	if (!dir)
		return ut_err_set(err, -errno, "%s: %s; -i names the folder of the ops' logs",
				  d->folder, strerror(errno));
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (*name != '.' && !strstr(name, "unknown") &&
		    ut_path_is_dir(ut_path_join(&d->r->arena, d->folder, name)))
			ut_opt_list_add(ops, ut_arena_copy(&d->r->arena, name, strlen(name)));
	}
	closedir(dir);
	if (!ops->count)
		return ut_err_set(err, -ENOENT,
				  "%s: no ops in it; -i names the folder of their logs, or a trace",
				  d->folder);
	qsort(ops->items, ops->count, sizeof(*ops->items), compare_names);
	return 0;
}

int ut_ops_read_folder(struct ut_ops_report *r, const char *folder, const struct ut_logger *logger,
		       struct ut_err *err)
{
	size_t len = strlen(folder);
	struct reader d = { .r = r,
			    .logger = logger,
			    .inputs.group = INPUTS,
			    .outputs = { .group = OUTPUTS, .output = true } };
	struct ut_opt_list ops = { 0 };
	int rc;

	while (len > 1 && folder[len - 1] == '/')
		len--;
	d.folder = ut_arena_copy(&r->arena, folder, len);
	d.device = ut_str_fmt(&r->arena, "%s_device", d.folder);
	d.device = ut_path_is_dir(d.device) ? d.device : NULL;
	d.first = ut_ops_columns(r, fixed, FIXED, "-");
	d.depth = ut_ops_column(
		r, &(struct ut_ops_column){ .name = "CALL DEPTH", .group = DEPTH, .missing = "-" });
	rc = list_ops(&d, &ops, err);
	for (size_t i = 0; !rc && i < ops.count; i++) {
		d.op = ops.items[i];
		read_op(&d);
	}
	if (!rc && !r->row_count)
		rc = ut_err_set(err, -ENOENT, "%s: no op has a " HOST_LOG, folder);
	ut_opt_list_release(&ops);
	ut_buf_release(&d.why);
	return rc;
}
