/*
 * trace.h - for fuzz targets: any bytes as a Chrome trace.
 */
#ifndef UT_TESTS_FUZZ_TRACE_H
#define UT_TESTS_FUZZ_TRACE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bytes.h"
#include "import/importer.h"
#include "model/classify.h"
#include "text/source.h"

static inline int load_trace_with(const struct ut_import_opts *opts, const void *data, size_t size,
				  struct ut_store *store)
{
	int fd = memfd_create("trace", MFD_CLOEXEC), rc;
	struct ut_source source;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	need(fd >= 0 && write(fd, data, size) == (ssize_t)size, "memory can be written");
	rc = ut_source_open(&source, path, NULL);
	if (!rc) {
		rc = ut_import_chrome.load(&source, opts, store, NULL);
		ut_source_close(&source);
		if (!rc)
			ut_classify_places(&store->trace);
	}
	close(fd);
	return rc;
}

static inline int load_trace(const void *data, size_t size, struct ut_store *store)
{
	return load_trace_with(&(struct ut_import_opts){ 0 }, data, size, store);
}

#endif
