/*
 * control.h - what the launcher tells every collector of a session, and the word that switches
 * recording on and off while programs run.
 *
 * A session is a directory. Its file "control" holds the settings and is mapped, shared, by the
 * launcher and by each collector; the environment variable UT_SESSION holds the directory's
 * absolute path and is the only way in. Each recorded process adds one spool file (spool.h).
 *
 * A named session (--session NAME) moves the on/off word into a file of its own that several
 * launchers of one user share, so that one `unitrace --pause NAME` stops every rank on the host.
 *
 * Settings are written before the program starts and only read afterwards; state, root_pid and
 * the clock pairs change under way. Any thread, any process.
 */
#ifndef UT_WIRE_CONTROL_H
#define UT_WIRE_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/clock.h"

#define UT_SESSION_ENV  "UT_SESSION"
#define UT_CONTROL_FILE "control"

enum ut_state {
	UT_STATE_RUNNING,
	UT_STATE_PAUSED,
	UT_STATE_STOPPED, /* for ever */
};

enum ut_control_flag {
	/* Collection starts off, and __itt_pause/resume and PTI_ENABLE_COLLECTION switch it.
	 * Without this flag they have no effect. */
	UT_CONTROL_CONDITIONAL = 1u << 0,
	UT_CONTROL_FOLLOW_CHILDREN = 1u << 1, /* otherwise only root_pid records */
	UT_CONTROL_ONE_QUEUE = 1u << 2,       /* one row per device, not one per queue */
	/* CPU time is sampled: a program without a mark is recorded, too, while it is not paused.
	 */
	UT_CONTROL_SAMPLED = 1u << 3,
	/* One switch for all: __itt_pause/resume and PTI_ENABLE_COLLECTION move the session's own
	 * word, as do those outside. Not together with UT_CONTROL_CONDITIONAL. */
	UT_CONTROL_ONE_SWITCH = 1u << 4,
};

/* ITT groups that cost the application time of its own are recorded only on request. */
enum ut_control_group {
	UT_GROUP_SYNC = 1u << 0,
	UT_GROUP_HEAP = 1u << 1,
	UT_GROUP_STITCH = 1u << 2,
};

/* Domain filters: patterns with * and ?, each closed by a NUL, the list by an empty one. */
#define UT_FILTER_BYTES 4096
/* Options of backends; a list of metrics is one, and may be long. */
#define UT_OPTION_BYTES 32768

struct ut_control {
	char magic[8]; /* UT_CONTROL_MAGIC */
	uint32_t version;
	uint32_t flags;            /* enum ut_control_flag */
	_Atomic uint32_t state;    /* enum ut_state, unless state_path names another file */
	_Atomic uint32_t root_pid; /* the program that the launcher started */
	uint32_t groups;           /* enum ut_control_group */
	int32_t rank;              /* -1 = none */
	uint64_t keep_bytes; /* flight recorder: spool size per process; 0 = keep everything */
	uint64_t keep_ns;    /* flight recorder: at least this much of the past; 0 = by size */
	uint64_t max_bytes;  /* spool size per process after which recording stops; 0 = no limit */
	struct ut_clock_pair start; /* launcher's first look at the clocks */
	struct ut_clock_pair last;  /* its latest, guarded by last_seq (odd = being written) */
	_Atomic uint32_t last_seq;
	uint32_t launcher_pid;
	_Atomic uint32_t failures; /* processes that could not make their spool... */
	_Atomic uint32_t failure;  /* ... and the errno of the last of them */
	uint32_t clock_source;     /* enum ut_clock_source: what everybody counts in */
	uint32_t want;             /* enum ut_want of unitrace/backend.h: what backends record */
	uint64_t devices; /* bit N: record the device that the program counts as N; 0 = all */
	char boot_id[40];
	char state_path[1024];         /* file whose first word is the state; empty = this one */
	char include[UT_FILTER_BYTES]; /* empty = every domain */
	char exclude[UT_FILTER_BYTES];
	char include_kernels[UT_FILTER_BYTES]; /* parts of names; empty = every kernel */
	char exclude_kernels[UT_FILTER_BYTES];
	char options[UT_OPTION_BYTES]; /* of backends, KEY=VALUE each: backend_options.h */
	_Atomic uint32_t ended; /* the program has: UT_CONTROL_ENDED and what waitpid() said */
	/* With UT_CONTROL_CONDITIONAL: so many times processes have been switched on, less those
	 * off. One that was killed while on is still counted. Who samples waits for it to change.
	 * With UT_CONTROL_ONE_SWITCH: how often the switch was moved. */
	_Atomic uint32_t resumed;
	uint64_t timer_period; /* programs sample themselves (src/record/timer): ns of CPU time; 0 =
				  no */
	uint64_t disk_reserve; /* bytes that spools leave free on their file system; 0 = none */
};

#define UT_CONTROL_MAGIC   "utctl\r\n\032"
#define UT_CONTROL_VERSION 8
#define UT_CONTROL_ENDED   0x80000000u

/* Makes dir/control with everything zero but magic, version, rank -1, start and boot id. */
int ut_control_create(const char *dir, struct ut_control **control,
		      struct ut_err *err) UT_MUST_CHECK;

/* Maps an existing one without messages, malloc or stdio: for the collector. NULL = no session. */
struct ut_control *ut_control_map(const char *dir);

/* The word that switches recording; of a named session it lies in a file of its own. */
_Atomic uint32_t *ut_control_state(struct ut_control *control);

/* Moves that word, unless it is stopped for ever, and wakes who waits for it. The state it had. */
enum ut_state ut_control_switch(struct ut_control *control, enum ut_state state);

/* Maps an existing one; writable so that the state can be set. */
int ut_control_open(const char *dir, struct ut_control **control, struct ut_err *err) UT_MUST_CHECK;

void ut_control_close(struct ut_control *control); /* NULL is fine */

/* The launcher's look at the clocks, now and then and at the end: improves every time stamp. */
void ut_control_tick(struct ut_control *control);

/* Adds a pattern to include or exclude. -ENOSPC when the list is full. */
int ut_control_add_filter(char list[UT_FILTER_BYTES], const char *pattern) UT_MUST_CHECK;

/* Does the pattern list pass this name? include empty = yes; exclude wins. */
bool ut_control_passes(const char *include, const char *exclude, const char *name);

/*
 * Named sessions. A name is 1 to 64 letters, digits, '-' or '_'.
 *
 * join: opens or makes the shared word for name; path[] receives the file to put into
 * state_path. *reused says that other launchers are using it now. The descriptor returned
 * stands for our use of it: give it to ut_named_leave(). set: moves the word.
 */
int ut_named_join(const char *name, char path[1024], bool *reused,
		  struct ut_err *err) UT_MUST_CHECK;
void ut_named_leave(int fd, const char *path);
/* Returns the state it had; -ENOENT if nobody uses the name, with *err saying so. */
int ut_named_set(const char *name, enum ut_state state, struct ut_err *err) UT_MUST_CHECK;
/* The file that stands for a name. */
int ut_named_path(const char *name, char path[1024], struct ut_err *err) UT_MUST_CHECK;
/* Calls fn for every name of ours that is in use. */
void ut_named_each(void (*fn)(void *ctx, const char *name), void *ctx);

#endif
