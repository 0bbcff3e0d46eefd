/*
 * size.h - amounts as people write them: "64M", "1.5GiB", "10s", "250ms".
 *
 * Sizes: B, K M G T and KiB MiB ... count in 1024, kB MB GB TB in 1000; a bare number is bytes.
 * Times: ns us ms s min h; a bare number is seconds. Case matters only in kB/KB (both 1000).
 */
#ifndef UT_BASE_SIZE_H
#define UT_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

int ut_size_parse(const char *text, uint64_t *bytes, struct ut_err *err) UT_MUST_CHECK;
int ut_time_parse(const char *text, uint64_t *ns, struct ut_err *err) UT_MUST_CHECK;

/* Either of the two, told apart by the unit, which must be there; the other one is set to 0. */
int ut_size_or_time_parse(const char *text, uint64_t *bytes, uint64_t *ns,
			  struct ut_err *err) UT_MUST_CHECK;

/* For people, three digits: "0 B", "1.50 MiB"; "12 ns", "3.20 ms". Returns buf. */
const char *ut_size_text(char *buf, size_t size, uint64_t bytes);
const char *ut_time_text(char *buf, size_t size, uint64_t ns);

#endif
