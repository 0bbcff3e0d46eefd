/*
 * old_copy.c - plays the static parts of other years against the collector: the one of 2015, which
 * libomp 13 carries, and one of 2018. Each ends at an unreadable page, so that reading a member
 * that it does not have is fatal.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "itt/abi.h"

#define OLD_BYTES offsetof(__itt_global, state) /* nothing behind string_list */

static void *begin_ptr, *end_ptr, *frame_ptr, *format_ptr, *unknown_ptr = &unknown_ptr;

static __itt_api_info list[] = {
	{ "__itt_task_begin", &begin_ptr, NULL, NULL, __itt_group_structure },
	{ "__itt_task_end", &end_ptr, NULL, NULL, __itt_group_structure },
	{ "__itt_frame_submit_v3", &frame_ptr, NULL, NULL, __itt_group_structure },
	{ "__itt_formatted_metadata_add", &format_ptr, NULL, NULL, __itt_group_structure },
	{ "__itt_of_the_future", &unknown_ptr, NULL, NULL, __itt_group_structure },
	{ NULL, NULL, NULL, NULL, __itt_group_none },
};

static __itt_domain domain = { .flags = 1, .nameA = "old" };
static __itt_string_handle handle = { .strA = "old task" };
static __itt_string_handle format = { .strA = "%s lost", .next = &handle };

static __itt_global *make_copy(unsigned long build)
{
	static const unsigned char magic[8] = ITT_MAGIC;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__itt_global *copy;

	if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE))
		exit(99);
	copy = (__itt_global *)(void *)(pages + 4096 - OLD_BYTES);
	memcpy(copy->magic, magic, sizeof(magic));
	copy->version_major = 3;
	copy->version_build = build;
	copy->api_list_ptr = list;
	copy->domain_list = &domain;
	copy->string_list = &format;
	return copy;
}

static void use(void)
{
	void (*begin)(const __itt_domain *, __itt_id, __itt_id, __itt_string_handle *);
	void (*end)(const __itt_domain *);
	void (*formatted)(const __itt_domain *, __itt_string_handle *, ...);

	memcpy(&begin, &begin_ptr, sizeof(begin));
	memcpy(&end, &end_ptr, sizeof(end));
	memcpy(&formatted, &format_ptr, sizeof(formatted));
	formatted(&domain, &format); /* as the vendor's stub forwards its first call */
	begin(&domain, __itt_null, __itt_null, &handle);
	formatted(&domain, &format, "not");
	end(&domain);
}

int main(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *collector = path ? dlopen(path, RTLD_LAZY) : NULL;
	void *symbol = collector ? dlsym(collector, "__itt_api_init") : NULL;
	__itt_api_init_t *init;

	if (!symbol) {
		puts("no collector");
		return 0;
	}
	memcpy(&init, &symbol, sizeof(init));
	init(make_copy(20151119), __itt_group_all);
	printf("2015: frames %s, unknown %s\n", frame_ptr ? "taken" : "left",
	       unknown_ptr ? "taken" : "left");
	use();
	init(make_copy(20180723), __itt_group_all);
	printf("2018: frames %s\n", frame_ptr ? "taken" : "left");
	use();
	return 0;
}
