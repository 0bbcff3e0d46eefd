/*
 * fuzz_rewrite.c - libFuzzer target: any bytes as a Chrome trace that is merged with itself.
 *
 * Whatever goes in: what comes out is strict JSON, says the reader that repairs (json.h), with
 * nothing to repair; keys never fall; and the second file's pids are not the first one's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "merge/plan.h"
#include "merge/rewrite.h"
#include "merge/rewrite_clean.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static char path[64];

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

static void check_json(const char *text, size_t len)
{
	struct ut_json j;

	ut_json_init_text(&j, text, len);
	check(ut_json_skip(&j, NULL), "the output is JSON");
	check(!ut_json_peek(&j), "nothing follows behind it");
	for (size_t i = 0; i < UT_JSON_REPAIRS; i++)
		check(!j.repairs[i].count, "the output needs no repair");
	check(ut_rewrite_is_clean((struct ut_str){ text, len }), "the output is UTF-8");
	ut_json_release(&j);
}

static void check_file(const struct ut_merge_file *f)
{
	struct ut_frame frame = { 0 };
	struct ut_err err = { 0 };
	int64_t key = INT64_MIN;
	struct ut_rewrite r;
	uint64_t events = 0;
	int rc;

	check(!ut_rewrite_open(&r, path, &f->facts, &f->plan, &err), "the file opens again");
	while ((rc = ut_rewrite_next(&r, &frame, &err)) == 1) {
		uint64_t start = 0;

		for (uint32_t i = 0; i < frame.count; i++) {
			check(frame.keys[i] >= key, "keys never fall");
			key = frame.keys[i];
			check(!memcmp(frame.text + start, ",\n", 2), "events are separated");
			check_json(frame.text + start + 2, frame.ends[i] - start - 2);
			start = frame.ends[i];
		}
		events += frame.count;
	}
	check(rc == 0, err.text);
	check(events >= f->facts.events, "no event is lost");
	ut_rewrite_close(&r);
	ut_frame_release(&frame);
}

static void merge_with_itself(struct ut_merge_file files[2])
{
	struct ut_merge_rules rules = { 0 };
	struct ut_merge_plan plan;
	struct ut_buf tail = { 0 };
	struct ut_err err = { 0 };

	ut_opt_list_add(&rules.offsets, "b=1234567891");
	check(!ut_merge_plan_make(&plan, files, 2, &rules, &err), "there is a plan");
	for (uint32_t i = 0; i < files[1].facts.process_count; i++)
		check(files[1].plan.processes[i].pid, "every pid of the second file changes");
	check_file(&files[0]);
	check_file(&files[1]);
	ut_buf_text(&tail, "{\"traceEvents\":[");
	ut_merge_plan_tail(&plan, &tail);
	check_json(tail.data, tail.len);
	ut_buf_release(&tail);
	ut_merge_plan_release(&plan);
	ut_opt_list_release(&rules.offsets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ut_facts_opts quiet;
	struct ut_merge_file files[2] = { { .path = path, .name = "a" },
					  { .path = path, .name = "b" } };

	if (file < 0) {
		file = memfd_create("trace", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (!ut_facts_read(&files[0].facts, path, &quiet, NULL)) {
		if (!ut_facts_read(&files[1].facts, path, &quiet, NULL))
			merge_with_itself(files);
		ut_facts_release(&files[0].facts);
		ut_facts_release(&files[1].facts);
	}
	return 0;
}
