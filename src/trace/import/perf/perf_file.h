/*
 * perf_file.h - perf.data: the parts of Linux' format that samples need. Numbers are little-endian.
 *
 * A head, descriptions of the events (attributes), records, and behind them "features". What is
 * written to a pipe has a short head, and everything else is records. Not the kernel's header: a
 * file may be newer or older than this machine.
 */
#ifndef UT_IMPORT_PERF_PERF_FILE_H
#define UT_IMPORT_PERF_PERF_FILE_H

#include <stdint.h>

#define UT_PDATA_MAGIC "PERFILE2"

struct ut_pdata_section {
	uint64_t offset, size;
};

struct ut_pdata_head {
	char magic[8];
	uint64_t size; /* of this head; 16 = written to a pipe */
	uint64_t attr_size;
	struct ut_pdata_section attrs, data, types;
	uint64_t features[4]; /* bits */
};

struct ut_pdata_record {
	uint32_t type;
	uint16_t misc, size;
};

enum ut_pdata_type {
	UT_PDATA_MMAP = 1,
	UT_PDATA_LOST = 2,
	UT_PDATA_COMM = 3,
	UT_PDATA_EXIT = 4,
	UT_PDATA_FORK = 7,
	UT_PDATA_SAMPLE = 9,
	UT_PDATA_MMAP2 = 10,
	UT_PDATA_LOST_SAMPLES = 13,
	UT_PDATA_KERNEL_LAST = 63,
	UT_PDATA_HEADER_ATTR = 64,
	UT_PDATA_FINISHED_ROUND = 68,
	UT_PDATA_AUXTRACE = 71, /* more bytes follow than the record has */
	UT_PDATA_EVENT_UPDATE = 78,
	UT_PDATA_COMPRESSED = 81,
	UT_PDATA_COMPRESSED2 = 83,
};

enum ut_pdata_misc {
	UT_PDATA_COMM_EXEC = 1u << 13,
	UT_PDATA_MMAP_BUILD_ID = 1u << 14,
};

enum ut_pdata_sample_bit {
	UT_PDATA_IP = 1u << 0,
	UT_PDATA_TID = 1u << 1,
	UT_PDATA_TIME = 1u << 2,
	UT_PDATA_ADDR = 1u << 3,
	UT_PDATA_READ = 1u << 4,
	UT_PDATA_CALLCHAIN = 1u << 5,
	UT_PDATA_ID = 1u << 6,
	UT_PDATA_CPU = 1u << 7,
	UT_PDATA_PERIOD = 1u << 8,
	UT_PDATA_STREAM_ID = 1u << 9,
	UT_PDATA_RAW = 1u << 10,
	UT_PDATA_BRANCHES = 1u << 11,
	UT_PDATA_REGS_USER = 1u << 12,
	UT_PDATA_STACK_USER = 1u << 13,
	UT_PDATA_IDENTIFIER = 1u << 16,
};

/* Of the attributes: offsets of what we read in them, and bits of their flags. */
enum ut_pdata_attr_at {
	UT_PDATA_ATTR_TYPE = 0,
	UT_PDATA_ATTR_SIZE = 4,
	UT_PDATA_ATTR_CONFIG = 8,
	UT_PDATA_ATTR_PERIOD = 16,
	UT_PDATA_ATTR_SAMPLE_TYPE = 24,
	UT_PDATA_ATTR_READ_FORMAT = 32,
	UT_PDATA_ATTR_FLAGS = 40,
	UT_PDATA_ATTR_BRANCHES = 72,
	UT_PDATA_ATTR_REGS_USER = 80,
	UT_PDATA_ATTR_LEAST = 64, /* bytes of the oldest ones */
};

#define UT_PDATA_FLAG_FREQ          (UINT64_C(1) << 10)
#define UT_PDATA_FLAG_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define UT_PDATA_BRANCH_HW_INDEX    (UINT64_C(1) << 17)

enum ut_pdata_read_bit {
	UT_PDATA_READ_ENABLED = 1u << 0,
	UT_PDATA_READ_RUNNING = 1u << 1,
	UT_PDATA_READ_ID = 1u << 2,
	UT_PDATA_READ_GROUP = 1u << 3,
	UT_PDATA_READ_LOST = 1u << 4,
};

/* In a chain of calls: not an address, but what those that follow are. */
#define UT_PDATA_CONTEXT_LEAST  ((uint64_t)-4095)
#define UT_PDATA_CONTEXT_KERNEL ((uint64_t)-128)
#define UT_PDATA_CONTEXT_USER   ((uint64_t)-512)

enum ut_pdata_feature {
	UT_PDATA_FEATURE_BUILD_ID = 2,
	UT_PDATA_FEATURE_EVENT_DESC = 12,
};

#endif
