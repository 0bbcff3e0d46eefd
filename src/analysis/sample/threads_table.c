#include "sample/threads_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/size.h"
#include "base/str.h"
#include "sample/threads.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/table_report.h"

#define NAME_COLUMNS   48
#define MOST_PROCESSES 8   /* that have a line of their own */
#define PROCESS        10  /* column of threads */
#define ENOUGH         50u /* samples, to say something about a region */
#define UNEVEN         80  /* percent of balance: below it is worth a word */

const char *const ut_threads_table_words[UT_THREADS_TABLES] = {
#define UT_THREADS_WORD(table, word, heading) word,
	UT_THREADS_TABLE_LIST(UT_THREADS_WORD)
#undef UT_THREADS_WORD
};

static const char *const headings[UT_THREADS_TABLES] = {
#define UT_THREADS_HEADING(table, word, heading) heading,
	UT_THREADS_TABLE_LIST(UT_THREADS_HEADING)
#undef UT_THREADS_HEADING
};

#define TIME(k, t)  .key = k, .title = t, .unit = "ns", .type = UT_REPORT_TIME
#define SHARE(k, t) .key = k, .title = t, .unit = "%", .type = UT_REPORT_SHARE
#define COUNT(k, t) .key = k, .title = t, .type = UT_REPORT_COUNT
#define TEXT(k, t)  .key = k, .title = t, .type = UT_REPORT_TEXT, .most = NAME_COLUMNS

static const struct ut_report_column thread_columns[] = {
	{ TIME("cpu", "CPU"), .rest = true },
	{ TIME("working", "Working") },
	{ TIME("spinning", "Spinning"), .if_any = true },
	{ TIME("waiting", "Waiting"), .if_any = true },
	{ TIME("ready", "Ready"), .if_any = true },
	{ COUNT("switches", "Waits"), .if_any = true },
	{ COUNT("preemptions", "Preempted"), .if_any = true },
	{ COUNT("migrations", "Moved"), .if_any = true },
	{ TEXT("name", "Thread") },
	{ COUNT("tid", "TID") },
	{ .key = "process", .title = "Process", .type = UT_REPORT_TEXT, .if_any = true },
	{ .key = "pid", .title = "PID", .type = UT_REPORT_COUNT, .if_any = true },
};

static const struct ut_report_column cpu_columns[] = {
	{ COUNT("cpus", "CPUs") },      { TIME("elapsed", "Elapsed") },
	{ SHARE("share", "%") },        { TEXT("bar", ""), .readers = UT_FOR_PEOPLE },
	{ TEXT("process", "Process") }, { COUNT("pid", "PID") },
};

static const struct ut_report_column region_columns[] = {
	{ TIME("cpu", "CPU"), .rest = true },
	{ COUNT("threads", "Threads") },
	{ TIME("busiest", "Busiest") },
	{ SHARE("balance", "Balance") },
	{ TIME("lost", "Lost") },
	{ TEXT("name", "Region") },
	{ TEXT("module", "Module") },
};

static const struct ut_report_column wait_columns[] = {
	{ TIME("waited", "Waited"), .rest = true },
	{ COUNT("count", "Times") },
	{ TIME("longest", "Longest") },
	{ COUNT("threads", "Threads") },
	{ TEXT("kind", "For") },
	{ TEXT("name", "In") },
	{ TEXT("caller", "Called from"), .if_any = true },
};

#define TABLE(columns)                                                                             \
	{                                                                                          \
		columns, sizeof(columns) / sizeof((columns)[0]), .ruled = true                     \
	}

static const struct ut_report_table tables[UT_THREADS_TABLES] = {
	[UT_THREADS_TABLE_THREADS] = TABLE(thread_columns),
	[UT_THREADS_TABLE_CPUS] = TABLE(cpu_columns),
	[UT_THREADS_TABLE_REGIONS] = TABLE(region_columns),
	[UT_THREADS_TABLE_WAITS] = TABLE(wait_columns),
};

int ut_threads_check_sort(enum ut_threads_table which, const char *sort, struct ut_err *err)
{
	return ut_report_check_sort(&tables[which], sort, err);
}

static struct ut_report_cell threads_table_string(const struct ut_threads *t, uint32_t id)
{
	return id ? ut_report_str(ut_strtab_get(&t->strings, id)) : ut_report_none();
}

/* Of what a thread ran, the part that its samples say was spinning. */
static uint64_t spinning(const struct ut_thread_row *r)
{
	return r->sampled ? (uint64_t)((double)r->ran * ((double)r->spun / (double)r->sampled)) : 0;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static struct ut_report_cell if_known(const struct ut_thread_row *r, uint64_t value)
{
	return r->has_counts ? ut_report_u64(value) : ut_report_none();
}

/* People know whose threads they are if there is one process. */
static void add_threads(struct ut_report *report, const struct ut_threads *t)
{
	bool whose = !ut_report_for_people(report) || t->process_count > 1;

	for (size_t i = 0; i < t->count; i++) {
		const struct ut_thread_row *r = &t->rows[i];
		const struct ut_threads_process *p = &t->processes[r->process];
		struct ut_report_cell cells[] = {
			ut_report_u64(r->ran),
			ut_report_u64(r->ran - spinning(r)),
			ut_report_u64(spinning(r)),
			if_known(r, r->waited),
			if_known(r, r->ready),
			if_known(r, r->switches),
			if_known(r, r->preemptions),
			if_known(r, r->migrations),
			threads_table_string(t, r->name),
			ut_report_u64(r->tid),
			ut_report_none(),
			ut_report_none(),
		};

		if (whose && (!r->together || !ut_report_for_people(report))) {
			cells[PROCESS] = threads_table_string(t, p->name);
			cells[PROCESS + 1] = ut_report_u64(p->pid);
		}
		ut_report_add(report, cells);
	}
}

static void add_cpus(struct ut_report *report, const struct ut_threads *t)
{
	static const char bar[] = "########################################";

	for (size_t i = 0; i < t->process_count; i++) {
		const struct ut_threads_process *p = &t->processes[i];

		for (size_t n = 0; n < p->at_once_count; n++) {
			double share = p->elapsed ? (double)p->at_once[n] / (double)p->elapsed : 0;
			const struct ut_report_cell cells[] = {
				ut_report_u64(n),
				ut_report_u64(p->at_once[n]),
				ut_report_real(100 * share),
				ut_report_str((struct ut_str){
					bar, (size_t)(share * (sizeof(bar) - 1) + 0.5) }),
				threads_table_string(t, p->name),
				ut_report_u64(p->pid),
			};

			ut_report_add(report, cells);
		}
	}
}

static void add_region(struct ut_report *report, const struct ut_threads *t,
		       const struct ut_region_row *r)
{
	struct ut_str module = ut_strtab_get(&t->strings, r->module);
	const struct ut_report_cell cells[] = {
		ut_report_u64(r->ran),
		ut_report_u64(r->threads),
		ut_report_u64(r->most),
		ut_report_real(ut_region_balance(r)),
		/* what the others waited for the busiest one */
		ut_report_u64(r->most * r->threads - r->ran),
		threads_table_string(t, r->name),
		ut_report_for_people(report) ? ut_report_text(ut_path_base(module.ptr))
					     : ut_report_str(module),
	};

	ut_report_add(report, cells);
}

/* What one thread alone has run is a function that the library uses itself. */
static void add_regions(struct ut_report *report, const struct ut_threads *t)
{
	for (size_t i = 0; i < t->region_count; i++) {
		if (t->regions[i].threads > 1)
			add_region(report, t, &t->regions[i]);
	}
}

static void add_waits(struct ut_report *report, const struct ut_threads *t)
{
	for (size_t i = 0; i < t->wait_count; i++) {
		const struct ut_wait_row *r = &t->waits[i];
		const struct ut_report_cell cells[] = {
			ut_report_u64(r->waited),           ut_report_u64(r->count),
			ut_report_u64(r->longest),          ut_report_u64(r->threads),
			threads_table_string(t, r->kind),   threads_table_string(t, r->name),
			threads_table_string(t, r->caller),
		};

		ut_report_add(report, cells);
	}
}

void ut_threads_print(struct ut_out *out, const struct ut_threads *t, enum ut_threads_table which,
		      const struct ut_report_opts *opts)
{
	static void (*const add[UT_THREADS_TABLES])(struct ut_report *,
						    const struct ut_threads *) = {
		[UT_THREADS_TABLE_THREADS] = add_threads,
		[UT_THREADS_TABLE_CPUS] = add_cpus,
		[UT_THREADS_TABLE_REGIONS] = add_regions,
		[UT_THREADS_TABLE_WAITS] = add_waits,
	};
	struct ut_report *report = ut_report_start(out, opts, &tables[which]);

	add[which](report, t);
	ut_report_finish(report);
}

bool ut_threads_has(const struct ut_threads *t, enum ut_threads_table which)
{
	switch ((int)which) {
	case UT_THREADS_TABLE_THREADS:
		return t->count;
	case UT_THREADS_TABLE_REGIONS:
		return t->region_count;
	case UT_THREADS_TABLE_WAITS:
		return t->wait_count;
	default:
		for (size_t i = 0; i < t->process_count; i++) {
			if (t->processes[i].at_once_count)
				return true;
		}
		return false;
	}
}

/* ---- in words ------------------------------------------------------------------------------ */

static void say_parallel(struct ut_buf *b, const struct ut_threads_process *p)
{
	uint64_t one = p->at_once_count > 1 ? p->at_once[1] : 0;

	ut_buf_fmt(b, "%.2f CPUs were busy on average", (double)p->ran / (double)p->elapsed);
	if (!p->at_once_count || !p->switches)
		return;
	ut_buf_fmt(b, ", %zu at most; none for %.0f%% of the time, one for %.0f%%",
		   p->at_once_count - 1, 100.0 * (double)p->at_once[0] / (double)p->elapsed,
		   100.0 * (double)one / (double)p->elapsed);
}

static void say_lost(struct ut_buf *b, const struct ut_threads *t)
{
	uint64_t ran = 0, spun = 0, ready = 0, together = 0;
	char time[32];

	for (size_t i = 0; i < t->count; i++) {
		ran += t->rows[i].ran;
		together += t->rows[i].together ? t->rows[i].ran : 0;
		spun += spinning(&t->rows[i]);
		ready += t->rows[i].ready;
	}
	if (together)
		ut_buf_fmt(b, "; programs and threads without samples used %s more",
			   ut_time_text(time, sizeof(time), together));
	if (ran && spun > ran / 100)
		ut_buf_fmt(b, "; %.0f%% of the CPU time (%s) was spinning",
			   100.0 * (double)spun / (double)ran,
			   ut_time_text(time, sizeof(time), spun));
	if (ran && ready > ran / 20)
		ut_buf_fmt(b, "; threads stood in line for a CPU for %s",
			   ut_time_text(time, sizeof(time), ready));
}

static int busiest_first(const void *a, const void *b)
{
	const struct ut_threads_process *const *x = a, *const *y = b;

	if ((*x)->ran != (*y)->ran)
		return (*x)->ran < (*y)->ran ? 1 : -1;
	return ((*x)->pid > (*y)->pid) - ((*x)->pid < (*y)->pid);
}

/* One line, or one for each process. How many are known. */
static size_t say_processes(struct ut_buf *b, const struct ut_threads *t)
{
	const struct ut_threads_process **known =
		ut_make((t->process_count + 1) * sizeof(struct ut_threads_process *));
	uint64_t ran = 0;
	size_t count = 0;
	char time[32];

	for (size_t i = 0; i < t->process_count; i++) {
		if (!t->processes[i].elapsed)
			continue;
		known[count++] = &t->processes[i];
		ran += t->processes[i].ran;
	}
	qsort(known, count, sizeof(struct ut_threads_process *), busiest_first);
	if (count == 1)
		say_parallel(b, known[0]);
	else if (count)
		ut_buf_fmt(b, "%zu processes used %s of CPU time", count,
			   ut_time_text(time, sizeof(time), ran));
	for (size_t i = 0; count > 1 && i < count; i++) {
		struct ut_str name = ut_strtab_get(&t->strings, known[i]->name);

		if (i == MOST_PROCESSES) {
			ut_buf_fmt(b, "\n  and %zu more", count - i);
			break;
		}
		ut_buf_text(b, "\n  ");
		ut_cell_name(b, name.ptr, name.len, 40);
		ut_buf_fmt(b, " (%" PRIu64 "): ", known[i]->pid);
		say_parallel(b, known[i]);
	}
	free(known);
	return count;
}

void ut_threads_summary_text(struct ut_buf *b, const struct ut_threads *t)
{
	size_t processes = say_processes(b, t);
	struct ut_buf more = { 0 };

	if (!processes)
		return;
	say_lost(&more, t);
	if (t->region_count && t->regions[0].threads > 1 && t->regions[0].samples >= ENOUGH &&
	    ut_region_balance(&t->regions[0]) < UNEVEN) {
		struct ut_str name = ut_strtab_get(&t->strings, t->regions[0].name);

		ut_buf_text(&more, "; ");
		ut_cell_name(&more, name.ptr, name.len, 60);
		ut_buf_fmt(&more, " is uneven: %.0f%% balance over %" PRIu32 " threads",
			   ut_region_balance(&t->regions[0]), t->regions[0].threads);
	}
	if (more.len && processes == 1)
		ut_buf_add(b, more.data, more.len);
	else if (more.len)
		ut_buf_fmt(b, "\n  %s", more.data + 2);
	ut_buf_release(&more);
}

void ut_threads_heading(struct ut_out *out, enum ut_threads_table which)
{
	ut_out_fmt(out, "\n%s\n\n", headings[which]);
}
