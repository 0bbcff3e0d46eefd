/*
 * fuzz_chrome.c - libFuzzer target: any bytes as a Chrome trace.
 *
 * What is accepted must be exported as UTF-8 that is accepted again without a repair, and reading
 * and writing that once more must not change it (if the input was UTF-8).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "export/exporter.h"
#include "text/out.h"
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_warning(void *ctx, const char *path, const char *text)
{
	(void)path;
	(void)text;
	++*(unsigned int *)ctx;
}

static int load(const void *data, size_t size, struct ut_store *store, unsigned int *warnings)
{
	const struct ut_import_opts opts = { .warn = count_warning, .ctx = warnings };

	return load_trace_with(&opts, data, size, store);
}

static struct ut_out *export_store(struct ut_store *store)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_sink *sink = ut_export_chrome.open(out);

	ut_store_send(store, 0, sink);
	ut_export_chrome.end_trace(sink, &store->trace);
	ut_export_chrome.close(sink);
	ut_store_release(store);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int warnings = 0, again = 0;
	size_t len, second_len;
	struct ut_store store;
	struct ut_out *first, *second;
	const char *text, *other;

	if (load(data, size, &store, &warnings))
		return 0;
	first = export_store(&store);
	text = ut_out_data(first, &len);
	if (!ut_utf8_valid(text, len) || load(text, len, &store, &again) || again)
		abort();
	second = export_store(&store);
	other = ut_out_data(second, &second_len);
	/* names that differ only in bytes that are no UTF-8 become one, and damage is read once */
	if (!warnings && ut_utf8_valid((const char *)data, size) &&
	    (len != second_len || memcmp(text, other, len) != 0))
		abort();
	ut_out_abandon(first);
	ut_out_abandon(second);
	return 0;
}
