/* plain.c - one task, "plain work", and the end. Words are printed back. */
#include <stdio.h>

#include <ittnotify.h>

int main(int argc, char **argv)
{
	__itt_domain *domain = __itt_domain_create("plain");

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("plain work"));
	for (int i = 1; i < argc; i++)
		puts(argv[i]);
	__itt_task_end(domain);
	return 0;
}
