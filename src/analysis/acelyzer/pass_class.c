/*
 * pass_class.c - the class of each span (release 1.2), from its name and category, and counters
 * for the bandwidth that torch traces give.
 */
#include <stdlib.h>
#include <string.h>

#include "acelyzer/class.h"
#include "acelyzer/stage.h"
#include "base/grow.h"

/* Between the first and the last kernel of a job copies are part of the protocol. */
struct batch {
	double first, last; /* us */
};

struct ut_ace_batches {
	struct batch *items;
	size_t count, cap;
	struct ut_idmap index; /* file -> place in items + 1 */
};

const char *ut_ace_class_name(unsigned int cls)
{
	static const char *const names[] = {
#define NAME(name) #name,
		UT_ACE_CLASS_LIST(NAME)
#undef NAME
	};

	return cls < UT_ACE_CLASSES ? names[cls] : names[0];
}

static bool pass_class_has(struct ut_str s, const char *text)
{
	return memmem(s.ptr, s.len, text, strlen(text)) != NULL;
}

/* "Compute of" something that is no fused node. */
static bool converts(struct ut_str s)
{
	const char *at = memmem(s.ptr, s.len, "Compute of ", 11);

	return at && !memmem(at, (size_t)(s.ptr + s.len - at), "SenFusedDeviceNode", 18);
}

static enum ut_ace_class class_of_data(struct ut_ace_analysis *a, const struct ut_ace_event *e,
				       bool torch)
{
	struct ut_str s = ut_ace_str(&a->table, e->name);
	uint64_t n = ut_ace_flags_of(a, e);

	if (n & UT_ACE_NAME(END_PREP))
		return UT_ACE_CLASS_COMPUTE_PREP;
	if (ut_ace_is_kernel(a, e))
		return UT_ACE_CLASS_COMPUTE_EXEC;
	if (torch ? pass_class_has(s, "emcpy (HtoD)") : n & UT_ACE_NAME(IN))
		return UT_ACE_CLASS_DATA_IN;
	if (torch ? pass_class_has(s, "emcpy (DtoH)") : n & UT_ACE_NAME(OUT))
		return UT_ACE_CLASS_DATA_OUT;
	return UT_ACE_CLASS_OTHER;
}

static enum ut_ace_class class_of_event(struct ut_ace_analysis *a, const struct ut_ace_event *e,
					bool torch)
{
	struct ut_str s = ut_ace_str(&a->table, e->name);

	if (pass_class_has(s, "AIU Roundtrip"))
		return UT_ACE_CLASS_ROUNDTRIP_AIU;
	if (torch ? ut_str_is(s, "aiuSuperNodeExecution") || ut_str_is(s, "aiuLaunchSuperNode")
		  : ut_str_is(s, "Flex RoundTrip"))
		return UT_ACE_CLASS_ROUNDTRIP_FLEX;
	if (pass_class_has(s, "barrier:") || pass_class_has(s, "Barrier:"))
		return UT_ACE_CLASS_MAIU_BARRIER;
	if (ut_str_is(s, torch ? "aiuPrepareAndSyncRdma" : "PrepareAndSyncRdma"))
		return UT_ACE_CLASS_MAIU_WIREUP;
	if (torch ? ut_str_is(s, "aiuDataConvert") : converts(s))
		return UT_ACE_CLASS_SEN_DATA_CONVERT;
	return class_of_data(a, e, torch);
}

static enum ut_ace_class class_of_host_dma(struct ut_str s, enum ut_ace_class cls)
{
	if (pass_class_has(s, "Wdone DmaI") || pass_class_has(s, "Wait for Data Avail Notice") ||
	    pass_class_has(s, "Wait for Notice (gather notifications)") ||
	    pass_class_has(s, "R5 Wait DATA"))
		return UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_WAIT_DATA;
	if (pass_class_has(s, "Wait for ACK") || pass_class_has(s, "R5 Wait ACK"))
		return UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_WAIT_ACK;
	if (pass_class_has(s, "Send ACK Instruction") || pass_class_has(s, "R5 Send ACK"))
		return UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_SIGNAL_ACK;
	if (pass_class_has(s, "Send Instruction") || pass_class_has(s, "HCOLL Signal") ||
	    pass_class_has(s, "R5 Send DATA"))
		return UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_SIGNAL_DATA;
	if (pass_class_has(s, "Wait for Notice") || pass_class_has(s, "Wait for Delivery Notice"))
		return UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_MONITOR_NOTICE;
	if (cls == UT_ACE_CLASS_DATA_OUT)
		return UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_SEND_DATA;
	return cls == UT_ACE_CLASS_DATA_IN ? UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_RECV_DATA : cls;
}

static enum ut_ace_class class_of(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_str s = ut_ace_str(&a->table, e->name);
	bool torch = a->table.jobs[e->job].dialect == UT_ACE_TORCH;
	enum ut_ace_class cls = class_of_event(a, e, torch);

	if (torch ? !pass_class_has(s, "HCOLL") : !(e->flags & UT_ACE_COLL))
		return cls;
	if (pass_class_has(s, "Host DMA") || pass_class_has(s, "HCOLL"))
		return class_of_host_dma(s, cls);
	if (pass_class_has(s, "DLM Wait"))
		return UT_ACE_CLASS_MAIU_HDMA_PROTOCOL_WAIT_DATA;
	if (pass_class_has(s, "Set BcList") || pass_class_has(s, "Xseg to rank"))
		return UT_ACE_CLASS_MAIU_PROTOCOL_SERIAL;
	if (cls == UT_ACE_CLASS_DATA_OUT)
		return UT_ACE_CLASS_MAIU_P2PRDMA_PROTOCOL_SEND_DATA;
	return cls == UT_ACE_CLASS_DATA_IN ? UT_ACE_CLASS_MAIU_P2PRDMA_PROTOCOL_RECV_DATA : cls;
}

static void pass_class_add_kernel(struct ut_ace_batches *b, const struct ut_ace_event *e)
{
	uint32_t at = ut_idmap_get(&b->index, e->job);
	struct batch *batch;

	if (!at) {
		b->items = ut_grow(b->items, b->count + 1, &b->cap, sizeof(*b->items));
		b->items[b->count] = (struct batch){ 1e99, -1e99 };
		at = (uint32_t)++b->count;
		ut_idmap_put(&b->index, e->job, at);
	}
	batch = &b->items[at - 1];
	batch->first = e->ts < batch->first ? e->ts : batch->first;
	batch->last = e->ts > batch->last ? e->ts : batch->last;
}

int ut_ace_pass_classify(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_batches *b = UT_NEW(&t->arena, struct ut_ace_batches);

	ut_idmap_init(&b->index, &t->arena);
	a->batches = b;
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph != 'X')
			continue;
		if (t->jobs[e->job].dialect == UT_ACE_FLEX && ut_ace_is_kernel(a, e))
			pass_class_add_kernel(b, e);
		e->cls = (uint8_t)class_of(a, e);
		e->flags |= UT_ACE_SHOW_CLASS;
	}
	return 0;
}

/* A number, not text: 128 bytes are a signal, not data. */
static bool is_signal(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	double bytes;

	return ut_ace_arg(&a->table, e->args, UT_ACE_K_BYTES_LOW, &arg) && arg.type != UT_ARG_STR &&
	       ut_ace_arg_num(&a->table, &arg, &bytes) && bytes == 128;
}

static void refine(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	uint32_t at = ut_idmap_get(&a->batches->index, e->job);
	const struct batch *b = at ? &a->batches->items[at - 1] : NULL;
	bool out = e->cls == UT_ACE_CLASS_DATA_OUT;

	if (!b || (!out && e->cls != UT_ACE_CLASS_DATA_IN) || !ut_ace_has_stamps(e) ||
	    e->ts <= b->first || e->ts >= b->last)
		return;
	if (is_signal(a, e))
		e->cls = out ? UT_ACE_CLASS_MAIU_PROTOCOL_SIGNAL_DATA
			     : UT_ACE_CLASS_MAIU_PROTOCOL_SIGNAL_ACK;
	else
		e->cls = out ? UT_ACE_CLASS_MAIU_PROTOCOL_SEND_DATA
			     : UT_ACE_CLASS_MAIU_PROTOCOL_RECV_DATA;
}

static void add_rate(struct ut_ace_analysis *a, uint32_t at)
{
	struct ut_ace_event e = a->table.events[at];
	struct ut_arg arg;
	double rate;

	if (e.cls != UT_ACE_CLASS_DATA_IN && e.cls != UT_ACE_CLASS_DATA_OUT &&
	    e.cls != UT_ACE_CLASS_MAIU_PROTOCOL_RECV_DATA &&
	    e.cls != UT_ACE_CLASS_MAIU_PROTOCOL_SEND_DATA)
		return;
	/* the profiler writes "N/A" for copies that took no time */
	if (!ut_ace_arg(&a->table, e.args, UT_ACE_K_BANDWIDTH, &arg) || arg.type == UT_ARG_STR ||
	    !ut_ace_arg_num(&a->table, &arg, &rate) || rate <= 0)
		return;
	arg.key = UT_ACE_K_GB_S;
	ut_ace_add_counter(a, e.pid, e.ts, UT_ACE_K_C_TRANSFER, &arg);
	arg = ut_ace_num_arg(UT_ACE_K_GB_S, 0);
	ut_ace_add_counter(a, e.pid, ut_ace_end(&e), UT_ACE_K_C_TRANSFER, &arg);
}

void ut_ace_end_batches(struct ut_ace_analysis *a)
{
	if (a->batches)
		free(a->batches->items);
	a->batches = NULL;
}

int ut_ace_pass_classify_again(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t n = t->seq_count;

	for (size_t i = 0; i < n; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph != 'X' || !(e->flags & UT_ACE_SHOW_CLASS))
			continue;
		if (a->batches && t->jobs[e->job].dialect == UT_ACE_FLEX)
			refine(a, e);
		add_rate(a, t->seq[i]);
	}
	ut_ace_end_batches(a);
	return 0;
}
