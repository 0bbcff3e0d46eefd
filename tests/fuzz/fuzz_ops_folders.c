/*
 * fuzz_ops_folders.c - libFuzzer target: any bytes as the folder of an op of 2023, in three parts
 * with a zero byte between them: its log of the host, the calls inside its first call, its log of
 * the device.
 *
 * Whatever could be read is in order and goes out in every format. The files lie in a folder of our
 * own, which is the same for every input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops.h"
#include "tt/ops_folders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[64]; /* "" until it is made */

static const char *const folders[] = { "ops",        "ops/op",        "ops/op/1",
				       "ops_device", "ops_device/op", "ops_device/op/1" };
static const char *const files[] = { "ops/op/profile_log_host.csv", "ops/op/1/profile_log_host.csv",
				     "ops_device/op/1/profile_log_device.csv" };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void remove_all(void)
{
	for (size_t i = 0; i < COUNT(files); i++)
		unlink(path_of(files[i]));
	for (size_t i = COUNT(folders); i-- > 0;)
		rmdir(path_of(folders[i]));
	rmdir(root);
}

static void make_folders(void)
{
	if (*root)
		return;
	snprintf(root, sizeof(root), "/tmp/fuzz_ops_folders.XXXXXX");
	need(mkdtemp(root), "a folder can be made");
	for (size_t i = 0; i < COUNT(folders); i++)
		need(!mkdir(path_of(folders[i]), 0755), "a folder can be made");
	atexit(remove_all);
}

/* Writes up to the next zero byte. */
static void write_part(const char *name, const uint8_t **data, size_t *left)
{
	size_t len;
	const uint8_t *bytes = next_part(data, left, &len);
	FILE *f = fopen(path_of(name), "wb");

	need(f && fwrite(bytes, 1, len, f) == len && !fclose(f), "a file can be written");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_ops_report r;
	struct ut_err err = { 0 };

	make_folders();
	for (size_t i = 0; i < COUNT(files); i++)
		write_part(files[i], &data, &size);
	ut_ops_report_init(&r);
	if (!ut_ops_read_folder(&r, path_of("ops"), NULL, &err)) {
		ut_ops_report_order(&r);
		write_report(&r, out);
	}
	ut_out_abandon(out);
	ut_ops_report_release(&r);
	return 0;
}
