/*
 * fuzz_spool_live.c - libFuzzer target: any bytes as a spool that is followed while it grows. It
 * comes in pieces: more of the file, and words that were not there yet.
 */
#include "spool.h"

#include "import/spool/reader.h"
#include "model/store.h"
#include "wire/clock.h"
#include "wire/process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As if this machine were writing it now. */
static void make_ours(void)
{
	struct ut_spool_header header = { 0 };

	if (pread(file, &header, sizeof(header), 0) < 0)
		abort();
	header.clock_source = (uint32_t)ut_clock_source();
	header.overwritten = 0;
	ut_process_boot_id(header.boot_id);
	put(0, &header, sizeof(header));
}

static void look(struct ut_spool_live *l)
{
	struct ut_store store;

	if (l && !ut_spool_live_look(l, &store, NULL))
		ut_store_release(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_spool_live *l;

	write_spool(data, size / 3);
	make_ours();
	l = ut_spool_live_open(path, NULL);
	look(l);
	write_spool(data, size - size / 4);
	make_ours();
	look(l);
	write_spool(data, size);
	make_ours();
	for (int i = 0; i < 6; i++) /* what is never completed is stepped over */
		look(l);
	ut_spool_live_close(l);
	return 0;
}
