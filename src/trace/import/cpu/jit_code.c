#include "import/cpu/jit_code.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/mapped.h"
#include "base/sort.h"
#include "base/str.h"
#include "model/trace.h"
#include "wire/cpu_file.h"

#define MOST_FUNCTIONS (1u << 24)
#define MOST_BYTES     (UINT64_C(1) << 32) /* of a function */
#define MODULE         "[jit]"

void ut_jit_code_init(struct ut_jit_code *j, struct ut_trace *trace)
{
	*j = (struct ut_jit_code){ .trace = trace };
}

void ut_jit_code_release(struct ut_jit_code *j)
{
	for (size_t i = 0; i < 2; i++) {
		if (j->files[i].map) {
			ut_mapped_remove(j->files[i].map);
			munmap(j->files[i].map, j->files[i].size);
		}
	}
	free(j->functions);
	free(j->furthest);
	free(j->lines);
	*j = (struct ut_jit_code){ 0 };
}

void ut_jit_code_add_line(struct ut_jit_code *j, const struct ut_jit_line *line)
{
	j->lines = ut_grow_raw(j->lines, j->line_count + 1, &j->line_cap, sizeof(*j->lines));
	j->lines[j->line_count++] = *line;
}

void ut_jit_code_add(struct ut_jit_code *j, const struct ut_jit_function *f)
{
	uint32_t before = j->count ? j->functions[j->count - 1].first_line +
					     j->functions[j->count - 1].line_count
				   : 0;

	if (f->end <= f->start || f->end - f->start > MOST_BYTES || j->count >= MOST_FUNCTIONS) {
		j->line_count = before;
		return;
	}
	j->functions = ut_grow_raw(j->functions, j->count + 1, &j->cap, sizeof(*j->functions));
	j->functions[j->count] = *f;
	j->functions[j->count].order = (uint32_t)j->count;
	j->functions[j->count].first_line = before;
	j->functions[j->count++].line_count = (uint32_t)j->line_count - before;
	free(j->furthest); /* they have to be sorted again */
	j->furthest = NULL;
}

/* ---- /tmp/perf-PID.map: "START SIZE NAME", numbers in hex ------------------------------------ */

static bool take_hex(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;

	*value = 0;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (*at = p; p < end && p - *at < 16; p++) {
		int digit = *p >= '0' && *p <= '9'   ? *p - '0'
			    : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
			    : *p >= 'A' && *p <= 'F' ? *p - 'A' + 10
						     : -1;

		if (digit < 0)
			break;
		*value = *value << 4 | (uint64_t)digit;
	}
	if (p == *at || p == end || *p != ' ')
		return false;
	*at = p + 1;
	return true;
}

void ut_jit_code_read_map(struct ut_jit_code *j, const char *text, size_t len)
{
	const char *stop = text + len;

	while (text < stop) {
		const char *line = text, *end = memchr(text, '\n', (size_t)(stop - text));
		struct ut_jit_function f = { .start = 0 };
		uint64_t size;

		if (!end)
			return; /* its writer was not finished */
		text = end + 1;
		if (!take_hex(&line, end, &f.start) || !take_hex(&line, end, &size) ||
		    line == end || size > UINT64_MAX - f.start)
			continue;
		f.end = f.start + size;
		f.text = line;
		f.text_len = (size_t)(end - line);
		ut_jit_code_add(j, &f);
	}
}

/* ---- jitdump ------------------------------------------------------------------------------- */

#define DUMP_MAGIC 0x4a695444u

enum {
	DUMP_LOAD = 0,
	DUMP_MOVE = 1,
	DUMP_LINES = 2,
};

struct dump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct dump_record {
	uint32_t type, size;
	uint64_t time;
};

struct dump_load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct dump_line {
	uint64_t address;
	uint32_t line, discriminator;
};

static void on_load(struct ut_jit_code *j, uint64_t time, const char *at, const char *end)
{
	struct dump_load r;
	size_t room = (size_t)(end - at) - sizeof(r);

	if ((size_t)(end - at) < sizeof(r))
		return;
	memcpy(&r, at, sizeof(r));
	if (r.size > UINT64_MAX - r.address)
		return;
	ut_jit_code_add(j, &(struct ut_jit_function){ .start = r.address,
						      .end = r.address + r.size,
						      .time = time,
						      .text = at + sizeof(r),
						      .text_len = strnlen(at + sizeof(r), room) });
}

/* The same code somewhere else; what it is called was told when it was loaded. */
static void on_move(struct ut_jit_code *j, uint64_t time, const char *at, const char *end)
{
	struct dump_move r;

	if ((size_t)(end - at) < sizeof(r))
		return;
	memcpy(&r, at, sizeof(r));
	for (size_t i = j->count; i-- > 0;) {
		struct ut_jit_function f = j->functions[i];

		if (f.start != r.from || r.size > UINT64_MAX - r.to)
			continue;
		f.start = r.to;
		f.end = r.to + r.size;
		f.time = time;
		ut_jit_code_add(j, &f);
		return;
	}
}

/* Come before the function that they are of. A name of "\xff" is the one before. */
static void on_lines(struct ut_jit_code *j, const char *at, const char *end)
{
	uint64_t head[2]; /* address, how many */
	uint32_t file = 0;
	struct dump_line l;

	if ((size_t)(end - at) < sizeof(head))
		return;
	memcpy(head, at, sizeof(head));
	at += sizeof(head);
	for (; head[1] && (size_t)(end - at) > sizeof(l); head[1]--) {
		size_t len;

		memcpy(&l, at, sizeof(l));
		at += sizeof(l);
		len = strnlen(at, (size_t)(end - at));
		if (at + len == end)
			return;
		if (len != 1 || *at != '\xff')
			file = ut_strtab_intern(&j->trace->strings, at, len);
		ut_jit_code_add_line(j, &(struct ut_jit_line){ l.address, l.line, file });
		at += len + 1;
	}
}

void ut_jit_code_read_dump(struct ut_jit_code *j, const char *bytes, size_t len)
{
	const char *end = bytes + len;
	struct dump_header h;
	struct dump_record r;

	if (len < sizeof(h))
		return;
	memcpy(&h, bytes, sizeof(h));
	if (h.magic != DUMP_MAGIC || h.size < sizeof(h) || h.size > len)
		return;
	for (bytes += h.size; (size_t)(end - bytes) >= sizeof(r); bytes += r.size) {
		const char *body = bytes + sizeof(r), *stop;

		memcpy(&r, bytes, sizeof(r));
		if (r.size < sizeof(r) || r.size > (size_t)(end - bytes))
			return;
		stop = bytes + r.size;
		if (h.flags & 1) /* ticks of the CPU: nobody knows how long they are */
			r.time = 0;
		if (r.type == DUMP_LOAD)
			on_load(j, r.time, body, stop);
		else if (r.type == DUMP_MOVE)
			on_move(j, r.time, body, stop);
		else if (r.type == DUMP_LINES)
			on_lines(j, body, stop);
	}
}

/* ---- files --------------------------------------------------------------------------------- */

static bool map_kept(struct ut_jit_code *j, size_t which, const char *cpu_path, const char *name)
{
	char path[4200];
	struct stat st;
	void *map;
	int fd;

	if (snprintf(path, sizeof(path), "%s" UT_CPU_KEPT_FOLDER "/%s", cpu_path, name) >=
	    (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	map = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0
		      ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
		      : MAP_FAILED;
	close(fd);
	if (map == MAP_FAILED)
		return false;
	j->files[which].map = map;
	j->files[which].size = (size_t)st.st_size;
	ut_mapped_add(map, (size_t)st.st_size, path);
	return true;
}

void ut_jit_code_open(struct ut_jit_code *j, const char *cpu_path)
{
	if (map_kept(j, 0, cpu_path, UT_CPU_KEPT_MAP))
		ut_jit_code_read_map(j, j->files[0].map, j->files[0].size);
	if (map_kept(j, 1, cpu_path, UT_CPU_KEPT_DUMP))
		ut_jit_code_read_dump(j, j->files[1].map, j->files[1].size);
}

/* ---- questions ----------------------------------------------------------------------------- */

static int jit_code_by_start(const void *a, const void *b)
{
	const struct ut_jit_function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void jit_code_finalize(struct ut_jit_code *j)
{
	uint64_t furthest = 0;

	ut_sort(j->functions, j->count, sizeof(*j->functions), jit_code_by_start);
	j->furthest = ut_make(j->count * sizeof(*j->furthest));
	for (size_t i = 0; i < j->count; i++) {
		furthest = j->functions[i].end > furthest ? j->functions[i].end : furthest;
		j->furthest[i] = furthest;
	}
}

/* Behind the last function that starts at or before the address. */
static size_t find_place(const struct ut_jit_code *j, uint64_t address)
{
	size_t low = 0, high = j->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (j->functions[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Of two that hold the address: what was there at the time; of those, the one that came last. */
static bool is_better(const struct ut_jit_function *f, const struct ut_jit_function *than,
		      uint64_t time)
{
	bool there = f->time <= time, there_too = !than || than->time <= time;

	if (!than || there != there_too)
		return !than || there;
	if (f->time == than->time)
		return f->order > than->order;
	return there == (f->time > than->time);
}

/* "PATH:LINE:COLUMN", or without the column: where the numbers begin. */
static size_t path_len(const char *s, size_t len, uint32_t *line)
{
	size_t end = len;

	for (int i = 0; i < 2; i++) {
		size_t at = end;
		uint32_t number = 0, digits = 0;

		while (at && s[at - 1] >= '0' && s[at - 1] <= '9')
			at--;
		for (size_t k = at; k < end && digits < 9; k++, digits++)
			number = number * 10 + (uint32_t)(s[k] - '0');
		if (!digits || !at || s[at - 1] != ':')
			break;
		end = at - 1;
		*line = number;
	}
	return end;
}

/*
 * V8 puts all it knows into the name: "JS:*fib /srv/app.js:3:14", with a mark for how well it has
 * been compiled. To whoever wrote it it is one function, fib, at a line of app.js.
 */
static void take_name(struct ut_jit_code *j, const struct ut_jit_function *f,
		      struct ut_place_in_code *code)
{
	struct ut_strtab *strings = &j->trace->strings;
	struct ut_str s = { f->text, f->text_len };
	const char *blank = f->text ? memrchr(f->text, ' ', f->text_len) : NULL;
	size_t len, skip = ut_str_has_start(s, "JS:")            ? 3
			   : ut_str_has_start(s, "LazyCompile:") ? 12
			   : ut_str_has_start(s, "Function:")    ? 9
								 : 0;
	uint32_t line = 0;

	code->function = f->text ? ut_strtab_intern(strings, f->text, f->text_len) : f->name;
	if (!skip || !blank || blank < f->text + skip)
		return;
	len = path_len(blank + 1, f->text_len - (size_t)(blank + 1 - f->text), &line);
	skip += strchr("*~^+", f->text[skip]) != NULL;
	if (!line || !len || f->text + skip >= blank)
		return;
	code->function =
		ut_strtab_intern(strings, f->text + skip, (size_t)(blank - f->text) - skip);
	code->file = ut_strtab_intern(strings, blank + 1, len);
	code->line = line;
}

static void jit_code_take_line(const struct ut_jit_code *j, const struct ut_jit_function *f,
			       uint64_t address, struct ut_place_in_code *code)
{
	const struct ut_jit_line *lines = f->line_count ? &j->lines[f->first_line] : NULL;
	const struct ut_jit_line *found = NULL;

	for (uint32_t i = 0; i < f->line_count; i++) {
		if (f->lines_end && lines[i].address > address) {
			found = &lines[i];
			break;
		}
		if (!f->lines_end && lines[i].address <= address)
			found = &lines[i];
	}
	if (!found)
		return;
	code->line = found->line;
	code->file = found->file ? found->file : f->file;
}

size_t ut_jit_code_find(struct ut_jit_code *j, uint64_t address, uint64_t time,
			struct ut_place_in_code *code)
{
	const struct ut_jit_function *found = NULL;
	size_t count = 0;

	if (!j->count)
		return 0;
	if (!j->furthest)
		jit_code_finalize(j);
	for (size_t i = find_place(j, address); i-- > 0 && j->furthest[i] > address;) {
		const struct ut_jit_function *f = &j->functions[i];

		if (f->end <= address)
			continue;
		count++;
		if (is_better(f, found, time))
			found = f;
	}
	if (!found)
		return 0;
	*code = (struct ut_place_in_code){ .address = address, .file = found->file };
	code->module = ut_strtab_intern_z(&j->trace->strings, MODULE);
	take_name(j, found, code);
	jit_code_take_line(j, found, address, code);
	return count;
}
