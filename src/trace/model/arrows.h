/*
 * arrows.h - the flows of a store: which span each end of a flow belongs to, and which arrows they
 * make; decided here and nowhere else.
 *
 * An end belongs to the span of its track, async or not, that began last of those going on, first
 * and last moment included; one with UT_EV_BIND_NEXT to the first span that begins at its time or
 * later. Of the ends with one number, in order of time: a start (flow out) is where the next arrow
 * comes from; a step is where it arrives and where the next one comes from; an end (flow in) is
 * where it arrives, as often as there are ends. A start before the flow has ended says nothing new.
 * If there is only one start, all others follow it, even what another clock has put before it.
 * Steps that lie in no span are passed over.
 */
#ifndef UT_MODEL_ARROWS_H
#define UT_MODEL_ARROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_store;

#define UT_NO_SLICE UINT64_MAX

/* One end: a row of kind flow out, step or in. */
struct ut_arrow_end {
	uint64_t number, ts, row;
	uint64_t slice; /* row of its span on the same track, or UT_NO_SLICE */
	uint64_t slice_ts, slice_end;
	uint32_t track, name, type;
	uint8_t kind;
	bool repeated; /* a start while the flow is under way */
	bool global;   /* other files may have further ends of it */
};

struct ut_arrow {
	size_t from, to; /* ends */
};

enum ut_attach {
	UT_FLOW_LEAVES,
	UT_FLOW_PASSES, /* arrives, and leaves with the same id */
	UT_FLOW_ARRIVES,
};

/*
 * A flow at a span, for those who write the spans one by one and whose readers take the events of
 * a flow in order of time: Perfetto's.
 */
struct ut_attached {
	uint64_t row; /* of the span; of the end itself, if that lies in none */
	uint64_t id;  /* from 1 on; several arrows of one source have one each */
	bool global;  /* id is the flow's own number, in all files */
	uint32_t track;
	enum ut_attach how;
	bool at_end; /* the span began before the one it comes from: it arrives with its end */
};

struct ut_arrows {
	struct ut_arrow_end *ends; /* by number, time, kind (start, step, end) */
	size_t end_count, end_cap;
	struct ut_arrow *list;
	size_t count, cap;
	struct ut_attached *attached; /* by track and row; NULL unless asked for */
	size_t attached_count;
};

bool ut_is_flow(uint8_t kind);

/* Is there a flow at all? Looks at types only. */
bool ut_arrows_any(const struct ut_store *s);

/* keep: a bit for each row of each track, flows without it are not there; NULL = all are. */
void ut_arrows_make(struct ut_arrows *a, const struct ut_store *s, uint64_t *const *keep);

/*
 * Fills attached. An arrow to a span that has ended before the other one began cannot be drawn in
 * order of time: its ends have an id each.
 */
void ut_arrows_attach(struct ut_arrows *a);
void ut_arrows_release(struct ut_arrows *a);

#endif
