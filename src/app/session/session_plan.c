#include "session/session_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unitrace/backend.h"
#include "wire/backend_options.h"
#include "wire/control.h"
#include "wire/process.h"

#define GRACE_NS    UINT64_C(1000000000)
#define TOP_ROWS    20
#define STACK_BYTES 8192

void ut_session_plan_init(struct ut_session_plan *p)
{
	*p = (struct ut_session_plan){
		.follow_children = 1,
		.wait_children = GRACE_NS,
		.out.summary_rows = TOP_ROWS,
		.sampling = { .stacks = UT_STACKS_DWARF, .stack_bytes = STACK_BYTES },
	};
}

void ut_session_plan_release(struct ut_session_plan *p)
{
	ut_opt_list_release(&p->domains);
	ut_opt_list_release(&p->exclude_domains);
	ut_opt_list_release(&p->device.ranks);
	ut_opt_list_release(&p->device.backend_options);
	ut_opt_list_release(&p->device.devices);
	ut_python_release(&p->python);
}

static int add_filter(char list[UT_FILTER_BYTES], const char *pattern, size_t len,
		      struct ut_err *err)
{
	char word[UT_FILTER_BYTES];
	int rc = -ENOSPC;

	if (len < sizeof(word)) {
		memcpy(word, pattern, len);
		word[len] = '\0';
		rc = len ? ut_control_add_filter(list, word) : 0;
	}
	if (rc)
		return ut_err_set(err, -EINVAL, "too many ITT domain patterns (%d bytes at most)",
				  UT_FILTER_BYTES);
	return 0;
}

static int add_filters(char list[UT_FILTER_BYTES], const struct ut_opt_list *from,
		       struct ut_err *err)
{
	for (size_t i = 0; i < from->count; i++) {
		const char *p = from->items[i];

		do {
			size_t len = strcspn(p, ",");
			int rc = add_filter(list, p, len, err);

			if (rc)
				return rc;
			p += len;
		} while (*p++);
	}
	return 0;
}

/*
 * --chrome-ccl-logging and its like leave out what the other libraries say, never the program's own
 * domains. Only --itt-domains chooses, and then what these options stand for is added.
 */
static int apply_domains(const struct ut_session_plan *p, struct ut_control *control,
			 struct ut_err *err)
{
	const bool any = p->ccl || p->dnn || p->mpi;
	const struct {
		bool on;
		const char *patterns[3];
	} sets[] = {
		{ p->ccl, { "oneCCL*", "NCCL" } },
		{ p->dnn, { "dnnl*", "onednn*", "jit" } },
		{ p->mpi, { "MPI" } },
		{ any, { "PyTorch*" } },
		{ p->python.on && any, { "Python*" } },
	};
	const bool chosen = p->domains.count != 0;
	int rc = add_filters(control->exclude, &p->exclude_domains, err);

	if (rc || (!chosen && (p->itt || !any)))
		return rc;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		char *list = chosen ? control->include : control->exclude;

		for (size_t k = 0; !rc && sets[i].on == chosen && k < 3 && sets[i].patterns[k]; k++)
			rc = add_filter(list, sets[i].patterns[k], strlen(sets[i].patterns[k]),
					err);
	}
	return rc ? rc : add_filters(control->include, &p->domains, err);
}

static int apply_memory(const struct ut_session_plan *p, struct ut_control *control,
			struct ut_err *err)
{
	char text[64];

	if (!p->memory.on)
		return 0;
	control->want |= UT_WANT_MEMORY;
	if (p->memory.interval == 1)
		snprintf(text, sizeof(text), "memory.interval=each");
	else
		snprintf(text, sizeof(text), "memory.interval=%" PRIu64, p->memory.interval);
	if (ut_backend_option_add(control->options, text))
		return ut_err_set(err, -EINVAL, "too many options for backends (%d bytes at most)",
				  UT_OPTION_BYTES);
	return 0;
}

int ut_session_plan_apply(const struct ut_session_plan *p, struct ut_control *control,
			  const struct ut_session_client *client, struct ut_err *err)
{
	/* A named session is switched by its name alone. */
	if (p->one_switch || p->resume_after)
		control->flags |= UT_CONTROL_ONE_SWITCH;
	else if (p->start_paused && !p->name)
		control->flags |= UT_CONTROL_CONDITIONAL;
	if (p->sampling.hz)
		control->flags |= UT_CONTROL_SAMPLED;
	if (p->follow_children)
		control->flags |= UT_CONTROL_FOLLOW_CHILDREN;
	control->groups = p->groups;
	control->rank = ut_process_rank();
	control->keep_bytes = p->keep_bytes;
	control->keep_ns = p->keep_ns;
	control->max_bytes = p->max_bytes;
	if (ut_session_plan_apply_device(p, control, client, err) || apply_memory(p, control, err))
		return -EINVAL;
	return apply_domains(p, control, err);
}
