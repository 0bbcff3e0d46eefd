/* edges.c - marks before main, in main, and after it: constructor, destructor, atexit, thread end.
 */
#include <pthread.h>
#include <stdlib.h>

#include <ittnotify.h>

static pthread_key_t key;

static void task(const char *name)
{
	__itt_domain *domain = __itt_domain_create("edges");

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	__itt_task_end(domain);
}

static __attribute__((constructor(101))) void before(void)
{
	task("constructor");
}

static __attribute__((destructor(101))) void after(void)
{
	task("destructor");
}

static void at_exit(void)
{
	task("atexit");
}

static void thread_ends(void *value)
{
	static int second;

	task("key destructor");
	if (value != &second)
		pthread_setspecific(key, &second); /* another round, behind the collector's own */
}

static void *thread(void *unused)
{
	pthread_setspecific(key, &key);
	task("thread");
	return unused;
}

int main(void)
{
	pthread_t t;

	atexit(at_exit);
	if (pthread_key_create(&key, thread_ends))
		return 1;
	task("main");
	if (!pthread_create(&t, NULL, thread, NULL))
		pthread_join(t, NULL);
	return 0;
}
