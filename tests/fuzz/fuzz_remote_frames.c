/* fuzz_remote_frames.c - libFuzzer target: any bytes as what another machine says, in two pieces.
 */
#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "workbench/folder.h"
#include "workbench/remote_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One name, or two; whatever else is in it, neither leads up or is hidden. */
static void check_name(const char *name)
{
	const char *slash = strchr(name, '/');
	char folder[UT_REMOTE_NAME_MOST];

	if (!slash) {
		need(ut_folder_name_fits(name), "a name that fits");
		return;
	}
	memcpy(folder, name, (size_t)(slash - name));
	folder[slash - name] = '\0';
	need(ut_folder_name_fits(folder) && ut_folder_name_fits(slash + 1), "two names that fit");
	need(strstr(folder, ".modules") != NULL, "a folder of modules");
}

static void read_all(struct ut_remote_reader *r, size_t size)
{
	struct ut_remote_frame f;

	while (ut_remote_reader_next(r, &f, NULL) > 0) {
		need(f.bytes.len <= size && f.bytes.len <= UT_REMOTE_FRAME_MOST, "bytes that came");
		if (f.kind == UT_REMOTE_FILE)
			check_name(f.name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_remote_reader r = { 0 };
	size_t first = size ? data[0] % (size + 1) : 0;
	char line[64];

	ut_remote_reader_add(&r, (const char *)data, first);
	if (ut_remote_reader_line(&r, line, sizeof(line)))
		need(strlen(line) < sizeof(line), "a line that fits");
	read_all(&r, size);
	ut_remote_reader_add(&r, (const char *)data + first, size - first);
	read_all(&r, size);
	ut_remote_reader_release(&r);
	return 0;
}
