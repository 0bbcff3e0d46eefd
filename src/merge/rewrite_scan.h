/*
 * rewrite_scan.h - the way that almost all events take: strict JSON, looked at once.
 *
 * A gigabyte has five million events, and merging looks at each of them twice. This reader knows
 * only JSON as it should be; where it meets anything else, or the end of the window, it gives up,
 * and the caller takes the patient one (json.h), which repairs and explains.
 */
#ifndef UT_MERGE_REWRITE_SCAN_H
#define UT_MERGE_REWRITE_SCAN_H

struct ut_rewrite_walk_event;

/*
 * The object at p, which lies in a window of json.h that ends at end. Returns what follows behind
 * it; NULL: ask the patient reader.
 */
const char *ut_scan_event(const char *p, const char *end, struct ut_rewrite_walk_event *e);

#endif
