#include <errno.h>

#include "base/path.h"
#include "metrics/roofline_device.h"
#include "text/embed.h"
#include "text/file_text.h"

UT_EMBED_BYTES(ut_roof_h200, UT_SHARE_DIR "/roofline/h200.csv");
UT_EMBED_BYTES(ut_roof_pvc_1tile, UT_SHARE_DIR "/roofline/pvc-1tile.csv");
UT_EMBED_BYTES(ut_roof_peaks, UT_SHARE_DIR "/roofline/peaks.cu");

#define MOST_BYTES (1u << 20) /* of a device file: people write them */

static const struct ready {
	const char *name, *text, *end;
	const char *model; /* what the names of such devices have in them */
} all[] = {
	{ "h200", ut_roof_h200, ut_roof_h200_end, "H200" },
	{ "pvc-1tile", ut_roof_pvc_1tile, ut_roof_pvc_1tile_end, "Data Center GPU Max 1550" },
};

const char *ut_roof_device_names(void)
{
	return "h200, pvc-1tile";
}

struct ut_str ut_roof_device_program(void)
{
	static const char *const ends[] = { ut_roof_peaks, ut_roof_peaks_end };

	return (struct ut_str){ ends[0], (size_t)(ends[1] - ends[0]) };
}

static const struct ready *ready(const char *word)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strcmp(all[i].name, word))
			return &all[i];
	}
	return NULL;
}

static int read_ready(struct ut_roof_device *d, struct ut_arena *a, const struct ready *r,
		      const struct ut_logger *logger, struct ut_err *err)
{
	return ut_roof_device_read(
		d, a, r->name, (struct ut_str){ r->text, (size_t)(r->end - r->text) }, logger, err);
}

int ut_roof_device_for(struct ut_roof_device *d, struct ut_arena *a, struct ut_str model)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (ut_str_find(model, all[i].model))
			return read_ready(d, a, &all[i], NULL, NULL);
	}
	return -ENODEV;
}

int ut_roof_device_open(struct ut_roof_device *d, struct ut_arena *a, const char *word,
			const struct ut_logger *logger, struct ut_err *err)
{
	const struct ready *r = ready(word);
	struct ut_buf text = { 0 };
	int rc;

	if (r && !ut_path_exists(word))
		return read_ready(d, a, r, logger, err);
	if (!ut_path_exists(word))
		return ut_err_set(err, -ENOENT, "%s: no such device: a file, or one of: %s", word,
				  ut_roof_device_names());
	rc = ut_file_text(word, MOST_BYTES, &text, err);
	if (!rc)
		rc = ut_roof_device_read(d, a, word,
					 (struct ut_str){ text.len ? text.data : "", text.len },
					 logger, err);
	ut_buf_release(&text);
	return rc;
}
