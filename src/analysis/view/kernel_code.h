/*
 * kernel_code.h - the code of kernels whose instructions were sampled, with what each waits for
 * (metrics/stall_report.h), for the page. Of this room alone.
 *
 *     stalls       {"notes": [...], "modules": [{"module":, "samples":}], "module":, "report":}:
 *                  report is what `metrics -s --json` tells of this kernel, null if there is no
 *                  code, and then a note says what is missing and what to do; modules that have a
 *                  kernel of this name, the one with most samples first, and which one it is of
 *     sheet code   {"kernels": [{"kernel":, "code":}]}, the same of those with most samples: for a
 *                  page that has nobody to ask
 *
 * Programs that read modules are run when a kernel is asked for, one at a time, and what they said
 * is kept. Modules are hostile; so is what they say of files: text is read only of those that are
 * called like source, and only where ut_view_allow_code() was said.
 */
#ifndef UT_VIEW_KERNEL_CODE_H
#define UT_VIEW_KERNEL_CODE_H

struct ut_out;
struct ut_view;
struct ut_view_codes;

void ut_make_kernel_code_sheet(struct ut_view *v, struct ut_out *out);

struct ut_view_codes *ut_view_codes_new(void);
void ut_view_codes_free(struct ut_view_codes *c);

#endif
