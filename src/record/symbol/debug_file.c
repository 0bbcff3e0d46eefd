#include "symbol/debug_file.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/elf_file.h"

#define MOST_FOLDERS 8u

static const char *folders[MOST_FOLDERS + 1] = { "/usr/lib/debug" };
static size_t folder_count = 1;

struct search {
	const struct ut_elf *file;
	const char *path;
	struct ut_build_id id;
	struct ut_elf *debug;
	char *found;
	size_t size;
};

void ut_debug_file_look_in(const char *folder)
{
	if (folder_count <= MOST_FOLDERS)
		folders[folder_count++] = folder;
}

static bool same_id(const struct ut_build_id *a, const struct ut_build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/* Is the file at s->found what is looked for? Without a build id nobody can tell. */
static bool try(const struct search *s)
{
	struct ut_build_id id;

	if (!strcmp(s->found, s->path) || !ut_elf_open(s->debug, s->found))
		return false;
	id = ut_elf_build_id(s->debug);
	if (!s->id.len || !id.len || same_id(&id, &s->id))
		return true;
	ut_elf_close(s->debug);
	return false;
}

static bool debug_file_by_id(const struct search *s)
{
	char text[2 * UT_BUILD_ID_MOST + 1];

	if (s->id.len < 2)
		return false;
	ut_build_id_text(&s->id, text);
	for (size_t i = 0; i < folder_count; i++) {
		if (snprintf(s->found, s->size, "%s/.build-id/%.2s/%s.debug", folders[i], text,
			     text + 2) < (int)s->size &&
		    try(s))
			return true;
	}
	return false;
}

/* .gnu_debuglink: a name, to be looked for in several places. */
static bool by_link(const struct search *s)
{
	const Elf64_Shdr *link = ut_elf_section(s->file, ".gnu_debuglink");
	const char *slash = strrchr(s->path, '/'), *name;
	int len = slash ? (int)(slash - s->path) : 0;

	if (!link || !slash || !link->sh_size)
		return false;
	name = s->file->base + link->sh_offset;
	if (!memchr(name, '\0', link->sh_size) || strchr(name, '/'))
		return false;
	if (snprintf(s->found, s->size, "%.*s/%s", len, s->path, name) < (int)s->size && try(s))
		return true;
	if (snprintf(s->found, s->size, "%.*s/.debug/%s", len, s->path, name) < (int)s->size &&
	    try(s))
		return true;
	for (size_t i = 0; i < folder_count; i++) {
		if (snprintf(s->found, s->size, "%s%.*s/%s", folders[i], len, s->path, name) <
			    (int)s->size &&
		    try(s))
			return true;
	}
	return false;
}

/* ---- servers --------------------------------------------------------------------------------- */

/* The client of elfutils, which keeps what it has fetched in the user's cache. */
static struct {
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find)(void *client, const unsigned char *id, int len, char **path);
} client;

static bool allowed;

static void *debug_file_take(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

bool ut_debug_file_allow_servers(void)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	void *begin = debug_file_take(library, "debuginfod_begin"),
	     *end = debug_file_take(library, "debuginfod_end"),
	     *find = debug_file_take(library, "debuginfod_find_debuginfo");

	memcpy(&client.begin, &begin, sizeof(begin));
	memcpy(&client.end, &end, sizeof(end));
	memcpy(&client.find, &find, sizeof(find));
	allowed = begin && end && find;
	return allowed;
}

static bool by_server(const struct search *s)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	char *path = NULL;
	bool ok = false;
	void *c;
	int fd;

	if (!allowed || s->id.len < 2)
		return false;
	pthread_mutex_lock(&one_at_a_time);
	c = client.begin();
	fd = c ? client.find(c, s->id.bytes, (int)s->id.len, &path) : -1;
	if (fd >= 0 && path && snprintf(s->found, s->size, "%s", path) < (int)s->size)
		ok = try(s);
	if (fd >= 0)
		close(fd);
	free(path);
	if (c)
		client.end(c);
	pthread_mutex_unlock(&one_at_a_time);
	return ok;
}

bool ut_debug_file_open(const struct ut_elf *file, const char *path, struct ut_elf *debug,
			char *found, size_t size)
{
	const struct search s = { .file = file,
				  .path = path,
				  .id = ut_elf_build_id(file),
				  .debug = debug,
				  .found = found,
				  .size = size };

	return debug_file_by_id(&s) || by_link(&s) || by_server(&s);
}
