/*
 * copies.c - loads libcopy_a.so and libcopy_b.so, each with its own static part, besides ours;
 * unloads and loads them again, several times. Words: the two paths.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <ittnotify.h>

static int number;

static void use(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = handle ? dlsym(handle, "copy_work") : NULL;
	void (*work)(int);

	if (!symbol) {
		printf("%s: %s\n", path, dlerror());
		return;
	}
	memcpy(&work, &symbol, sizeof(work));
	work(number++);
	work(number++);
	dlclose(handle);
}

int main(int argc, char **argv)
{
	__itt_domain *domain = __itt_domain_create("copies");

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("outer"));
	for (int i = 0; i < 3; i++)
		for (int k = 1; k < argc; k++)
			use(argv[k]);
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("shared name"));
	__itt_task_end(domain);
	__itt_task_end(domain);
	return 0;
}
