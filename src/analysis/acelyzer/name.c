#include "acelyzer/name.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define KNOWN (UINT64_C(1) << 63)

enum how {
	CONTAINS,
	BEGINS,
	ENDS,
	IS,
	LAUNCHES, /* "Launch", later "ControlBlock" */
	NUMBERS,  /* a digit somewhere behind something else */
	GLOBALS,  /* one of the events that --drop_globals drops */
};

static const struct {
	enum how how;
	const char *text;
} patterns[] = {
#define PATTERN(flag, how, text) { how, text },
	UT_ACE_NAME_LIST(PATTERN)
#undef PATTERN
};

static const char *const globals[] = {
	"Execute graph", "SenFusedDeviceNode", "AIU Roundtrip", "Flex RoundTrip",   "PostKeys",
	"FetchKeys",     "Callback",           "HostPrep",      "AllocateFrame of", "Update CBs",
};

static bool name_contains(struct ut_str s, const char *text)
{
	return memmem(s.ptr, s.len, text, strlen(text)) != NULL;
}

static bool launches(struct ut_str s)
{
	const char *at = memmem(s.ptr, s.len, "Launch", 6);

	return at && memmem(at, (size_t)(s.ptr + s.len - at), "ControlBlock", 12);
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool numbers(struct ut_str s)
{
	for (size_t i = 1; i < s.len; i++) {
		if (digit(s.ptr[i]) && !digit(s.ptr[i - 1]))
			return true;
	}
	return false;
}

static bool is_global(struct ut_str s)
{
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
		if (name_contains(s, globals[i]))
			return true;
	}
	return false;
}

static bool name_matches(struct ut_str s, enum how how, const char *text)
{
	switch (how) {
	case CONTAINS:
		return name_contains(s, text);
	case BEGINS:
		return ut_str_has_start(s, text);
	case ENDS:
		return ut_str_has_end(s, text);
	case IS:
		return ut_str_is(s, text);
	case LAUNCHES:
		return launches(s);
	case NUMBERS:
		return numbers(s);
	case GLOBALS:
		return is_global(s);
	}
	return false;
}

static void *grow_zero(void *items, size_t had, size_t want, size_t size)
{
	items = realloc(items, want * size);
	if (!items)
		abort();
	memset((char *)items + had * size, 0, (want - had) * size);
	return items;
}

static void name_make_room(struct ut_ace_names *n, uint32_t name)
{
	size_t want = 2 * ((size_t)name + 512);

	if (name < n->cap)
		return;
	n->flags = grow_zero(n->flags, n->cap, want, sizeof(*n->flags));
	n->unified = grow_zero(n->unified, n->cap, want, sizeof(*n->unified));
	n->bare = grow_zero(n->bare, n->cap, want, sizeof(*n->bare));
	n->numbered = grow_zero(n->numbered, n->cap, want, sizeof(*n->numbered));
	n->cap = want;
}

void ut_ace_names_release(struct ut_ace_names *n)
{
	free(n->flags);
	free(n->unified);
	free(n->bare);
	free(n->numbered);
	*n = (struct ut_ace_names){ 0 };
}

void ut_ace_names_reserve(struct ut_ace_names *n, const struct ut_ace_table *t)
{
	name_make_room(n, t->strings.count);
}

uint64_t ut_ace_name_flags(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name)
{
	struct ut_str s;
	uint64_t flags = ut_ace_name_known(n, name);

	if (flags)
		return flags;
	flags = KNOWN;
	name_make_room(n, name);
	s = ut_ace_str(t, name);
	for (int i = 0; i < UT_ACE_NAME_BITS; i++) {
		if (name_matches(s, patterns[i].how, patterns[i].text))
			flags |= UINT64_C(1) << i;
	}
	atomic_store_explicit(&n->flags[name], flags, memory_order_relaxed);
	return flags;
}

static uint32_t name_take(struct ut_ace_table *t, struct ut_buf *b)
{
	uint32_t id = ut_strtab_intern(&t->strings, b->data ? b->data : "", b->len);

	ut_buf_release(b);
	return id;
}

uint32_t ut_ace_name_unified(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name)
{
	struct ut_str s = ut_ace_str(t, name);
	struct ut_buf b = { 0 };

	name_make_room(n, name);
	if (n->unified[name] || !name)
		return n->unified[name];
	n->unified[name] = name;
	if (!name_contains(s, "RDMA") && !name_contains(s, "Receive"))
		return name;
	for (size_t i = 0; i < s.len;) {
		bool rdma = s.len - i >= 4 && !memcmp(s.ptr + i, "RDMA", 4);
		bool receive = s.len - i >= 7 && !memcmp(s.ptr + i, "Receive", 7);

		if (rdma || receive)
			ut_buf_add(&b, rdma ? "Rdma" : "Recv", 4);
		else
			ut_buf_char(&b, s.ptr[i]);
		i += rdma ? 4 : receive ? 7 : 1;
	}
	return n->unified[name] = name_take(t, &b);
}

/*
 * Each run of digits goes, with the underscore before it, unless a V stands before it. A name that
 * would have nothing left stays as it is.
 */
uint32_t ut_ace_name_bare(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name)
{
	struct ut_str s = ut_ace_str(t, name);
	struct ut_buf b = { 0 };

	name_make_room(n, name);
	if (n->bare[name] || !name)
		return n->bare[name];
	n->bare[name] = name;
	if (!numbers(s))
		return name;
	for (size_t i = 0; i < s.len;) {
		size_t from = i;

		while (i < s.len && digit(s.ptr[i]))
			i++;
		if (i == from)
			ut_buf_char(&b, s.ptr[i++]);
		else if (from && s.ptr[from - 1] == '_')
			b.len--;
		else if (from && s.ptr[from - 1] == 'V')
			ut_buf_add(&b, s.ptr + from, i - from);
	}
	if (b.len)
		n->bare[name] = ut_strtab_intern(&t->strings, b.data, b.len);
	ut_buf_release(&b);
	return n->bare[name];
}

uint32_t ut_ace_name_numbered(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name)
{
	struct ut_str s = ut_ace_str(t, name);
	struct ut_buf b = { 0 };

	name_make_room(n, name);
	if (n->numbered[name] || !name)
		return n->numbered[name];
	for (size_t i = 0; i < s.len;) {
		size_t to = i + 1;

		while (to < s.len && digit(s.ptr[to]))
			to++;
		if ((s.ptr[i] == '_' || s.ptr[i] == '-') && to > i + 1) {
			ut_buf_text(&b, "_[N]");
			i = to;
		} else {
			ut_buf_char(&b, s.ptr[i++]);
		}
	}
	return n->numbered[name] = name_take(t, &b);
}
