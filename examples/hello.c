/*
 * hello.c - the smallest program that can be seen: one domain, one task.
 *
 *	cc -Iinclude examples/hello.c -Lbuild/lib -littnotify -o hello
 *	unitrace ./hello
 */
#include <stdio.h>

#include <ittnotify.h>

int main(void)
{
	__itt_domain *domain = __itt_domain_create("example.hello");
	__itt_string_handle *greet = __itt_string_handle_create("greet");

	__itt_task_begin(domain, __itt_null, __itt_null, greet);
	puts("hello, trace");
	__itt_task_end(domain);
	return 0;
}
