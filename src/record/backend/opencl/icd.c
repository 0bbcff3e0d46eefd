/*
 * icd.c - the second entry point, for loaders without layers: the library as a "vendor".
 *
 * The launcher has put a folder into OCL_ICD_VENDORS with one vendor in it, us, and a list of the
 * real ones beside it. We load them, hand out their platforms as ours and put our wrappers into
 * their dispatch tables, from which every object of theirs finds its functions. The table of an old
 * vendor is shorter than ours: only what its version of OpenCL has is touched.
 */
#include "backend/opencl/icd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_VENDORS   UT_CL_VENDORS
#define MOST_PLATFORMS 64u
#define NO_PLATFORM    (-1001) /* CL_PLATFORM_NOT_FOUND_KHR */

typedef cl_int(CL_API_CALL *get_platforms_fn)(cl_uint, cl_platform_id *, cl_uint *);
typedef void *(CL_API_CALL *get_address_fn)(const char *);

static struct {
	void *library[MOST_VENDORS];
	get_address_fn address[MOST_VENDORS];
	uint32_t vendor_count;
	cl_platform_id platform[MOST_PLATFORMS];
	cl_uint platform_count;
} icd;

union address {
	void *pointer;
	get_platforms_fn platforms;
	get_address_fn address;
};

/* ---- the real vendors ---------------------------------------------------------------------- */

static bool icd_is_known(const void *library)
{
	for (uint32_t i = 0; i < icd.vendor_count; i++) {
		if (icd.library[i] == library)
			return true;
	}
	return false;
}

static void add_vendor(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	union address get, platforms = { 0 };
	cl_uint count = 0, room = MOST_PLATFORMS - icd.platform_count;

	if (!library || icd_is_known(library))
		return;
	get.pointer = dlsym(library, "clGetExtensionFunctionAddress");
	if (get.pointer)
		platforms.pointer = get.address("clIcdGetPlatformIDsKHR");
	if (!platforms.pointer)
		platforms.pointer = dlsym(library, "clIcdGetPlatformIDsKHR");
	if (!get.pointer || !platforms.pointer || icd.vendor_count == MOST_VENDORS || !room)
		return;
	if (platforms.platforms(room, &icd.platform[icd.platform_count], &count) || !count)
		return;
	icd.library[icd.vendor_count] = library;
	icd.address[icd.vendor_count++] = get.address;
	icd.platform_count += count < room ? count : room;
}

/* SESSION/opencl/vendors: a library per line. */
static void add_vendors(void)
{
	const char *dir = getenv("UT_SESSION");
	char path[4096];
	FILE *f;

	if (!dir || (size_t)snprintf(path, sizeof(path), "%s/opencl/vendors", dir) >= sizeof(path))
		return;
	f = fopen(path, "re");
	while (f && fgets(path, sizeof(path), f)) {
		path[strcspn(path, "\n")] = '\0';
		if (path[0])
			add_vendor(path);
	}
	if (f)
		fclose(f);
}

/* ---- their tables -------------------------------------------------------------------------- */

static const cl_icd_dispatch *table_of(cl_platform_id platform)
{
	const cl_icd_dispatch *table;

	memcpy(&table, platform, sizeof(void *));
	return table;
}

uint32_t ut_cl_icd_table_length(const char *version)
{
	static const struct {
		const char *name;
		uint32_t length;
	} known[] = {
		{ "OpenCL 1.0", UT_CL_clSetEventCallback },
		{ "OpenCL 1.1", UT_CL_clCreateSubDevices },
		{ "OpenCL 1.2", UT_CL_clCreateCommandQueueWithProperties },
		{ "OpenCL 2.0", UT_CL_clCloneKernel },
		{ "OpenCL 2.1", UT_CL_clSetProgramReleaseCallback },
		{ "OpenCL 2.2", UT_CL_clCreateBufferWithProperties },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strncmp(version, known[i].name, strlen(known[i].name)))
			return known[i].length;
	}
	return strncmp(version, "OpenCL ", 7) == 0 && version[7] >= '3' ? (uint32_t)UT_CL_CORE : 0;
}

/* Makes a table writable; it stays so. */
static bool open_pages(const void *from, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)from & ~(page - 1);
	uintptr_t end = ((uintptr_t)from + size + page - 1) & ~(page - 1);

	return !mprotect((char *)(uintptr_t)first, end - first, PROT_READ | PROT_WRITE);
}

static void put_wrappers(cl_platform_id platform, bool alone)
{
	const cl_icd_dispatch *table = table_of(platform);
	uint32_t before = atomic_load(&ut_cl_core.count), length;
	ut_cl_fn **entry = (ut_cl_fn **)(uintptr_t)table;
	struct ut_cl_vendor *v = ut_cl_vendor(&ut_cl_core, table);
	char version[128] = "";

	/* A vendor with several platforms has one table. */
	if (!v || atomic_load(&ut_cl_core.count) == before)
		return;
	table->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(version) - 1, version, NULL);
	length = ut_cl_icd_table_length(version);
	memcpy(v->fn, entry, length * sizeof(*entry));
	if (!length || !open_pages(entry, length * sizeof(*entry))) {
		ut_cl.host->note("OpenCL: a vendor's functions cannot be watched");
		return;
	}
	for (uint32_t id = 0; id < length; id++) {
		ut_cl_fn *ours = ut_cl_wrapper(id);

		if (entry[id] && ours && (alone || ut_cl_has_handle(id)))
			entry[id] = ours;
	}
}

static void icd_load(void)
{
	add_vendors();
	if (!icd.platform_count || !ut_cl_join())
		return;
	for (cl_uint i = 0; i < icd.platform_count; i++)
		put_wrappers(icd.platform[i], icd.vendor_count == 1);
}

static void load_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, icd_load);
}

/* ---- what a loader asks a vendor for ------------------------------------------------------- */

UT_EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms,
						    cl_uint *num_platforms)
{
	load_once();
	if ((platforms && !num_entries) || (!platforms && !num_platforms))
		return CL_INVALID_VALUE;
	if (num_platforms)
		*num_platforms = icd.platform_count;
	for (cl_uint i = 0; platforms && i < num_entries && i < icd.platform_count; i++)
		platforms[i] = icd.platform[i];
	return icd.platform_count ? CL_SUCCESS : NO_PLATFORM;
}

UT_EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
					       size_t param_value_size, void *param_value,
					       size_t *param_value_size_ret)
{
	return platform ? table_of(platform)->clGetPlatformInfo(platform, param_name,
								param_value_size, param_value,
								param_value_size_ret)
			: CL_INVALID_PLATFORM;
}

UT_EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *func_name)
{
	union address a = { .platforms = clIcdGetPlatformIDsKHR };

	if (!func_name)
		return NULL;
	if (!strcmp(func_name, "clIcdGetPlatformIDsKHR"))
		return a.pointer;
	for (uint32_t i = 0; i < icd.vendor_count; i++) {
		void *found = icd.address[i](func_name);

		if (found)
			return found;
	}
	return NULL;
}
