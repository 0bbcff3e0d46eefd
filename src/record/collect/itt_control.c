/* itt_control.c - pause and resume, thread names, the clock, and who we are. */
#define INTEL_NO_MACRO_BODY
#include <string.h>

#include "collect/hook.h"

/* ---- control ------------------------------------------------------------------------------- */

/* May be the first call of all; device collection has switches of its own. */
void __itt_pause_scoped(__itt_collection_scope scope)
{
	if (scope & __itt_collection_scope_host && ut_gate_wake())
		ut_gate_pause(true);
}

void __itt_resume_scoped(__itt_collection_scope scope)
{
	if (scope & __itt_collection_scope_host && ut_gate_wake())
		ut_gate_pause(false);
}

void __itt_pause(void)
{
	__itt_pause_scoped(__itt_collection_scope_host);
}

void __itt_resume(void)
{
	__itt_resume_scoped(__itt_collection_scope_host);
}

void __itt_detach(void)
{
	struct ut_tbuf *t = ut_hook();

	if (t)
		ut_tbuf_words(t, UT_REC_DETACH, NULL, 0);
	ut_gate_stop();
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Names are taken also during a pause; the last one wins. */
static int name_thread(const char *name, size_t len)
{
	uint64_t word;

	(void)ut_hook(); /* attaches the thread, whether or not it may record */
	ut_me.fresh = 0;
	if (name && ut_gate_wake() && ut_me.thread) {
		word = ut_pack(ut_me.thread, ut_intern(name, len));
		ut_writer_define(UT_REC_THREAD_NAME, &word, 1, NULL, 0);
	}
	return 0;
}

void __itt_thread_set_name(const char *name)
{
	name_thread(name, name ? strlen(name) : 0);
}

int __itt_thr_name_set(const char *name, int len)
{
	return name_thread(name, name && len > 0 ? strnlen(name, (size_t)len) : 0);
}

void __itt_thread_ignore(void)
{
	ut_gate_ignore_thread();
}

void __itt_thr_ignore(void)
{
	ut_gate_ignore_thread();
}

/* ---- names, clock, version ----------------------------------------------------------------- */

__itt_domain *__itt_domain_create(const char *name)
{
	ut_gate_wake();
	return ut_intern_domain(name);
}

__itt_string_handle *__itt_string_handle_create(const char *name)
{
	return ut_intern_handle(name);
}

/* The unit of our records: what comes back in frame_submit needs no conversion. */
__itt_timestamp __itt_get_timestamp(void)
{
	return ut_clock_ticks(ut_writer_clock);
}

const char *__itt_api_version(void)
{
	return "unitrace, ITT API 3";
}
