/* libcopy_a.c - a library with a static part of its own; same domain and names as its twin. */
#include <ittnotify.h>

void copy_work(int number);

static int loaded;

static __attribute__((constructor)) void load(void)
{
	loaded = 1;
}

static __attribute__((destructor)) void unload(void)
{
	__itt_task_begin(__itt_domain_create("copies"), __itt_null, __itt_null,
			 __itt_string_handle_create("unload a"));
	__itt_task_end(__itt_domain_create("copies"));
	__itt_release_resources();
}

void copy_work(int number)
{
	__itt_domain *domain = __itt_domain_create("copies");

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("shared name"));
	__itt_metadata_add(domain, __itt_null, __itt_string_handle_create("a"), __itt_metadata_s32,
			   (size_t)loaded, &number);
	__itt_task_end(domain);
	__itt_counter_inc(__itt_counter_create("shared counter", "copies"));
}
