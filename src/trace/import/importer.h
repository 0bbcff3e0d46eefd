/*
 * importer.h - from one input to a store, whatever tool wrote it.
 */
#ifndef UT_IMPORT_IMPORTER_H
#define UT_IMPORT_IMPORTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/store.h"

struct ut_source;

/* What the caller wants to hear, and how much may be spent. Zeroed is fine. */
struct ut_import_opts {
	unsigned int threads; /* for this one input; 0 = 1 */
	/* One line without file name ("offset 4711: the file ends inside an event; 1 event was
	 * dropped"). May be NULL. Called by the thread that imports. */
	void (*warn)(void *ctx, const char *path, const char *text);
	/* The same for what the store does not have now; NULL: warn() hears that, too. */
	void (*lost)(void *ctx, const char *path, const char *text);
	/* Of several inputs, number i could not be read: true = go on with the others. NULL: no. */
	bool (*failed)(void *ctx, size_t i, const struct ut_err *err);
	void *ctx;
	_Atomic uint64_t *progress; /* bytes of input used are added here; may be NULL */
	uint64_t most;              /* bytes of the file to look at; 0 = all of them */
	bool checked;               /* compare the checksums of a .utr of any size: utr_read.h */
};

struct ut_importer {
	const char *name; /* "chrome", "perfetto", "utr", "spool", "pprof", ... */
	/* Does a file that starts like this belong to it? Asked in the order of ut_importers. */
	bool (*probe)(const char *head, size_t len);
	/* On failure *store is empty and err says "PATH: offset N: reason". */
	int (*load)(struct ut_source *source, const struct ut_import_opts *opts,
		    struct ut_store *store, struct ut_err *err);
};

extern const struct ut_importer ut_import_chrome;
extern const struct ut_importer ut_import_perfetto;
extern const struct ut_importer ut_import_utr;
extern const struct ut_importer ut_import_spool_file;
/* Profiles: samples only. */
extern const struct ut_importer ut_import_folded;
extern const struct ut_importer ut_import_pprof;
extern const struct ut_importer ut_import_perf_script;
extern const struct ut_importer ut_import_perf_data;

/* For importers: opts->lost() or what stands for it. */
void ut_import_lost(const struct ut_import_opts *opts, const char *path, const char *text);

/* All of them, closed by NULL. */
extern const struct ut_importer *const ut_importers[];

/*
 * Opens path ("-" = standard input), finds its importer by content and loads it. A format that
 * nobody knows is -EPROTO with a line that says what the file looks like.
 */
int ut_import(const char *path, const struct ut_import_opts *opts, struct ut_store *store,
	      struct ut_err *err) UT_MUST_CHECK;

/*
 * The importer of an open source, from its head alone: NULL, and an error that says what the file
 * looks like, if there is none. For callers that must not read the whole input to find out.
 */
const struct ut_importer *ut_importer_of(const struct ut_source *source, struct ut_err *err);

/* The importer of a file that starts like this; NULL = nobody knows it. */
const struct ut_importer *ut_importer_for(const char *head, size_t len);

/* Is a file that nobody named a trace? Looks deeper than probe(); the source is used up. */
bool ut_importer_sure(const struct ut_importer *importer, struct ut_source *source);

#endif
