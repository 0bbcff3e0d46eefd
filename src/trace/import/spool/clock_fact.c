/*
 * clock_fact.c - what a launcher has measured about the clock of its host (wire/host_clock.h), as a
 * fact about the processes that it started.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/str.h"
#include "import/spool/state.h"
#include "wire/host_clock.h"

#define MOST_BYTES   (4u << 20) /* of the file: half a year of samples */
#define REPORTED_MAX 256u       /* of many, the best one of each stretch of time */

struct sample {
	int64_t at, add;
	uint64_t error;
};

/* The text of the file; NULL if there is none. */
static char *clock_fact_read_text(const char *spool)
{
	const char *slash = strrchr(spool, '/');
	struct ut_buf path = { 0 };
	char *text = NULL;
	size_t len = 0, cap = 0;
	ssize_t n;
	int fd;

	if (slash)
		ut_buf_add(&path, spool, (size_t)(slash + 1 - spool));
	ut_buf_text(&path, UT_HOST_CLOCK_FILE);
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ut_buf_release(&path);
	if (fd < 0)
		return NULL;
	do {
		text = ut_grow_raw(text, len + 4097, &cap, 1);
		n = read(fd, text + len, 4096);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < MOST_BYTES);
	close(fd);
	text[len] = '\0';
	return text;
}

/* A line that was written whole; what is not one is passed over. */
static bool clock_fact_read_sample(const char *line, struct sample *s)
{
	char *end;

	errno = 0;
	s->at = strtoll(line, &end, 10);
	s->add = *end == ' ' ? strtoll(end + 1, &end, 10) : 0;
	if (*end != ' ' || end[1] == '-')
		return false;
	s->error = strtoull(end + 1, &end, 10);
	return *end == '\n' && !errno;
}

static struct sample *read_samples(const char *text, size_t *count)
{
	struct sample *all = NULL, one;
	size_t cap = 0;

	*count = 0;
	for (const char *line = strchr(text, '\n'); line && line[1];
	     line = strchr(line + 1, '\n')) {
		if (!clock_fact_read_sample(line + 1, &one))
			continue;
		all = ut_grow(all, *count + 1, &cap, sizeof(*all));
		all[(*count)++] = one;
	}
	return all;
}

/* The first, the last, and of as many stretches as have room the best. */
static void clock_fact_put_samples(struct ut_buf *json, const struct sample *all, size_t count)
{
	size_t backend_data = count < REPORTED_MAX ? count : REPORTED_MAX;

	for (size_t i = 0; i < backend_data; i++) {
		size_t from = i * count / backend_data, to = (i + 1) * count / backend_data,
		       best = from;

		for (size_t k = from; i && i + 1 < backend_data && k < to; k++)
			best = all[k].error < all[best].error ? k : best;
		best = i && i + 1 == backend_data ? count - 1 : best;
		ut_buf_fmt(json, "%s[%" PRId64 ",%" PRId64 ",%" PRIu64 "]", i ? "," : "",
			   all[best].at, all[best].add, all[best].error);
	}
}

static bool clock_fact_is_name(const char *id)
{
	return strlen(id) == UT_CLOCK_ID - 1 && strspn(id, "0123456789abcdef") == UT_CLOCK_ID - 1;
}

void ut_spool_clock_fact(struct ut_trace *trace, uint32_t process, const char *spool)
{
	char *text = clock_fact_read_text(spool), id[UT_CLOCK_ID + 1] = "",
	     reference[UT_CLOCK_ID + 1] = "";
	struct ut_buf json = { 0 };
	struct sample *samples;
	size_t count;

	if (!text)
		return;
	if (sscanf(text, UT_HOST_CLOCK_HEAD "%17s %17s", id, reference) == 2 &&
	    clock_fact_is_name(id)) {
		samples = read_samples(text, &count);
		ut_buf_fmt(&json, "{\"id\":\"%s\"", id);
		if (clock_fact_is_name(reference)) {
			ut_buf_fmt(&json, ",\"reference\":\"%s\",\"samples\":[", reference);
			clock_fact_put_samples(&json, samples, count);
			ut_buf_text(&json, "]");
		}
		ut_buf_text(&json, "}");
		ut_process_add_fact(trace, process, "host_clock",
				    (struct ut_str){ json.data, json.len });
		free(samples);
	}
	ut_buf_release(&json);
	free(text);
}
