/*
 * fuzz_cpu.c - libFuzzer target: any bytes as a file of CPU samples. An input that starts with the
 * magic is the file itself; of all others the bytes are its records.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../import/contract.h"
#include "import/cpu/cpu_read.h"
#include "model/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static char path[64];

static void put(const void *bytes, size_t len)
{
	if (len && write(file, bytes, len) != (ssize_t)len)
		abort();
}

static void count(struct ut_sink *sink, const struct ut_trace *trace, const struct ut_event *e)
{
	contract_event((struct contract *)(void *)sink, trace, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ut_cpu_header header = { .magic = UT_CPU_MAGIC,
					      .version = UT_CPU_VERSION,
					      .bytes = sizeof(header),
					      .pid = 1,
					      .flags = UT_CPU_SWITCHES | UT_CPU_WAITED };
	struct contract c = { .sink.event = count };
	struct ut_trace trace;

	if (file < 0) {
		file = memfd_create("cpu", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (ftruncate(file, 0) || lseek(file, 0, SEEK_SET))
		abort();
	if (size < 8 || memcmp(data, UT_CPU_MAGIC, 8) != 0)
		put(&header, sizeof(header));
	put(data, size);
	ut_trace_init(&trace);
	if (ut_import_cpu(path, &trace, &c.sink, NULL) == 0)
		contract_trace(&c, &trace);
	contract_release(&c);
	ut_trace_release(&trace);
	return 0;
}
