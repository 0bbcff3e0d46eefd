/*
 * spool.h - the capture file, as it lies on disk. docs/formats/spool.md explains every byte.
 *
 * One file per process: a header page, then chunks. A chunk is a header and 64-bit words; a
 * record is one word, or several whose first says how many. A word of 0 has not been written.
 *
 * Invariants:
 *  (1) A record counts as soon as its first word has a kind other than UT_WORD_NONE and
 *      UT_WORD_RESERVED; that word is stored last, with release.
 *  (2) Words are written once, a UT_WORD_SKIP apart. Zero words are skipped one by one: a writer
 * that was killed, or that gave a slot up, has not yet written any word behind its first. (3) The
 * first record of a thread in a chunk is UT_REC_THREAD. Until the next UT_REC_THREAD every record
 * of the chunk belongs to that thread, in the order in which it was made. (4) Words carry the low
 * 32 bits of the clock. Two neighbouring records of a thread, or a record and the
 * UT_REC_THREAD/UT_REC_TIME before it, are less than 2^31 ticks apart.
 */
/* limits: the list of records is one table */
#ifndef UT_WIRE_SPOOL_H
#define UT_WIRE_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "wire/clock.h"

#define UT_SPOOL_MAGIC        "utspool\n"
#define UT_SPOOL_VERSION      1
#define UT_SPOOL_SUFFIX       ".spool"
#define UT_SPOOL_HEADER_BYTES 4096
#define UT_CHUNK_MAGIC        0x6b6e6843u /* "Chnk" */
#define UT_CHUNK_UNIT         16384u      /* chunks start and end at multiples of this */
#define UT_CHUNK_MAX          (1u << 20)
#define UT_SPOOL_ENDED        0x80000000u
#define UT_SPOOL_GONE         0x40000000u /* the launcher saw that it is gone, not how it ended */
#define UT_SPOOL_SANDBOX      1000        /* a status that is no errno: see sandbox.h */
#define UT_SPOOL_RESERVE      1001        /* another: the disk came down to the reserve */

struct ut_spool_header {
	char magic[8];
	uint32_t version;
	uint32_t pid;
	uint32_t ppid;
	int32_t rank;
	uint32_t clock_source;    /* enum ut_clock_source */
	_Atomic uint32_t threads; /* thread numbers given out: 1..threads */
	uint64_t proc_start;      /* field 22 of /proc/PID/stat: tells a reused pid apart */
	struct ut_clock_pair start;
	_Atomic uint64_t next;        /* first byte that nobody has claimed */
	_Atomic uint64_t dropped;     /* records that found no room */
	_Atomic uint64_t overwritten; /* chunks that the flight recorder has used again */
	_Atomic uint64_t ignored;     /* calls of threads that asked to be ignored */
	_Atomic uint32_t status;      /* errno that ended recording; 0 = none */
	_Atomic uint32_t cut;         /* texts and lists that were too long and are cut */
	char boot_id[40];
	char name[256]; /* what the program is called */
	char host[256];
	char cmdline[2048];  /* words separated by blanks; "..." ends what is cut */
	uint32_t began_off;  /* 1: nothing was recorded until the first UT_REC_RESUME */
	uint32_t one_switch; /* 1: pauses are the session's, and anybody may have ended them */
	/* By the launcher: when it last saw the process alive, or saw it end; 0 = never. */
	_Atomic uint64_t seen_ticks;
	_Atomic uint32_t ended; /* UT_SPOOL_ENDED and what waitpid() said, or UT_SPOOL_GONE */
	uint32_t reserved;
};

_Static_assert(sizeof(struct ut_spool_header) <= UT_SPOOL_HEADER_BYTES, "the header is one page");

enum ut_chunk_kind {
	UT_CHUNK_DATA = 1, /* one writer at a time */
	/* Any thread; definitions, which the flight recorder never overwrites. The first word is
	 * not a record: it counts the words behind it that have been taken. */
	UT_CHUNK_META = 2,
};

struct ut_chunk {
	_Atomic uint32_t magic; /* written last */
	uint32_t bytes;         /* with this header; a multiple of UT_CHUNK_UNIT */
	uint32_t kind;          /* enum ut_chunk_kind */
	uint32_t turn;          /* how often the flight recorder has used it again */
};

_Static_assert(sizeof(struct ut_chunk) == 16, "words follow at a multiple of 8");

/*
 * A word: bits 0..3 kind, 4..35 low 32 bits of the clock, 36..63 payload.
 *
 * UT_WORD_BEGIN  payload: domain id (8 bits), string id (20 bits)
 * UT_WORD_END    payload: domain id
 * UT_WORD_LONG   payload: type (8 bits), number of words with this one (20 bits)
 */
enum ut_word {
	UT_WORD_NONE = 0,
	UT_WORD_BEGIN = 1,
	UT_WORD_END = 2,
	UT_WORD_LONG = 3,
	UT_WORD_RESERVED = 4, /* a UT_WORD_LONG that is being written */
	UT_WORD_SKIP = 5,     /* where a thread that ended stopped; the next to come starts here */
};

/* The number of every domain that a filter keeps out. */
#define UT_DOMAIN_UNWANTED 0x7fffffffu

#define UT_WORD_DOMAINS (1u << 8)
#define UT_WORD_STRINGS (1u << 20)
#define UT_LONG_WORDS   (1u << 20)

/* The type of a fact that is none: the facts are in UT_REC_FACTS with this number. */
#define UT_FACT_MORE 255u

static inline uint64_t ut_word(enum ut_word kind, uint64_t ticks, uint64_t payload)
{
	return (uint64_t)kind | (ticks & 0xffffffffu) << 4 | payload << 36;
}

static inline uint64_t ut_word_long(enum ut_word kind, uint64_t ticks, unsigned int type,
				    uint64_t words)
{
	return ut_word(kind, ticks, type | words << 8);
}

/*
 * Long records. The second column lists the words behind the first; a|b is one word with a in
 * its low and b in its high 32 bits. ID is an ITT id of three words; the ids of a record are
 * stored by part (first parts, second parts, third parts), because words at the end that are 0
 * are not stored: a reader takes what is missing as 0. Bytes are padded to whole words.
 */
#define UT_REC_LIST(X)                                                                             \
	/* who writes, and when */                                                                 \
	X(THREAD, "ticks, thread|part")                                                            \
	X(TIME, "ticks")                                                                           \
	/* definitions, in META chunks */                                                          \
	X(STRING, "id|length, bytes")                                                              \
	X(DOMAIN, "id|string")                                                                     \
	X(THREAD_INFO, "thread|tid, ticks, comm (2 words), start")                                 \
	X(THREAD_NAME, "thread|string")                                                            \
	X(CLOCK_PAIR, "ticks, mono, real, boot, error")                                            \
	X(COUNTER_DEF, "id|name, domain|type")                                                     \
	X(COUNTER_META, "id|type, length|0, bytes")                                                \
	X(HISTOGRAM_DEF, "id|name, domain|types (x, y << 8)")                                      \
	X(CLOCK_DOMAIN, "id|0, frequency, base, ticks")                                            \
	X(TRACK_GROUP, "id|name")                                                                  \
	X(TRACK, "id|group, name|type")                                                            \
	X(HEAP_FUNCTION, "id|name, domain|0")                                                      \
	X(PROCESS_MAP, "start, end, offset, length|0, path")                                       \
	X(JIT_METHOD, "id|line count, ticks, address, size, name|class, file|0, {offset|line}")    \
	/* tasks */                                                                                \
	X(TASK_BEGIN, "domain|name, ID, ID of parent")                                             \
	X(TASK_BEGIN_FN, "domain|0, address, ID, ID of parent")                                    \
	X(TASK_BEGIN_CLOCK, "domain|name, clock|0, time, ID, ID of parent, address")               \
	X(TASK_END_CLOCK, "domain|0, clock|0, time")                                               \
	X(OVERLAPPED_BEGIN, "domain|name, ID, ID of parent")                                       \
	X(OVERLAPPED_END, "domain|0, ID")                                                          \
	X(OVERLAPPED_BEGIN_CLOCK, "domain|name, clock|0, time, ID, ID of parent")                  \
	X(OVERLAPPED_END_CLOCK, "domain|0, clock|0, time, ID")                                     \
	X(TASK_GROUP, "domain|name, ID, ID of parent")                                             \
	X(ID_CREATE, "domain|0, ID")                                                               \
	X(ID_DESTROY, "domain|0, ID")                                                              \
	X(RELATION, "domain|relation, ID of head (0 = current task), ID of tail")                  \
	X(REGION_BEGIN, "domain|name, ID, ID of parent")                                           \
	X(REGION_END, "domain|0, ID")                                                              \
	X(FRAME_BEGIN, "domain|name, ID")                                                          \
	X(FRAME_END, "domain|name, ID")                                                            \
	X(FRAME_SUBMIT, "domain|name, ID, begin, end")                                             \
	X(MARKER, "domain|name, ID, scope|0, clock|0, time")                                       \
	X(MARK, "name|text, 1 = of the whole process")                                             \
	X(MARK_OFF, "name|0")                                                                      \
	X(EVENT_START, "name|0")                                                                   \
	X(EVENT_END, "name|0")                                                                     \
	/* arguments */                                                                            \
	X(META_NUM, "domain|key, ID, type|scope, count|0, values")                                 \
	X(META_STR, "domain|key, ID, length|scope, bytes")                                         \
	X(META_TEXT, "domain|format, ID, length|0, bytes")                                         \
	/* numbers */                                                                              \
	X(COUNTER, "id|type, value")                                                               \
	X(COUNTER_CLOCK, "id|type, value, clock|0, time")                                          \
	X(HISTOGRAM, "id|length, x values, y values")                                              \
	/* control */                                                                              \
	X(PAUSE, "nothing")                                                                        \
	X(RESUME, "nothing")                                                                       \
	X(DETACH, "nothing")                                                                       \
	X(SET_TRACK, "id|0")                                                                       \
	/* on request */                                                                           \
	X(SYNC_CREATE, "object, type|name")                                                        \
	X(SYNC, "object, operation|0")                                                             \
	X(STITCH, "call id, operation|0")                                                          \
	X(HEAP, "function|operation, address, size, new address")                                  \
	X(MODULE, "start, end, operation|length, path")                                            \
	X(MODEL, "operation|name, address")                                                        \
	/* devices; the first three are definitions. Times in ns, F: key|type, value */            \
	X(DEVICE, "id|name, index|label, api|0")                                                   \
	X(QUEUE, "id|device, name|0, number")                                                      \
	X(NOTE, "length|0, bytes")                                                                 \
	X(CALL_BEGIN, "api|name, correlation, {F}")                                                \
	X(CALL_END, "api|0, {F}")                                                                  \
	X(CALL, "api|name, tid|0, begin, end, correlation, {F}")                                   \
	X(WORK, "queue|name, kind|tid, queued, submitted, start, end, correlation, {F}")           \
	X(DEVICE_COUNTER, "device|name, time, value")                                              \
	/* a definition: stands where a string's number stands */                                  \
	X(PLACE, "id|name, file|line")                                                             \
	/* what a program tells checkers and advisors */                                           \
	X(HINT, "operation|name, address, size")                                                   \
	/* of backends; the first five are definitions. Times in ns, F as above */                 \
	X(METRIC_SET, "id|device, title|metrics")                                                  \
	X(METRIC, "set|index, key|title, unit|type")                                               \
	X(FRAME, "id|function, address, module|file, line|0")                                      \
	X(STACK, "id|parent, frame|0")                                                             \
	X(FACTS, "number|0, {F}")                                                                  \
	X(VALUES, "set|first, begin, end, name|flags, correlation, {value}")                       \
	X(SAMPLE, "queue|tid, time, stack|reason, source|0, weight, {address}")                    \
	X(MESSAGE, "name|end, id, correlation")                                                    \
	/* memory of the program */                                                                \
	X(ALLOCATED, "address, bytes, stack|kind + bits << 16 + back << 24")                       \
	X(FREED, "address")

enum ut_rec {
	UT_REC_NONE,
#define UT_REC_ENUM(type, words) UT_REC_##type,
	UT_REC_LIST(UT_REC_ENUM)
#undef UT_REC_ENUM
	UT_REC_COUNT
};

_Static_assert(UT_REC_COUNT <= 256, "the type has 8 bits");

#endif
