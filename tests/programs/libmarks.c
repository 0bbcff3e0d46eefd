/* libmarks.c - marks for programs that cannot link ittnotify themselves: Python through ctypes. */
#include <stddef.h>

#include <ittnotify.h>

void marks_begin(const char *name);
void marks_end(void);
void marks_pause(void);
void marks_resume(void);

static __itt_domain *domain(void)
{
	static __itt_domain *d;

	if (!d)
		d = __itt_domain_create("marks");
	return d;
}

void marks_begin(const char *name)
{
	__itt_task_begin(domain(), __itt_null, __itt_null, __itt_string_handle_create(name));
}

void marks_end(void)
{
	__itt_task_end(domain());
}

void marks_pause(void)
{
	__itt_pause();
}

void marks_resume(void)
{
	__itt_resume();
}
