/*
 * opencl_text.c - numbers of OpenCL's as people know them.
 */
#include "backend/opencl_text.h"

#include <stdio.h>
#include <string.h>

/* Every error of OpenCL 3.0; those of extensions stay numbers. */
/* clang-format off */
#define ERRORS(X) \
	X(SUCCESS) \
	X(DEVICE_NOT_FOUND) \
	X(DEVICE_NOT_AVAILABLE) \
	X(COMPILER_NOT_AVAILABLE) \
	X(MEM_OBJECT_ALLOCATION_FAILURE) \
	X(OUT_OF_RESOURCES) \
	X(OUT_OF_HOST_MEMORY) \
	X(PROFILING_INFO_NOT_AVAILABLE) \
	X(MEM_COPY_OVERLAP) \
	X(IMAGE_FORMAT_MISMATCH) \
	X(IMAGE_FORMAT_NOT_SUPPORTED) \
	X(BUILD_PROGRAM_FAILURE) \
	X(MAP_FAILURE) \
	X(MISALIGNED_SUB_BUFFER_OFFSET) \
	X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) \
	X(COMPILE_PROGRAM_FAILURE) \
	X(LINKER_NOT_AVAILABLE) \
	X(LINK_PROGRAM_FAILURE) \
	X(DEVICE_PARTITION_FAILED) \
	X(KERNEL_ARG_INFO_NOT_AVAILABLE) \
	X(INVALID_VALUE) \
	X(INVALID_DEVICE_TYPE) \
	X(INVALID_PLATFORM) \
	X(INVALID_DEVICE) \
	X(INVALID_CONTEXT) \
	X(INVALID_QUEUE_PROPERTIES) \
	X(INVALID_COMMAND_QUEUE) \
	X(INVALID_HOST_PTR) \
	X(INVALID_MEM_OBJECT) \
	X(INVALID_IMAGE_FORMAT_DESCRIPTOR) \
	X(INVALID_IMAGE_SIZE) \
	X(INVALID_SAMPLER) \
	X(INVALID_BINARY) \
	X(INVALID_BUILD_OPTIONS) \
	X(INVALID_PROGRAM) \
	X(INVALID_PROGRAM_EXECUTABLE) \
	X(INVALID_KERNEL_NAME) \
	X(INVALID_KERNEL_DEFINITION) \
	X(INVALID_KERNEL) \
	X(INVALID_ARG_INDEX) \
	X(INVALID_ARG_VALUE) \
	X(INVALID_ARG_SIZE) \
	X(INVALID_KERNEL_ARGS) \
	X(INVALID_WORK_DIMENSION) \
	X(INVALID_WORK_GROUP_SIZE) \
	X(INVALID_WORK_ITEM_SIZE) \
	X(INVALID_GLOBAL_OFFSET) \
	X(INVALID_EVENT_WAIT_LIST) \
	X(INVALID_EVENT) \
	X(INVALID_OPERATION) \
	X(INVALID_GL_OBJECT) \
	X(INVALID_BUFFER_SIZE) \
	X(INVALID_MIP_LEVEL) \
	X(INVALID_GLOBAL_WORK_SIZE) \
	X(INVALID_PROPERTY) \
	X(INVALID_IMAGE_DESCRIPTOR) \
	X(INVALID_COMPILER_OPTIONS) \
	X(INVALID_LINKER_OPTIONS) \
	X(INVALID_DEVICE_PARTITION_COUNT) \
	X(INVALID_PIPE_SIZE) \
	X(INVALID_DEVICE_QUEUE) \
	X(INVALID_SPEC_ID) \
	X(MAX_SIZE_RESTRICTION_EXCEEDED)
/* clang-format on */

const char *ut_cl_error_name(cl_int code)
{
	switch (code) {
#define X(name)                                                                                    \
	case CL_##name:                                                                            \
		return "CL_" #name;
		ERRORS(X)
#undef X
	default:
		return NULL;
	}
}

/* Of cl_khr_pci_bus_info and cl_nv_device_attribute_query, which old headers lack. */
#define DEVICE_PCI_BUS_INFO  0x410F
#define DEVICE_PCI_BUS_ID_NV 0x4008
#define DEVICE_PCI_SLOT_NV   0x4009
#define DEVICE_PCI_DOMAIN_NV 0x400A

/* Where it sits: domain, bus, device, function. */
static bool read_place(ut_cl_device_info_fn info, cl_device_id device, cl_uint place[4])
{
	cl_uint slot = 0;

	if (!info(device, DEVICE_PCI_BUS_INFO, 4 * sizeof(cl_uint), place, NULL))
		return true;
	memset(place, 0, 4 * sizeof(*place));
	if (info(device, DEVICE_PCI_BUS_ID_NV, sizeof(place[1]), &place[1], NULL) ||
	    info(device, DEVICE_PCI_SLOT_NV, sizeof(slot), &slot, NULL))
		return false;
	info(device, DEVICE_PCI_DOMAIN_NV, sizeof(place[0]), &place[0], NULL);
	place[2] = slot >> 3;
	place[3] = slot & 7;
	return true;
}

void ut_cl_device_text(ut_cl_device_info_fn info, cl_device_id device,
		       struct ut_cl_device_text *text)
{
	cl_device_type type = 0;
	cl_uint place[4] = { 0 };
	const char *kind;

	*text = (struct ut_cl_device_text){ 0 };
	if (info(device, CL_DEVICE_NAME, sizeof(text->name) - 1, text->name, NULL))
		snprintf(text->name, sizeof(text->name), "?");
	info(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
	kind = type & CL_DEVICE_TYPE_GPU ? "GPU" : type & CL_DEVICE_TYPE_CPU ? "CPU" : "device";
	if (read_place(info, device, place))
		snprintf(text->label, sizeof(text->label), "OpenCL %s %04x:%02x:%02x.%x", kind,
			 place[0], place[1], place[2], place[3]);
	else
		snprintf(text->label, sizeof(text->label), "OpenCL %s", kind);
}
