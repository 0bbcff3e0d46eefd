/* first_format.c - formatted metadata is the first ITT call of all. */
#include <ittnotify.h>

int main(void)
{
	__itt_domain *domain = __itt_domain_create("first");

	__itt_formatted_metadata_add(domain, __itt_string_handle_create("first %s %d"), "word", 42);
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("after"));
	__itt_formatted_metadata_add(domain, __itt_string_handle_create("second %s"), "text");
	__itt_task_end(domain);
	return 0;
}
