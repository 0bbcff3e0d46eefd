/*
 * read.c - what took most of the time, asked of a trace by a program: read TRACE...
 *
 *	cc read.c $(pkg-config --cflags --libs unitrace-read)
 *
 * link: unitrace_read
 */
#include <inttypes.h>
#include <stdio.h>

#include "unitrace/read.h"

static const char sql[] = "select name, count(*), sum(dur) from slice group by name "
			  "order by 3 desc limit 10";

/* Columns: texts lie one behind the other, and where each begins is a number. */
static void print_rows(const struct ArrowArray *rows)
{
	const struct ArrowArray *name = rows->children[0];
	const int32_t *begins = name->buffers[1];
	const char *text = name->buffers[2];
	const int64_t *count = rows->children[1]->buffers[1];
	const int64_t *total = rows->children[2]->buffers[1];

	for (int64_t i = 0; i < rows->length; i++)
		printf("%-24.*s %8" PRId64 " %12.3f ms\n", begins[i + 1] - begins[i],
		       text + begins[i], count[i], (double)total[i] / 1e6);
}

static int ask(struct unitrace_trace *trace, struct unitrace_error *error)
{
	struct ArrowArrayStream answer;
	struct ArrowArray rows;
	int rc = unitrace_query(trace, sql, &answer, error);

	if (rc)
		return rc;
	while (!answer.get_next(&answer, &rows) && rows.release) {
		print_rows(&rows);
		rows.release(&rows);
	}
	answer.release(&answer);
	return 0;
}

int main(int argc, char **argv)
{
	struct unitrace_trace *trace;
	struct unitrace_error error;
	int rc = unitrace_open(&trace, (const char *const *)argv + 1, (size_t)argc - 1, NULL,
			       &error);

	if (!rc) {
		rc = ask(trace, &error);
		unitrace_close(trace);
	}
	if (rc)
		fprintf(stderr, "read: %s\n", error.text);
	return rc ? 1 : 0;
}
