/*
 * chrome_echo.c - many small traces through import and export in one process, for tests.
 *
 * Reads lines "THREADS PATH". For each one writes a line of JSON, {"rc", "error", "warnings",
 * "bytes", "stable"}, and the trace as Chrome JSON behind it. stable says whether that text, read
 * and written again, is itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/exporter.h"
#include "import/importer.h"
#include "text/out.h"

static void put_text(struct ut_out *o, const char *key, const char *text)
{
	ut_out_text(o, key);
	ut_out_json_str(o, text, strlen(text));
}

static void collect(void *ctx, const char *path, const char *text)
{
	struct ut_out *warnings = ctx;
	size_t len;

	(void)path;
	ut_out_data(warnings, &len);
	put_text(warnings, len ? "," : "", text);
}

static struct ut_out *export_store(struct ut_store *store)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_sink *sink = ut_export_chrome.open(out);

	ut_store_send(store, 0, sink);
	ut_export_chrome.end_trace(sink, &store->trace);
	ut_export_chrome.close(sink);
	return out;
}

/* The text as a file without a name. */
static bool is_stable(const char *text, size_t len)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct ut_store store;
	struct ut_out *again;
	const char *other;
	char path[64];
	size_t other_len;
	bool same = false;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, text, len) == (ssize_t)len &&
	    !ut_import(path, NULL, &store, NULL)) {
		again = export_store(&store);
		other = ut_out_data(again, &other_len);
		same = len == other_len && !memcmp(text, other, len);
		if (!same && getenv("CHROME_ECHO_SHOW"))
			fprintf(stderr, "%.*s\n", (int)other_len, other);
		ut_out_abandon(again);
		ut_store_release(&store);
	}
	if (fd >= 0)
		close(fd);
	return same;
}

static void echo(unsigned int threads, const char *path)
{
	struct ut_out *warnings = ut_out_open_memory(), *out = NULL, *head = ut_out_open_memory();
	const struct ut_import_opts opts = { .threads = threads, .warn = collect, .ctx = warnings };
	struct ut_err err = { 0 };
	struct ut_store store;
	const char *text = "", *data;
	size_t len = 0, n;
	int rc = ut_import(path, &opts, &store, &err);

	if (!rc) {
		out = export_store(&store);
		text = ut_out_data(out, &len);
		ut_store_release(&store);
	}
	ut_out_fmt(head, "{\"rc\":%d", rc);
	put_text(head, ",\"error\":", err.text);
	ut_out_text(head, ",\"warnings\":[");
	data = ut_out_data(warnings, &n);
	ut_out_write(head, data, n);
	ut_out_fmt(head, "],\"bytes\":%zu,\"stable\":%s}\n", len,
		   rc || is_stable(text, len) ? "true" : "false");
	data = ut_out_data(head, &n);
	fwrite(data, 1, n, stdout);
	fwrite(text, 1, len, stdout);
	ut_out_abandon(warnings);
	ut_out_abandon(head);
	ut_out_abandon(out);
}

int main(void)
{
	char *line = NULL, *path;
	size_t cap = 0;
	ssize_t len;

	while ((len = getline(&line, &cap, stdin)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		path = strchr(line, ' ');
		if (path)
			echo((unsigned int)atoi(line), path + 1);
		fflush(stdout);
	}
	free(line);
	return 0;
}
