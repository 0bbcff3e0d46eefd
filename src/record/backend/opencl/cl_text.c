/*
 * cl_text.c - numbers of OpenCL's as people know them.
 */
#include "backend/opencl/cl_text.h"

#include <stdio.h>
#include <string.h>

#include "base/opencl_errors.h"

const char *ut_cl_error_name(cl_int code)
{
	switch (code) {
#define X(name, number)                                                                            \
	case number:                                                                               \
		return "CL_" #name;
		UT_OPENCL_ERRORS(X)
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
static bool cl_text_read_place(ut_cl_device_info_fn info, cl_device_id device, cl_uint place[4])
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
	if (cl_text_read_place(info, device, place))
		snprintf(text->label, sizeof(text->label), "OpenCL %s %04x:%02x:%02x.%x", kind,
			 place[0], place[1], place[2], place[3]);
	else
		snprintf(text->label, sizeof(text->label), "OpenCL %s", kind);
}
