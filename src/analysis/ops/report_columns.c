#include "ops/report_columns.h"

#include <stdio.h>

#include "base/str.h"
#include "ops/report.h"

static uint32_t make_column(const struct ut_ops_tensors *t, struct ut_ops_report *r, uint32_t index,
			    uint32_t field)
{
	static const char *const names[UT_OPS_TENSOR_FIELDS] = { "W",     "Z",      "Y",
								 "X",     "LAYOUT", "DATA TYPE",
								 "MEMORY" };
	char name[64];

	snprintf(name, sizeof(name), "%s_%u_%s", t->output ? "OUTPUT" : "INPUT", index,
		 names[field]);
	return ut_ops_column(r, &(struct ut_ops_column){ .name = name,
							 .group = t->group,
							 .index = index,
							 .sub = field,
							 .missing = "-" });
}

uint32_t ut_ops_tensor_column(struct ut_ops_tensors *t, struct ut_ops_report *r, uint32_t index,
			      uint32_t field)
{
	uint32_t *id = &t->ids[index][field];

	if (!*id)
		*id = make_column(t, r, index, field) + 1;
	return *id - 1;
}

uint32_t ut_ops_call_column(struct ut_ops_report *r, uint32_t group, const char *name,
			    uint32_t field)
{
	static const char *const what[] = { "Count", "Average [ns]" };

	return ut_ops_column(r, &(struct ut_ops_column){
					.name = ut_str_fmt(&r->arena, "%s %s", name, what[field]),
					.group = group,
					.key = name,
					.sub = field,
					.missing = "0" });
}
