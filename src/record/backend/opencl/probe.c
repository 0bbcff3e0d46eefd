/*
 * probe.c - for `unitrace --device-list`: what devices does OpenCL have here?
 *
 * Runs in a process of the launcher's: a driver that crashes or hangs takes nobody along.
 */
#include "backend/opencl/entry_points.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>

#include "backend/opencl/cl_text.h"

#define MOST_PLATFORMS 16u
#define MOST_DEVICES   64u

struct functions {
	UT_CL_FUNCTION(clGetPlatformIDs) platforms;
	UT_CL_FUNCTION(clGetDeviceIDs) devices;
	ut_cl_device_info_fn device_info;
};

static ut_cl_fn *symbol(void *library, const char *name)
{
	union {
		void *pointer;
		ut_cl_fn *function;
	} found = { .pointer = dlsym(library, name) };

	return found.function;
}

static int opencl_probe_fail(struct ut_probe *probe, const char *why)
{
	snprintf(probe->why, sizeof(probe->why), "%s", why);
	return -ENODEV;
}

/* A device file that is there and that we may not open explains much. */
static int fail_without_devices(struct ut_probe *probe)
{
	static const char *const files[] = { "/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/kfd" };
	int rc = opencl_probe_fail(probe,
				   "OpenCL: there are drivers, but no device that they could use");
	glob_t found;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (glob(files[i], 0, NULL, &found))
			continue;
		if (found.gl_pathc && access(found.gl_pathv[0], R_OK | W_OK)) {
			snprintf(probe->why, sizeof(probe->why),
				 "OpenCL: no permission for %s; join the group that owns it",
				 found.gl_pathv[0]);
			rc = -EACCES;
		}
		globfree(&found);
	}
	return rc;
}

static uint32_t list_devices(struct ut_probe *probe, const struct functions *f, cl_platform_id from)
{
	struct ut_cl_device_text text;
	cl_device_id list[MOST_DEVICES];
	cl_uint count = 0;

	if (f->devices(from, CL_DEVICE_TYPE_ALL, MOST_DEVICES, list, &count))
		return 0;
	for (cl_uint i = 0; i < count && i < MOST_DEVICES; i++) {
		ut_cl_device_text(f->device_info, list[i], &text);
		probe->device(probe->ctx, &(struct ut_device){ .size = sizeof(struct ut_device),
							       .name = text.name,
							       .label = text.label,
							       .index = i });
	}
	return count;
}

int ut_cl_probe(struct ut_probe *probe)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	cl_platform_id list[MOST_PLATFORMS];
	cl_uint count = 0, devices = 0;
	struct functions f;

	if (!library)
		return opencl_probe_fail(probe, "OpenCL: libOpenCL.so.1 is not installed (Debian: "
						"ocl-icd-libopencl1)");
	f.platforms = (UT_CL_FUNCTION(clGetPlatformIDs))symbol(library, "clGetPlatformIDs");
	f.devices = (UT_CL_FUNCTION(clGetDeviceIDs))symbol(library, "clGetDeviceIDs");
	f.device_info = (ut_cl_device_info_fn)symbol(library, "clGetDeviceInfo");
	if (!f.platforms || !f.devices || !f.device_info)
		return opencl_probe_fail(probe, "OpenCL: libOpenCL.so.1 is not an OpenCL loader");
	if (f.platforms(MOST_PLATFORMS, list, &count) || !count)
		return opencl_probe_fail(probe, "OpenCL: libOpenCL.so.1 finds no driver (see "
						"/etc/OpenCL/vendors)");
	for (cl_uint i = 0; i < count && i < MOST_PLATFORMS; i++)
		devices += list_devices(probe, &f, list[i]);
	return devices ? 0 : fail_without_devices(probe);
}
