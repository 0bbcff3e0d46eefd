/*
 * nvtx_payload.h - what marks of NVTX carry by its extension for payloads: bytes, and schemas that
 * say which fields lie where in them.
 */
#ifndef UT_BACKEND_CUDA_NVTX_PAYLOAD_H
#define UT_BACKEND_CUDA_NVTX_PAYLOAD_H

#include <stddef.h>

#include "backend/cuda/nvtx_ext_abi.h"
#include "ittnotify.h"

/* Returns the schema's number; 0 = it is not taken, and payloads of it are not shown. */
uint64_t ut_nvtx_add_schema(const __itt_domain *domain, const struct nvtx_schema *schema);
uint64_t ut_nvtx_add_enum(const __itt_domain *domain, const struct nvtx_enum *e);

/* Every field that can be read becomes a fact of the range; the null id is the last one pushed. */
void ut_nvtx_add_payload(const __itt_domain *domain, __itt_id id, const struct nvtx_data *data,
			 size_t count);

/* The text that a payload has as its message; NULL = it has none. */
__itt_string_handle *ut_nvtx_payload_message(const __itt_domain *domain,
					     const struct nvtx_data *data, size_t count);

#endif
