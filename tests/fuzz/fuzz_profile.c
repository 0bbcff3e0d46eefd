/*
 * fuzz_profile.c - libFuzzer target: any bytes as a profile of another tool. The first one says
 * which: perf.data, pprof, perf script, folded stacks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/importer.h"
#include "sample/folded.h"
#include "sample/prof.h"
#include "text/out.h"
#include "text/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct ut_store *store)
{
	static const struct ut_prof_opts all;
	struct ut_out *out = ut_out_open_memory();
	struct ut_prof p;

	ut_prof_init(&p, &all);
	ut_prof_add(&p, store);
	ut_prof_finalize(&p);
	ut_folded_write(out, &p);
	ut_prof_release(&p);
	ut_out_abandon(out);
	ut_store_release(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ut_importer *const importers[] = {
		&ut_import_perf_data, &ut_import_pprof, &ut_import_perf_script, &ut_import_folded
	};
	static const struct ut_import_opts plain;
	static int file = -1;
	static char path[64];
	const struct ut_importer *importer;
	struct ut_source source;
	struct ut_store store;

	if (!size)
		return 0;
	importer = importers[data[0] % 4];
	if (file < 0) {
		file = memfd_create("profile", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (ftruncate(file, 0) || pwrite(file, data + 1, size - 1, 0) != (ssize_t)(size - 1))
		abort();
	if (ut_source_open(&source, path, NULL))
		return 0;
	(void)importer->probe(source.head, source.head_len);
	store = (struct ut_store){ 0 };
	if (!importer->load(&source, &plain, &store, NULL))
		use(&store);
	ut_source_close(&source);
	return 0;
}
