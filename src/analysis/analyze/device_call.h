/*
 * device_call.h - a call of a device's runtime in words, as the lines of -c have it.
 */
#ifndef UT_ANALYZE_DEVICE_CALL_H
#define UT_ANALYZE_DEVICE_CALL_H

struct ut_buf;
struct ut_event;
struct ut_trace;

/*
 * Adds the arguments of the call, "a = 1 b = 0x2", and what it gave back, "-> CL_SUCCESS (0)"; but
 * not what the recording has added to them. What is not known adds nothing.
 */
void ut_device_call_text(const struct ut_trace *t, const struct ut_event *e, struct ut_buf *args,
			 struct ut_buf *result);

#endif
