/*
 * fuzz_metrics.c - libFuzzer target: any bytes as a file of hardware metrics: listed, read by
 * kernel and by instance, as stalls, drawn.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "draw/chart.h"
#include "draw/svg.h"
#include "metrics/metrics_chart.h"
#include "metrics/metrics_data.h"
#include "metrics/metrics_index.h"
#include "metrics/metrics_stalls.h"
#include "text/out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Rows of all kernels are the rows of the file. */
static uint64_t list(const char *path, struct ut_metrics_plan *plan, struct ut_arena *a)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_metrics_index index;
	struct ut_err err = { 0 };
	uint64_t rows = 0, sum = 0;

	if (ut_metrics_index_make(&index, path, NULL, &err)) {
		ut_out_abandon(out);
		return 0;
	}
	for (size_t i = 0; i < index.count; i++) {
		rows += index.devices[i].rows;
		for (size_t k = 0; k < index.devices[i].count; k++) {
			sum += index.devices[i].kernels[k].rows;
			if (index.devices[i].kernels[k].instances >
			    index.devices[i].kernels[k].rows)
				abort();
		}
	}
	if (sum != rows)
		abort();
	ut_metrics_index_list(&index, out);
	ut_metrics_plan_all(plan, a, ut_metrics_section(index.file, 0));
	ut_metrics_index_release(&index);
	ut_out_abandon(out);
	return rows;
}

static void draw(const struct ut_metrics_charts *c)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_scene *scene = ut_scene_new();

	for (size_t i = 0; i < c->count && i < 8; i++) {
		ut_chart_page(scene, &c->charts[i]);
		ut_chart_json(out, &c->charts[i]);
	}
	if (c->count)
		ut_svg_write(scene, out);
	ut_scene_free(scene);
	ut_out_abandon(out);
}

static void read_metrics(const char *path, const struct ut_metrics_plan *plan, uint64_t instance)
{
	const struct ut_metrics_want want = { .device = UT_METRICS_ANY,
					      .instance = instance,
					      .titles = plan->titles,
					      .count = plan->title_count };
	struct ut_metrics_charts charts = { 0 };
	struct ut_metrics_data data;
	struct ut_err err = { 0 };

	if (ut_metrics_data_read(&data, path, &want, NULL, &err))
		return;
	ut_metrics_charts_add(&charts, plan, &data, NULL);
	draw(&charts);
	ut_metrics_charts_release(&charts);
	ut_metrics_data_release(&data);
}

static void read_stalls(const char *path, const struct ut_metrics_plan *plan)
{
	const struct ut_metrics_want want = { .device = UT_METRICS_ANY };
	struct ut_metrics_charts charts = { 0 };
	struct ut_metrics_stalls stalls;
	struct ut_err err = { 0 };

	if (ut_metrics_stalls_read(&stalls, path, &want, NULL, &err))
		return;
	for (size_t i = 0; i < stalls.count && i < 8; i++)
		ut_metrics_charts_add_stalls(&charts, plan, &stalls.kernels[i].samples);
	draw(&charts);
	ut_metrics_charts_release(&charts);
	ut_metrics_stalls_release(&stalls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);
	struct ut_metrics_plan plan = { 0 };
	struct ut_arena arena = { 0 };
	char path[32];

	if (fd < 0)
		abort();
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (list(path, &plan, &arena)) {
		read_metrics(path, &plan, 0);
		read_metrics(path, &plan, 2);
		read_stalls(path, &plan);
	}
	ut_arena_release(&arena);
	close(fd);
	return 0;
}
