/*
 * entry_points.h - the entry points, as symbols of the library: those of a layer, those of a
 * vendor, and the probe. Runtimes find them by name; nobody else calls them.
 */
#ifndef UT_BACKEND_OPENCL_ENTRY_POINTS_H
#define UT_BACKEND_OPENCL_ENTRY_POINTS_H

#include "backend/opencl/opencl.h"

extern const struct ut_backend unitrace_backend;

cl_int CL_API_CALL clGetLayerInfo(cl_uint param_name, size_t param_value_size, void *param_value,
				  size_t *param_value_size_ret);
cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
			       cl_uint *num_entries_ret,
			       const cl_icd_dispatch **layer_dispatch_ret);
cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries,
					     const cl_icd_dispatch *target_dispatch,
					     cl_uint *num_entries_ret,
					     const cl_icd_dispatch **layer_dispatch_ret,
					     const void *properties);
cl_int CL_API_CALL clDeinitLayer(void);

/* As ut_backend.probe: what does libOpenCL.so.1 find? */
int ut_cl_probe(struct ut_probe *probe);

#endif
