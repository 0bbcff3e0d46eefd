/*
 * devlog_page.h - the log as the viewer shows it: its trace, with tables of cores, ops, zones and
 * statistics for the tabs of web/src/tools/devlog.tsx.
 */
#ifndef UT_TT_DEVLOG_PAGE_H
#define UT_TT_DEVLOG_PAGE_H

#include "tt/durations.h"
#include "tt/log_trace.h"

struct ut_out;
struct ut_store;
struct ut_view;

/* What a page can show without delay. */
#define UT_TT_PAGE_BARS 1000000

/* What is shown, and what it is called. */
struct ut_tt_shown {
	const struct ut_tt_analysis *a;
	const struct ut_tt_alignment *align;
	uint32_t chip;     /* its index; UT_TT_ALL_CHIPS */
	const char *log;   /* path of the log */
	const char *trace; /* path under which other commands find the trace */
};

/* The trace of a chip or of all, as a store. */
void ut_tt_make_store(const struct ut_tt_shown *s, struct ut_store *store);

/* Ready, with everything attached. The store stays the caller's, outlives the view, and is put into
 * the order in which people look for cores. */
struct ut_view *ut_tt_view_of(const struct ut_tt_shown *s, struct ut_store *store);

/* The same; the store is made, and taken over. */
struct ut_view *ut_tt_make_view(const struct ut_tt_shown *s);

/* The tables; the second one, what they say in sentences. devlog_sheets.c, devlog_findings.c */
void ut_tt_attach_sheets(const struct ut_tt_shown *s, struct ut_view *v);

struct ut_tt_kernels;
void ut_tt_attach_findings(const struct ut_tt_shown *s, const struct ut_tt_kernels *k,
			   struct ut_view *v);

#define UT_TT_TOOL  "devlog"
#define UT_TT_TITLE "Device log"

/* Chips that are shown: from *from up to, but not, the value. */
uint32_t ut_tt_shown_chips(const struct ut_tt_shown *s, uint32_t *from);

/* Lanes of those chips as people look for them: cores by place, BRISC first. The caller frees. */
uint32_t *ut_tt_shown_lanes(const struct ut_tt_shown *s, size_t *count);

#endif
