/* mpi_abi.c - see mpi_abi.h. */
#include "backend/mpi/mpi_abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#define MOST_PATH 4096u

struct ut_mpi_abi ut_mpi_abi;

union address {
	void *pointer;
	ut_mpi_fn *function;
};

static const struct ut_mpi_abi mpich = {
	.name = "MPICH",
	.handle = 4,
	.status = 20,
	.source = 8,
	.tag = 12,
	.ignore = 1,
	.in_place = UINTPTR_MAX,
	.world = 0x44000000,
	.byte = 0x4c00010d,
	.null_request = 0x2c000000,
	.null_comm = 0x04000000,
	.null_win = 0x20000000,
	.any_source = -2,
	.any_tag = -1,
	.proc_null = -1,
	.root = -3,
	.cart = 2,
	.graph = 1,
	.dist_graph = 3,
	.threads = 3,
	.exclusive = 234,
	.error = 15,
};

static const struct ut_mpi_abi open_mpi = {
	.name = "Open MPI",
	.handle = 8,
	.status = 24,
	.source = 0,
	.tag = 4,
	.in_place = 1,
	.any_source = -1,
	.any_tag = -1,
	.proc_null = -2,
	.root = -4,
	.cart = 1,
	.graph = 2,
	.dist_graph = 3,
	.threads = 3,
	.exclusive = 1,
	.error = 16,
};

static const struct ut_mpi_abi standard = {
	.name = "MPI-5",
	.handle = 8,
	.status = 32,
	.source = 0,
	.tag = 4,
	.in_place = 1,
	.world = 0x101,
	.byte = 0x247,
	.null_request = 0x180,
	.null_comm = 0x100,
	.null_win = 0x110,
	.null_file = 0x118,
	.any_source = -1,
	.any_tag = -2,
	.proc_null = -3,
	.root = -4,
	.cart = 211,
	.graph = 212,
	.dist_graph = 213,
	.threads = 4096,
	.exclusive = 301,
	.error = 16,
};

_Static_assert(UT_MPI_STATUS_BYTES >= 32, "room for the largest status");

/* ---- where the library is ------------------------------------------------------------------ */

/* Found in what the caller itself was linked with, whichever scope that was loaded into. */
static void *find_near(const char *name, const void *from)
{
	struct link_map *map = NULL;
	void *library, *found = NULL;
	Dl_info info;

	/* Of the program itself all is visible: dlsym() would find us. */
	if (!from || !dladdr1(from, &info, (void **)&map, RTLD_DL_LINKMAP) || !map ||
	    !map->l_name || !map->l_name[0])
		return NULL;
	library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (library) {
		found = dlsym(library, name);
		dlclose(library);
	}
	return found;
}

/* The path of candidate number skip of the libraries in this process. */
struct loaded {
	unsigned int skip;
	char path[MOST_PATH];
};

static int mpi_abi_look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash ? slash + 1 : info->dlpi_name;
	struct loaded *l = ctx;

	(void)size;
	if (strncmp(base, "libmpi", 6) != 0 || strlen(info->dlpi_name) >= sizeof(l->path) ||
	    l->skip--)
		return 0;
	strncpy(l->path, info->dlpi_name, sizeof(l->path) - 1);
	return 1;
}

/* One at a time: nothing may be opened while the list is being looked at. */
static void *find_loaded(const char *name)
{
	void *library, *found = NULL;

	for (unsigned int i = 0; !found; i++) {
		struct loaded l = { .skip = i };

		if (!dl_iterate_phdr(mpi_abi_look_at, &l))
			break;
		library = dlopen(l.path, RTLD_LAZY | RTLD_NOLOAD);
		if (library) {
			found = dlsym(library, name);
			dlclose(library);
		}
	}
	return found;
}

ut_mpi_fn *ut_mpi_find(const char *name, const void *from)
{
	union address a = { .pointer = NULL };
	int saved = errno;

	a.pointer = dlsym(RTLD_NEXT, name);
	if (!a.pointer)
		a.pointer = find_near(name, from);
	if (!a.pointer)
		a.pointer = find_loaded(name);
	errno = saved;
	return a.function;
}

/* ---- which one it is ----------------------------------------------------------------------- */

/* Where the library itself finds a variable of its own: a program may have a copy of it. */
static ut_mpi_word variable(void *library, const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return (ut_mpi_word)(found ? found : dlsym(library, name));
}

/* Its handles are the addresses of these. */
static bool find_open_mpi(void *library)
{
	ut_mpi_abi = open_mpi;
	ut_mpi_abi.world = variable(library, "ompi_mpi_comm_world");
	ut_mpi_abi.byte = variable(library, "ompi_mpi_byte");
	ut_mpi_abi.null_request = variable(library, "ompi_request_null");
	ut_mpi_abi.null_comm = variable(library, "ompi_mpi_comm_null");
	ut_mpi_abi.null_win = variable(library, "ompi_mpi_win_null");
	ut_mpi_abi.null_file = variable(library, "ompi_mpi_file_null");
	return ut_mpi_abi.world && ut_mpi_abi.byte && ut_mpi_abi.null_request;
}

static bool is_standard(const char *path)
{
	const char *base = strrchr(path, '/');

	return !strncmp(base ? base + 1 : path, "libmpi_abi.", 11);
}

bool ut_mpi_abi_find(const void *from)
{
	union address a = { .function = ut_mpi_find("PMPI_Comm_rank", from) };
	bool known = false;
	int saved = errno;
	void *library;
	Dl_info info;

	if (a.pointer && dladdr(a.pointer, &info) && info.dli_fname) {
		library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		if (library && dlsym(library, "ompi_mpi_comm_world")) {
			known = find_open_mpi(library);
		} else {
			ut_mpi_abi = is_standard(info.dli_fname) ? standard : mpich;
			known = true;
		}
		if (library)
			dlclose(library);
	}
	errno = saved;
	return known;
}
