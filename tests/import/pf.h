/*
 * pf.h - a Perfetto file made by hand, packet by packet, and what the importer makes of it, as CSV.
 */
#ifndef TESTS_IMPORT_PF_H
#define TESTS_IMPORT_PF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "export/pbuf.h"
#include "import/importer.h"

struct pf {
	struct ut_pbuf file;
	size_t packet; /* the open one */
	size_t read;   /* what the importer has had so far */
	size_t step;   /* bytes that each read gives at most; 0 = as many as are wanted */
	struct ut_store store;
	bool loaded;
	struct ut_buf warnings; /* one per line */
	struct ut_buf csv;      /* without the heading and the column "trace" */
	struct ut_err err;
};

/* {0} is an empty file. */
void pf_release(struct pf *f);

/* A packet is open between the two; its fields go into f->file. */
void pf_open(struct pf *f, uint32_t sequence, uint64_t flags);
void pf_close(struct pf *f);

/* Packets of sequence 1 that need no state. */
void pf_process(struct pf *f, uint64_t uuid, int32_t pid, const char *name);
void pf_thread(struct pf *f, uint64_t uuid, int32_t pid, int64_t tid, const char *name);
void pf_lane(struct pf *f, uint64_t uuid, uint64_t parent, const char *name);
void pf_counter(struct pf *f, uint64_t uuid, uint64_t parent, const char *name);
void pf_begin(struct pf *f, uint64_t ts, uint64_t uuid, const char *name);
void pf_end(struct pf *f, uint64_t ts, uint64_t uuid);
void pf_instant(struct pf *f, uint64_t ts, uint64_t uuid, const char *name);
void pf_value(struct pf *f, uint64_t ts, uint64_t uuid, int64_t value);

/* An open packet with an open event; pf_event_close() ends both. */
size_t pf_event_open(struct pf *f, uint64_t ts, uint64_t type, uint64_t uuid);
void pf_event_close(struct pf *f, size_t event);

void pf_text(struct pf *f, uint32_t field, const char *text);

/* InternedData of one string, in the open packet. */
void pf_intern(struct pf *f, uint32_t table, uint64_t iid, const char *text);

/* Imports the first len bytes of the file. */
int pf_load(struct pf *f, size_t len);

/* Imports the whole file and compares. */
void pf_expect(struct pf *f, const char *csv);
void pf_expect_warning(const struct pf *f, const char *text);

/* A store in another format. */
void pf_export(struct ut_store *store, const char *format, struct ut_buf *to);

#endif
