/*
 * fuzz_spool.c - libFuzzer target: any bytes as a spool file; spool.h says how.
 */
#include "spool.h"

#include "../import/contract.h"
#include "import/spool/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(struct ut_sink *sink, const struct ut_trace *trace, const struct ut_event *e)
{
	contract_event((struct contract *)(void *)sink, trace, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct contract c = { .sink.event = count };
	struct ut_spool_info info;
	struct ut_trace trace;

	write_spool(data, size);
	(void)!ut_spool_info(path, &info, NULL);
	ut_trace_init(&trace);
	if (ut_import_spool(path, &trace, &c.sink, NULL) == 0)
		contract_trace(&c, &trace);
	contract_release(&c);
	ut_trace_release(&trace);
	return 0;
}
