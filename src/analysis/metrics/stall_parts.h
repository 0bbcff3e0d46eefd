/*
 * stall_parts.h - what the parts of the stall report share. Not for others: stall_report.h.
 */
#ifndef UT_METRICS_STALL_PARTS_H
#define UT_METRICS_STALL_PARTS_H

#include "metrics/stall_code.h"
#include "metrics/stall_report.h"
#include "text/source_lines.h"

#define UT_STALL_MOST_CAUSES 8u                  /* more of one finding are only counted */
#define UT_STALL_MOST_TEXT   ((size_t)512 << 20) /* bytes of one assembly file */

/* Code that was found, and how to look through it. */
struct ut_stall_code {
	struct ut_stall_result *result;
	const struct ut_stall_opts *opts;
	struct ut_kernel_code code;
	struct ut_code_walk walk;
	struct ut_source_lines lines; /* NVIDIA: texts have only numbers */
};

/* Instructions that one waits for, each once, as they are found. */
struct ut_stall_found {
	struct ut_stall_code *code;
	uint32_t ins[UT_STALL_MOST_CAUSES];
	struct ut_str through[UT_STALL_MOST_CAUSES];
	size_t count, others;
};

/* through is copied. */
void ut_stall_add(struct ut_stall_found *f, uint32_t ins, struct ut_str through);

/* Reads the assembly of the kernel into code; says who made it and from which file. */
int ut_stall_open_asm(struct ut_stall_code *c, struct ut_str kernel,
		      struct ut_err *err) UT_MUST_CHECK;

/* Is it code for NVIDIA's devices, by what is in the file or folder? */
bool ut_stall_is_sass(const char *path);

/* The same for NVIDIA: a cubin, the text of nvdisasm, or a folder of them. */
int ut_stall_open_sass(struct ut_stall_code *c, const struct ut_stall_samples *samples,
		       struct ut_err *err) UT_MUST_CHECK;

/* Is this the kernel's name as the code has it? */
bool ut_stall_is_name(struct ut_stall_code *c, struct ut_str mangled, struct ut_str kernel);

/* The instructions that the one at ins waits for, if that is for this reason. */
void ut_stall_asm_causes(struct ut_stall_code *c, uint32_t ins, struct ut_str reason,
			 struct ut_stall_found *found);

void ut_stall_sass_causes(struct ut_stall_code *c, uint32_t ins, struct ut_str reason,
			  struct ut_stall_found *found);

struct ut_stall_place ut_stall_place(struct ut_stall_code *c, uint32_t ins);

/* How people name a reason: "Sbid", "Long Scoreboard". */
void ut_stall_title(struct ut_buf *b, const struct ut_stall_result *r, size_t reason);

#endif
