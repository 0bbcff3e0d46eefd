/*
 * remote_frames.h - what our agent on another machine tells, as a stream: a line, and as many bytes
 * as it says.
 *
 *     KIND OFFSET LENGTH NAME\n
 *
 *     state   0 N -       state.json, whenever it is another one
 *     output  P N -       what the program said, from its byte P on
 *     log     P N -       the same of log.jsonl
 *     file    P N NAME    a piece of a file of the result, which goes on where the last one ended;
 *                         one of no bytes makes it. FOLDER/NAME: of a folder of modules in it
 *     folder  0 N -       where the run lies there, as a path
 *     answer  0 N -       JSON: what was asked for
 *     talk    P N -       what is said on connection P (remote_tunnel.h)
 *     over    0 0 -       that was all
 *     sorry   0 N -       why not
 *
 * Whoever reads trusts nobody: kinds, lengths and names are checked. What stands before the line
 * UT_REMOTE_BEGIN was said by others, a login script for one.
 */
#ifndef UT_WORKBENCH_REMOTE_FRAMES_H
#define UT_WORKBENCH_REMOTE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define UT_REMOTE_BEGIN      "unitrace-agent-1"
#define UT_REMOTE_ABSENT     "unitrace-absent"
#define UT_REMOTE_FRAME_MOST (256u << 10)
#define UT_REMOTE_NAME_MOST  256
#define UT_REMOTE_FRAME_MS   120000 /* for all of a frame once it has begun: 2 KiB a second */

/* What one result may have there, so that no machine fills this one with names; and what all files
 * in folders of modules may hold. */
#define UT_REMOTE_FILES_MOST  65536u
#define UT_REMOTE_FOLDER_MOST (UINT64_C(16) << 30)

enum ut_remote_kind {
	UT_REMOTE_STATE,
	UT_REMOTE_OUTPUT,
	UT_REMOTE_LOG,
	UT_REMOTE_FILE,
	UT_REMOTE_FOLDER,
	UT_REMOTE_ANSWER,
	UT_REMOTE_END,
	UT_REMOTE_ERROR,
	UT_REMOTE_TUNNEL,
};

struct ut_remote_frame {
	enum ut_remote_kind kind;
	uint64_t offset;
	char name[UT_REMOTE_NAME_MOST]; /* of a file: one that ut_remote_name_fits() */
	struct ut_str bytes;            /* in the reader, until the next call */
};

/* Bytes as they come. {0} is fresh. */
struct ut_remote_reader {
	struct ut_buf bytes;
	size_t done;   /* of them */
	int64_t since; /* ms, when a frame that is not complete was seen first; 0 = there is none */
};

/*
 * NAME, or FOLDER/NAME, each of which fits (folder.h). Folders are those that --stall-sampling
 * leaves, the code of kernels: "*.modules*", and never one that would be taken for a session.
 */
bool ut_remote_name_fits(const char *name);

void ut_remote_reader_add(struct ut_remote_reader *r, const char *bytes, size_t len);
void ut_remote_reader_release(struct ut_remote_reader *r);

/* The next line before frames begin; false: it is not here yet. Longer ones than 1,000 bytes are
 * cut. */
bool ut_remote_reader_line(struct ut_remote_reader *r, char *to, size_t room);

/* 1: a frame; 0: it is not here yet; -EPROTO: this is none. */
int ut_remote_reader_next(struct ut_remote_reader *r, struct ut_remote_frame *f,
			  struct ut_err *err) UT_MUST_CHECK;

/* Has a frame begun, and not been completed in UT_REMOTE_FRAME_MS? Asked again and again, with a
 * clock that only goes forward (ms, not 0). Silence between frames is none: programs may have
 * nothing to say for days. */
bool ut_remote_reader_is_late(struct ut_remote_reader *r, int64_t now);

/* Writes one to a descriptor, all of it. -EPIPE and others: nobody listens. */
int ut_remote_write(int fd, enum ut_remote_kind kind, const char *name, uint64_t offset,
		    struct ut_str bytes) UT_MUST_CHECK;

#endif
