#include "model/utr.h"

#include <stddef.h>

_Static_assert(sizeof(struct ut_losses) <= sizeof(((struct ut_utr_trace *)0)->losses),
	       "losses are saved as they are");
_Static_assert(sizeof(struct ut_type) == 12, "types are saved as they are");
_Static_assert(sizeof(struct ut_place_in_code) == 24, "places are saved as they are");
_Static_assert(sizeof(struct ut_callsite) == 8, "stacks are saved as they are");
_Static_assert(sizeof(struct ut_arg) == 16, "arguments are saved as they are");
_Static_assert(sizeof(struct ut_device_launch) == 96, "launches are saved as they are");
_Static_assert(UT_DEVICE_RECORD_BYTES == 65, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_shape) == 12, "shapes are saved as they are");
_Static_assert(sizeof(struct ut_shape_arg) == 8, "shapes are saved as they are");

struct known {
	const char *name;
	uint64_t item;
};

static const struct known *utr_known(uint32_t id)
{
	static const struct known sections[] = {
#define UT_UTR_ROW_OF(name, number, text, size, needed) [number] = { text, size },
		UT_UTR_LIST(UT_UTR_ROW_OF)
#undef UT_UTR_ROW_OF
	};

	return id < UT_UTR_IDS && sections[id].name ? &sections[id] : NULL;
}

bool ut_utr_is_pyramid(uint32_t id)
{
	return id >= UT_UTR_LANES && id <= UT_UTR_LANE_ENDS;
}

bool ut_utr_is_stacks(uint32_t id)
{
	return id == UT_UTR_CODE || id == UT_UTR_STACKS;
}

bool ut_utr_is_devices(uint32_t id)
{
	return id == UT_UTR_DEVICE_WORK || id == UT_UTR_LAUNCHES;
}

bool ut_utr_knows(uint32_t id)
{
	return utr_known(id) != NULL;
}

const char *ut_utr_name(uint32_t id)
{
	return utr_known(id) ? utr_known(id)->name : "unknown";
}

uint64_t ut_utr_item(uint32_t id)
{
	return utr_known(id) ? utr_known(id)->item : 1;
}
