/*
 * pass_flow.c - --flow, first half: which events are steps of collective operations.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "acelyzer/coll_flow.h"
#include "acelyzer/stage.h"
#include "base/grow.h"
#include "base/str.h"

void ut_ace_set_add(int64_t **items, size_t *count, size_t *cap, int64_t value)
{
	size_t low = 0, high = *count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if ((*items)[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < *count && (*items)[low] == value)
		return;
	*items = ut_grow(*items, *count + 1, cap, sizeof(**items));
	memmove(*items + low + 1, *items + low, (*count - low) * sizeof(**items));
	(*items)[low] = value;
	(*count)++;
}

/* " [123B]" at p: how many bytes it takes, 0 = it is none. */
static size_t size_mark(const char *p, const char *end)
{
	const char *q = p;

	if (end - p < 5 || *q++ != ' ' || *q++ != '[' || !isdigit((unsigned char)*q))
		return 0;
	while (q < end && isdigit((unsigned char)*q))
		q++;
	return q + 1 < end && (*q | 32) == 'b' && q[1] == ']' ? (size_t)(q + 2 - p) : 0;
}

static uint32_t without_sizes(struct ut_ace_analysis *a, uint32_t name)
{
	struct ut_str s = ut_ace_str(&a->table, name);
	const char *end = s.ptr + s.len;
	struct ut_buf b = { 0 };
	bool any = false;

	for (const char *p = s.ptr; p < end;) {
		size_t n = size_mark(p, end);

		any |= n > 0;
		if (!n)
			ut_buf_char(&b, *p);
		p += n ? n : 1;
	}
	if (any)
		name = ut_strtab_intern(&a->table.strings, b.data ? b.data : "", b.len);
	ut_buf_release(&b);
	return name;
}

static void tidy(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	struct ut_arg arg;

	if (memchr(ut_ace_str(&a->table, e->name).ptr, '[', ut_ace_str(&a->table, e->name).len) &&
	    !ut_ace_arg(&a->table, e->args, UT_ACE_K_BYTES, &arg))
		e->name = without_sizes(a, e->name);
	if (ut_ace_arg(&a->table, e->args, UT_ACE_K_PEER, &arg)) {
		e->args = ut_ace_arg_drop(&a->table, e->args, UT_ACE_K_PEER);
		arg.key = UT_ACE_K_PEERS;
		e->args = ut_ace_arg_set(&a->table, e->args, &arg);
	}
}

/* "[sync=...]" up to the last bracket of the name; 0 = there is none. */
static uint32_t sync_of(struct ut_ace_analysis *a, uint32_t name)
{
	struct ut_str s = ut_ace_str(&a->table, name);
	const char *at = memmem(s.ptr, s.len, " [sync=", 7);
	const char *last = at ? memrchr(at, ']', (size_t)(s.ptr + s.len - at)) : NULL;

	return last ? ut_strtab_intern(&a->table.strings, at + 7, (size_t)(last - at - 7)) : 0;
}

static void add_peer(struct ut_ace_flows *f, struct ut_ace_coll_step *s, int64_t peer)
{
	f->peers = ut_grow(f->peers, f->peer_count + 1, &f->peer_cap, sizeof(*f->peers));
	f->peers[f->peer_count++] = peer;
	s->peer_count++;
}

/* "Send_12 Data X DmaO" at the end of a name: its peers come from other steps. */
static bool sends_data(struct ut_str s)
{
	const char *end = s.ptr + s.len, *data = s.ptr, *p;

	if (s.len < 5 || memcmp(end - 5, " DmaO", 5))
		return false;
	while ((data = memmem(data, (size_t)(end - data), " Data ", 6))) {
		for (p = data; p > s.ptr && (p[-1] == '_' || isdigit((unsigned char)p[-1])); p--)
			;
		if (p < data && p - s.ptr >= 4 && !memcmp(p - 4, "Send", 4) && data + 6 < end - 5 &&
		    !memchr(data + 6, ' ', (size_t)(end - 5 - data - 6)))
			return true;
		data++;
	}
	return false;
}

/* "recv_12_" in a name, in any case. */
static bool receives_from(struct ut_str s, int64_t *peer)
{
	for (size_t i = 0; i + 6 < s.len; i++) {
		char *end;

		if (strncasecmp(s.ptr + i, "recv_", 5) || !isdigit((unsigned char)s.ptr[i + 5]))
			continue;
		*peer = strtoll(s.ptr + i + 5, &end, 10);
		if (*end == '_')
			return true;
	}
	return false;
}

/* Whom a step is with; false if that cannot be told. */
static bool find_peers(struct ut_ace_analysis *a, const struct ut_ace_event *e,
		       struct ut_ace_coll_step *s)
{
	struct ut_ace_flows *f = a->flows;
	struct ut_arg arg;
	int64_t peer;
	double value;
	const char *p;
	char *end;

	s->peers = (uint32_t)f->peer_count;
	if (!ut_ace_arg(&a->table, e->args, UT_ACE_K_PEERS, &arg)) {
		if (sends_data(ut_ace_str(&a->table, e->name)))
			return true;
		if (!receives_from(ut_ace_str(&a->table, e->name), &peer))
			return false;
		add_peer(f, s, peer);
		return true;
	}
	if (arg.type != UT_ARG_STR) {
		if (!ut_ace_arg_num(&a->table, &arg, &value))
			return false;
		add_peer(f, s, (int64_t)value);
		return true;
	}
	for (p = ut_ace_str(&a->table, arg.value.str).ptr;; p = end + 1) {
		peer = strtoll(p, &end, 10);
		if (end == p)
			return s->peer_count > 0;
		add_peer(f, s, peer);
		if (*end != ',')
			return true;
	}
}

static void find_type(struct ut_ace_analysis *a, const struct ut_ace_event *e,
		      struct ut_ace_coll_step *s)
{
	static const struct {
		const char *text;
		enum ut_ace_flow_type type;
	} types[] = { { "WDone Barrier", UT_ACE_STEP_DONE },
		      { "MultiCast", UT_ACE_STEP_MCAST },
		      { "MultiCast XSEG", UT_ACE_STEP_SEND },
		      { "SingleCast", UT_ACE_STEP_SEND },
		      { "Set BCList", UT_ACE_STEP_BCLIST } };
	struct ut_str name = ut_ace_str(&a->table, e->name), text = { "", 0 };
	struct ut_arg arg;

	if (ut_ace_arg(&a->table, e->args, UT_ACE_K_TYPE, &arg) && arg.type == UT_ARG_STR)
		text = ut_ace_str(&a->table, arg.value.str);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].text, text.ptr))
			s->type = (uint8_t)types[i].type;
	}
	s->step = -1;
	if (ut_str_has_end(name, " Prep"))
		s->step = 0;
	else if (ut_str_has_end(name, " Exec"))
		s->step = 1;
	else if (s->type == UT_ACE_STEP_DONE)
		s->step = 5;
}

/* "RdmaSend", no X, "Xseg", no D, "DmaO" at the end. (Receives have been renamed before.) */
static int8_t direction(struct ut_str s)
{
	const char *end = s.ptr + s.len, *send = s.ptr, *xseg;

	if (s.len < 4 || memcmp(end - 4, "DmaO", 4))
		return -1;
	while ((send = memmem(send, (size_t)(end - send), "RdmaSend", 8))) {
		send += 8;
		xseg = memchr(send, 'X', (size_t)(end - send));
		if (xseg && xseg > send && end - xseg > 8 && !memcmp(xseg, "Xseg", 4) &&
		    !memchr(xseg + 4, 'D', (size_t)(end - 4 - xseg - 4)))
			return 0;
	}
	return -1;
}

static bool make_step(struct ut_ace_analysis *a, const struct ut_ace_event *e,
		      struct ut_ace_coll_step *s)
{
	struct ut_arg arg;

	*s = (struct ut_ace_coll_step){ .sync = sync_of(a, e->name), .shown = true };
	if (!s->sync || !find_peers(a, e, s))
		return false;
	if (ut_ace_arg(&a->table, e->args, UT_ACE_K_COLL_GROUP, &arg) && arg.type == UT_ARG_STR)
		s->group = arg.value.str;
	find_type(a, e, s);
	s->io = direction(ut_ace_str(&a->table, e->name));
	return true;
}

int ut_ace_pass_flow_prepare(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_flows *f = UT_NEW(&t->arena, struct ut_ace_flows);
	size_t count, lost = 0;
	uint32_t *old = ut_ace_seq_take(t, &count);

	a->flows = f;
	for (size_t i = 0; i < count; i++) {
		struct ut_ace_event *e = &t->events[old[i]], copy;
		struct ut_ace_coll_step s;

		ut_ace_seq_add(t, old[i]);
		if (!strchr("Xbe", e->ph) || !(e->flags & UT_ACE_HAS_ARGS))
			continue;
		tidy(a, e);
		if (!(ut_ace_flags_of(a, e) & UT_ACE_NAME(SYNC)))
			continue;
		if (!make_step(a, e, &s)) {
			lost++;
			continue;
		}
		f->steps = ut_grow(f->steps, f->count + 1, &f->cap, sizeof(*f->steps));
		f->steps[f->count] = s;
		copy = *e;
		copy.ph = 'F';
		copy.cat = s.group;
		copy.flags |= UT_ACE_FLOW | UT_ACE_HAS_CAT;
		copy.link = (uint32_t)f->count++;
		*ut_ace_event_add(t) = copy;
		ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
	}
	free(old);
	if (lost)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FLOW: %zu steps of collective operations do not say with whom", lost);
	return 0;
}

int ut_ace_pass_flow_cleanup(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	if (!a->flows)
		return 0;
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph == 'F')
			e->flags |= UT_ACE_DROP;
	}
	for (size_t i = 0; a->opts.release >= UT_ACE_1_2 && i < a->flows->count; i++)
		a->flows->steps[i].shown = false;
	ut_ace_seq_sweep(t);
	return 0;
}
