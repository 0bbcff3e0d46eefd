/*
 * malloc_marks.c - an allocator that marks each call, from the first of the process on, as
 * libtbbmalloc does. A collector that allocates in a hook recurses to death.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <ittnotify.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

static __itt_domain *domain;
static __itt_string_handle *name;

static void mark(void)
{
	if (!domain)
		return;
	__itt_task_begin(domain, __itt_null, __itt_null, name);
	__itt_task_end(domain);
}

void *malloc(size_t size)
{
	mark();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	mark();
	return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	mark();
	return __libc_realloc(p, size);
}

void free(void *p)
{
	mark();
	__libc_free(p);
}

static void *allocate(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		void *volatile p = malloc((size_t)i + 1); /* or compilers leave both out */

		if (p)
			free(p);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];
	__itt_domain *d = __itt_domain_create("malloc");

	name = __itt_string_handle_create("allocation");
	domain = d; /* from here on; the first call loads the collector from inside malloc */
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, allocate, NULL))
			return 1;
	allocate(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
