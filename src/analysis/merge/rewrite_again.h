/*
 * rewrite_again.h - the second look at an event that is known to be strict JSON.
 *
 * Copying needs to know where an event ends and where a handful of its members lie; the first look
 * has checked the rest. So this one takes 64 bytes at a time, and only the brackets and the colons
 * among them.
 */
#ifndef UT_MERGE_REWRITE_AGAIN_H
#define UT_MERGE_REWRITE_AGAIN_H

struct ut_rewrite_walk_event;

/*
 * The object at p, in a window of json.h that ends at end. Finds ph, ts, pid, id, bind_id and sf,
 * neither name nor args. Returns what follows behind the object; NULL where it is not sure:
 * escapes, blanks in front of a colon, metadata (whose name and args matter), the end of the
 * window.
 */
const char *ut_scan_again(const char *p, const char *end, struct ut_rewrite_walk_event *e);

#endif
