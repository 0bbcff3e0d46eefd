#include "session/empty_result.h"

#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "launch/program.h"
#include "session/outputs.h"
#include "session/session_event.h"
#include "session/session_plan.h"
#include "wire/control.h"

#define REPORT(...)                                                                                \
	ut_session_notify_text(                                                                    \
		n->client,                                                                         \
		(struct ut_session_event){ .kind = UT_SESSION_EVENT_EMPTY, .level = UT_INFO },     \
		__VA_ARGS__)
#define SAY(...) REPORT("nothing was recorded: " __VA_ARGS__)

static void report_unwanted(const struct ut_empty_result *n, const char *name)
{
	struct ut_buf list = { 0 };

	for (size_t i = 0; i < n->outputs->unwanted_count; i++)
		ut_buf_fmt(&list, "%s%s", i ? ", " : "", n->outputs->unwanted[i]);
	if (n->outputs->unwanted_count == UT_MOST_UNWANTED)
		ut_buf_text(&list, ", ...");
	SAY("the domain filter has kept out all that %s marks; its domains are: %s", name,
	    list.data);
	ut_buf_release(&list);
}

/* The collector was there, and nothing passed it. */
static void report_kept_out(const struct ut_empty_result *n, const char *name)
{
	uint32_t state = atomic_load(ut_control_state(n->control));

	if (n->outputs->unwanted_count)
		report_unwanted(n, name);
	else if (n->plan->name && state != UT_STATE_RUNNING)
		SAY("session %s is %s; 'unitrace --resume %s' while the program runs starts it",
		    n->plan->name, state == UT_STATE_PAUSED ? "paused" : "stopped", n->plan->name);
	else if ((n->control->flags & UT_CONTROL_ONE_SWITCH) && state == UT_STATE_PAUSED)
		SAY("it began paused, and neither %s (__itt_resume(), PTI_ENABLE_COLLECTION=1) nor "
		    "anybody else has resumed it",
		    name);
	else if (n->control->flags & UT_CONTROL_CONDITIONAL)
		SAY("it began paused (--start-paused), and %s never called __itt_resume() nor set "
		    "PTI_ENABLE_COLLECTION=1",
		    name);
	else if (n->control->want)
		SAY("%s has neither given work to a device nor made ITT marks", name);
	else
		SAY("%s has ITT inside but marked nothing; does it need an option to switch its "
		    "marks on?",
		    name);
}

/* env -i, env -, env --ignore-environment */
static bool clears_environment(const char *const *argv)
{
	if (strcmp(ut_path_base(argv[0]), "env") != 0)
		return false;
	for (size_t i = 1; argv[i] && argv[i][0] == '-'; i++) {
		if (!argv[i][1] || !strcmp(argv[i], "--ignore-environment") ||
		    (argv[i][1] != '-' && strchr(argv[i], 'i')))
			return true;
	}
	return false;
}

/* No static part of ITT has called the collector. */
static void report_never_called(const struct ut_empty_result *n, const char *name,
				struct ut_arena *a)
{
	struct ut_program p;

	ut_program_look(&p, a, n->plan->argv[0]);
	if (p.raised)
		SAY("%s runs with rights of its own (setuid, capabilities), and the system keeps "
		    "our variables from such programs; try it as the user that it runs as",
		    name);
	else if (p.elf && p.is_static)
		SAY("%s is statically linked, so ITT marks in it find no collector; link it "
		    "dynamically",
		    name);
	else if (clears_environment(n->plan->argv))
		SAY("'%s' clears the environment, which is how programs find us; name the "
		    "variables to drop instead (env -u NAME)",
		    name);
	else if (p.python && !n->plan->python.on)
		SAY("%s has made no marks; --python records the functions of a Python program",
		    name);
	else if (p.python)
		SAY("no Python of this run has loaded the profiler of --python, nor made marks");
	else if (p.speaks_itt)
		SAY("%s has ITT inside but never called it with our variables set: no place with "
		    "a mark was reached, marks need an option, it clears its environment first, "
		    "or it may open neither %s nor the collector (another user, no descriptors "
		    "left)",
		    name, n->session_dir);
	else if (p.elf)
		SAY("%s itself has no ITT inside, and nothing that it loaded or started called "
		    "any with our variables set",
		    name);
	else
		SAY("nothing that %s started has called ITT with our variables set", name);
}

/* Samples need nobody in the program: what kept them out is the switch. */
static bool samples_kept_out(const struct ut_empty_result *n)
{
	return n->plan->sampling.hz &&
	       ((n->control->flags & UT_CONTROL_CONDITIONAL) ||
		((n->plan->name || (n->control->flags & UT_CONTROL_ONE_SWITCH)) &&
		 atomic_load(ut_control_state(n->control)) != UT_STATE_RUNNING));
}

void ut_empty_result_report(const struct ut_empty_result *n, struct ut_arena *a)
{
	const char *name = ut_path_base(n->plan->argv[0]);

	if (!ut_session_plan_wants_rank(n->plan, n->control->rank))
		SAY("nothing is recorded of devices for rank %d, which --ranks-to-sample leaves "
		    "out, and %s has marked nothing itself",
		    n->control->rank, name);
	else if (n->woken || samples_kept_out(n))
		report_kept_out(n, name);
	else if (n->access == UT_CONTROL_ACCESS_READ)
		SAY("a process of the run could only read %s, not write there (a read-only mount, "
		    "another user?); --spool-dir chooses another place",
		    n->session_dir);
	else if (n->access == UT_CONTROL_ACCESS_WRITE && !n->plan->follow_children)
		SAY("only other processes than %s have called ITT, and --follow-child-process 0 "
		    "keeps them out",
		    name);
	else
		report_never_called(n, name, a);
	if (!n->woken && n->control->want && ut_session_plan_wants_rank(n->plan, n->control->rank))
		REPORT("no runtime of a device that unitrace knows (CUDA, OpenCL, Level Zero) was "
		       "started with our variables set");
}
