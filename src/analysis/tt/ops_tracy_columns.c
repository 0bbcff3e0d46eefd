#include "tt/ops_tracy_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const char *const head[] = {
	"OP CODE",
	"OP TYPE",
	"GLOBAL CALL COUNT",
	"DEVICE ID",
	"DEVICE ARCH",
	"ATTRIBUTES",
	"MATH FIDELITY",
	"CORE COUNT",
	"AVAILABLE WORKER CORE COUNT",
	"SUB DEVICE ID",
	"PARALLELIZATION STRATEGY",
	"HOST START TS",
	"HOST END TS",
	"HOST DURATION [ns]",
	"DEVICE FW START CYCLE",
	"DEVICE FW END CYCLE",
	"OP TO OP LATENCY [ns]",
	"OP TO OP LATENCY BR/NRISC START [ns]",
	"DEVICE FW DURATION [ns]",
	"DEVICE KERNEL DURATION [ns]",
	"DEVICE KERNEL DURATION DM START [ns]",
	"DEVICE KERNEL DURATION PER CORE MIN [ns]",
	"DEVICE KERNEL DURATION PER CORE MAX [ns]",
	"DEVICE KERNEL DURATION PER CORE AVG [ns]",
	"DEVICE KERNEL FIRST TO LAST START [ns]",
	"DEVICE BRISC KERNEL DURATION [ns]",
	"DEVICE NCRISC KERNEL DURATION [ns]",
	"DEVICE TRISC0 KERNEL DURATION [ns]",
	"DEVICE TRISC1 KERNEL DURATION [ns]",
	"DEVICE TRISC2 KERNEL DURATION [ns]",
	"DEVICE ERISC KERNEL DURATION [ns]",
	"DEVICE COMPUTE CB WAIT FRONT [ns]",
	"DEVICE COMPUTE CB RESERVE BACK [ns]",
	"DISPATCH TOTAL CQ CMD OP TIME [ns]",
	"DISPATCH GO SEND WAIT TIME [ns]",
	NULL,
};

static const char *const program[] = {
	"METAL TRACE ID",
	"METAL TRACE REPLAY SESSION ID",
	"COMPUTE KERNEL SOURCE",
	"COMPUTE KERNEL HASH",
	"DATA MOVEMENT KERNEL SOURCE",
	"DATA MOVEMENT KERNEL HASH",
	"PROGRAM HASH",
	"PROGRAM CACHE HIT",
	NULL,
};

static const char *const model[] = {
	"PM IDEAL [ns]",
	"PM COMPUTE [ns]",
	"PM BANDWIDTH [ns]",
	"PM REQ I BW",
	"PM REQ O BW",
	"PM FPU UTIL (%)",
	"NOC UTIL (%)",
	"MULTICAST NOC UTIL (%)",
	"DRAM BW UTIL (%)",
	"DRAM BW UTIL PER CTRL (%)",
	"ETH BW UTIL (%)",
	"NPE CONG IMPACT (%)",
	NULL,
};

#define EVERY_REPORT (35u + 8u + 12u)

_Static_assert(sizeof(head) + sizeof(program) + sizeof(model) ==
		       (EVERY_REPORT + 3) * sizeof(char *),
	       "all of them");

void ut_tracy_columns_init(struct ut_tracy_columns *c, struct ut_ops_report *r)
{
	static const char *const names[UT_TRACY_WORDS] = {
#define NAME(word, name) name,
		UT_TRACY_LIST(NAME)
#undef NAME
	};

	ut_ops_columns(r, head, UT_TRACY_HEAD, "");
	ut_ops_columns(r, program, UT_TRACY_PROGRAM, "");
	ut_ops_columns(r, model, UT_TRACY_MODEL, "");
	for (int i = 0; i < UT_TRACY_WORDS; i++)
		c->id[i] = ut_ops_column(r, &(struct ut_ops_column){ .name = names[i] });
}

bool ut_tracy_column_find(struct ut_ops_report *r, struct ut_str name, uint32_t *column)
{
	const uint32_t first = r->problem + 1; /* they are the first that were added */

	for (uint32_t i = first; i < first + EVERY_REPORT; i++) {
		if (ut_str_is(name, r->columns[i].name)) {
			*column = i;
			return true;
		}
	}
	return false;
}

uint32_t ut_tracy_tensor(struct ut_ops_report *r, bool output, uint32_t index, uint32_t field)
{
	static const char *const fields[UT_TRACY_TENSOR_FIELDS] = {
		"W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]",
		"LAYOUT",         "DATATYPE",       "MEMORY",
	};
	char name[64];

	snprintf(name, sizeof(name), "%s_%u_%s", output ? "OUTPUT" : "INPUT", index, fields[field]);
	return ut_ops_column(
		r, &(struct ut_ops_column){ .name = name,
					    .group = output ? UT_TRACY_OUTPUTS : UT_TRACY_INPUTS,
					    .index = index,
					    .sub = field,
					    .missing = "" });
}

/* Upper case, and blanks for what joins words. */
static char *shout(struct ut_arena *a, struct ut_str key, const char *suffix)
{
	char *name = ut_str_fmt(a, "%.*s%s", (int)key.len, key.ptr, suffix);

	for (size_t i = 0; i < key.len && name[i]; i++) {
		if (name[i] == '_')
			name[i] = ' ';
		else if (name[i] >= 'a' && name[i] <= 'z')
			name[i] = (char)(name[i] - 'a' + 'A');
	}
	return name;
}

uint32_t ut_tracy_size(struct ut_ops_report *r, struct ut_str key)
{
	static const char *const classes[] = { "TENSIX DM ", "TENSIX COMPUTE ", "ACTIVE ETH DM ",
					       "IDLE ETH DM " };
	const char *name = shout(&r->arena, key, " [B]");
	uint32_t class = 0, index = 0;

	while (class < 4 && !ut_str_starts(name, classes[class]))
		class ++;
	if (class < 4)
		index = (uint32_t)strtoul(name + strlen(classes[class]), NULL, 10);
	return ut_ops_column(r, &(struct ut_ops_column){ .name = name,
							 .group = UT_TRACY_SIZES + class,
							 .index = index,
							 .key = name,
							 .missing = "" });
}

bool ut_tracy_is_counter(struct ut_str name)
{
	static const char *const ends[] = { " Min", " Median", " Max", " Avg",
					    " util on full grid" };
	static const char *const kinds[] = { " (%)", " (ratio)" };
	size_t len;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		len = strlen(kinds[i]);
		if (name.len > len && ut_str_has_end(name, kinds[i]))
			name.len -= len;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (name.len > strlen(ends[i]) && ut_str_has_end(name, ends[i]))
			return true;
	}
	return false;
}

uint32_t ut_tracy_counter(struct ut_ops_report *r, struct ut_str name, uint32_t index)
{
	const char *title = ut_str_fmt(&r->arena, "%.*s", (int)name.len, name.ptr);

	return ut_ops_column(r, &(struct ut_ops_column){ .name = title,
							 .group = UT_TRACY_COUNTERS,
							 .index = index,
							 .missing = "" });
}

uint32_t ut_tracy_call(struct ut_ops_report *r, struct ut_str name)
{
	char *title = ut_str_fmt(&r->arena, "%.*s_TT_HOST_FUNC [ns]", (int)name.len, name.ptr);

	return ut_ops_column(
		r, &(struct ut_ops_column){
			   .name = title, .group = UT_TRACY_CALLS, .key = title, .missing = "" });
}

struct ut_str ut_tracy_text(struct ut_ops_report *r, struct ut_str text)
{
	char *copy;

	if (!text.len || !memchr(text.ptr, ',', text.len))
		return text;
	copy = ut_arena_copy(&r->arena, text.ptr, text.len);
	for (size_t i = 0; i < text.len; i++)
		copy[i] = copy[i] == ',' ? ';' : copy[i];
	return (struct ut_str){ copy, text.len };
}
