#include "import/perf/perf_features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/perf/perf_attr.h"
#include "import/perf/perf_file.h"
#include "import/perf/perf_maps.h"
#include "import/prof/sample_build.h"
#include "text/source.h"

#define MOST_FEATURE ((uint64_t)16 << 20)

/* ---- attributes ------------------------------------------------------------------------------ */

static void take_ids(struct ut_pdata_attrs *a, const uint8_t *bytes, uint64_t size)
{
	for (uint64_t at = 0; at + 8 <= size; at += 8) {
		uint64_t id;

		memcpy(&id, bytes + at, 8);
		ut_pdata_attr_id(a, a->count - 1, id);
	}
}

void ut_pdata_take_attrs(struct ut_pdata_attrs *a, const struct ut_pdata_head *h,
			 const uint8_t *bytes, uint64_t size)
{
	struct ut_pdata_section ids;

	if (h->attr_size < UT_PDATA_ATTR_LEAST + sizeof(ids) || h->attrs.offset > size ||
	    h->attrs.size > size - h->attrs.offset)
		return;
	for (uint64_t at = 0; at + h->attr_size <= h->attrs.size; at += h->attr_size) {
		const uint8_t *one = bytes + h->attrs.offset + at;

		if (!ut_pdata_attr_add(a, one, h->attr_size - sizeof(ids)))
			return;
		memcpy(&ids, one + h->attr_size - sizeof(ids), sizeof(ids));
		if (ids.offset <= size && ids.size <= size - ids.offset)
			take_ids(a, bytes + ids.offset, ids.size);
	}
}

void ut_pdata_take_attr(struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size)
{
	uint32_t own = 0;

	if (size < UT_PDATA_ATTR_LEAST)
		return;
	memcpy(&own, bytes + UT_PDATA_ATTR_SIZE, 4);
	if (own < UT_PDATA_ATTR_LEAST || own > size || !ut_pdata_attr_add(a, bytes, own))
		return;
	take_ids(a, bytes + own, size - own);
}

static void set_name(struct ut_pdata_attr *a, const char *name, size_t len)
{
	len = strnlen(name, len);
	if (len && len < sizeof(a->name))
		snprintf(a->name, sizeof(a->name), "%.*s", (int)len, name);
}

/* Type 2: the name of the event with this number. */
void ut_pdata_take_update(struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size)
{
	uint64_t type, id;
	uint32_t number;

	if (size < 17)
		return;
	memcpy(&type, bytes, 8);
	memcpy(&id, bytes + 8, 8);
	number = ut_idmap_get(&a->by_id, id);
	if (type == 2 && number)
		set_name(&a->items[number - 1], (const char *)bytes + 16, size - 16);
}

/* ---- features -------------------------------------------------------------------------------- */

struct feature {
	struct ut_pdata_attrs *attrs;
	struct ut_pdata_maps *maps;
	struct ut_sample_build *build;
};

static uint64_t perf_features_word(const uint8_t *bytes, uint64_t size, uint64_t at)
{
	uint32_t value = 0;

	if (at <= size && size - at >= 4)
		memcpy(&value, bytes + at, 4);
	return value;
}

/* Events with their names, in the order of the attributes: attribute, ids, text. */
static void take_names(struct feature *f, const uint8_t *bytes, uint64_t size)
{
	uint64_t count = perf_features_word(bytes, size, 0),
		 attr = perf_features_word(bytes, size, 4), at = 8;

	for (uint64_t i = 0; i < count && i < f->attrs->count; i++) {
		uint64_t ids, len;

		if (attr > size || at > size - attr || size - at - attr < 8)
			return;
		at += attr;
		ids = perf_features_word(bytes, size, at);
		len = perf_features_word(bytes, size, at + 4);
		at += 8;
		if (len > size - at)
			return;
		set_name(&f->attrs->items[i], (const char *)bytes + at, len);
		at += len;
		if (ids > (size - at) / 8)
			return;
		at += 8 * ids;
	}
}

/* Records: process, id (20 bytes, and its length if that is told), path. */
static void take_build_ids(struct feature *f, const uint8_t *bytes, uint64_t size)
{
	struct ut_pdata_record rec;

	for (uint64_t at = 0; size - at >= sizeof(rec); at += rec.size) {
		const uint8_t *b = bytes + at;
		const char *path;
		uint32_t module;

		memcpy(&rec, b, sizeof(rec));
		if (rec.size < 37 || rec.size > size - at)
			return;
		path = (const char *)b + 36;
		if (!memchr(path, 0, rec.size - 36u))
			continue;
		module = ut_pdata_module(f->maps, ut_sample_build_text(f->build, ut_str_of(path)),
					 path);
		f->maps->modules[module].id.len =
			rec.misc & 1u << 15 && b[32] <= UT_BUILD_ID_MOST ? b[32] : UT_BUILD_ID_MOST;
		memcpy(f->maps->modules[module].id.bytes, b + 12, UT_BUILD_ID_MOST);
	}
}

void ut_pdata_take_features(const struct ut_source *source, const struct ut_pdata_head *head,
			    struct ut_pdata_attrs *a, struct ut_pdata_maps *maps,
			    struct ut_sample_build *build)
{
	struct feature f = { a, maps, build };
	uint64_t at = head->data.offset + head->data.size;
	struct ut_pdata_section s;

	for (unsigned int bit = 0; bit < 256; bit++) {
		uint8_t *bytes;

		if (!(head->features[bit / 64] >> bit % 64 & 1))
			continue;
		if (ut_source_read_at(source, &s, sizeof(s), at, NULL) != (ssize_t)sizeof(s))
			return;
		at += sizeof(s);
		if ((bit != UT_PDATA_FEATURE_BUILD_ID && bit != UT_PDATA_FEATURE_EVENT_DESC) ||
		    !s.size || s.size > MOST_FEATURE)
			continue;
		bytes = ut_make(s.size);
		if (ut_source_read_at(source, bytes, s.size, s.offset, NULL) == (ssize_t)s.size) {
			if (bit == UT_PDATA_FEATURE_BUILD_ID)
				take_build_ids(&f, bytes, s.size);
			else
				take_names(&f, bytes, s.size);
		}
		free(bytes);
	}
}
