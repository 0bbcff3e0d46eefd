/*
 * chart_file.h - charts as a file: a picture, or the viewer's page with the charts as its data. The
 * end of the name says which. Every command that draws writes them here.
 */
#ifndef UT_CMD_CHART_FILE_H
#define UT_CMD_CHART_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct ut_chart;
struct ut_view;

struct ut_chart_file {
	const char *path;  /* .pdf, .svg, .png, .html; without an end it is PDF */
	const char *title; /* of the document; NULL = none */
	const char *input; /* what it was made of, for the page */
	const struct ut_chart *charts;
	size_t count;
	struct ut_str report; /* further pages of a PDF; len 0 = none */
	/* Attaches more to the page, before it is written; NULL = nothing. */
	void (*attach)(void *ctx, struct ut_view *view);
	void *ctx;
};

/* 0, or why no such file can be written: -EINVAL if it is the name. To be asked before the work. */
int ut_chart_file_check(const char *path, struct ut_err *err) UT_MUST_CHECK;

int ut_chart_file_write(const struct ut_chart_file *f, struct ut_err *err) UT_MUST_CHECK;

/* A page without a trace, with charts as the sheet "charts" of the tool "charts". It is ready. */
struct ut_view *ut_chart_view(const struct ut_chart_file *f);

#endif
