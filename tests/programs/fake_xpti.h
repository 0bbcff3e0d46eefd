/*
 * fake_xpti.h - a pretended framework of XPTI (libfake_xpti.cpp), and how a program makes it tell
 * something, as the SYCL runtime would.
 */
#ifndef UT_TESTS_FAKE_XPTI_H
#define UT_TESTS_FAKE_XPTI_H

#include <stddef.h>
#include <stdint.h>

struct fake_event;

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the subscribers and tells them about a stream; about its end. */
typedef void fake_begin_fn(const char *stream);
typedef void fake_end_fn(const char *stream);
/* Something that can be traced; file may be NULL. */
typedef struct fake_event *fake_event_fn(const char *name, const char *file, uint32_t line,
					 uint32_t column);
typedef uint64_t fake_id_fn(const struct fake_event *event);
typedef void fake_edge_fn(struct fake_event *edge, const struct fake_event *from,
			  const struct fake_event *to);
/* type: 1 text, 3 unsigned; one of a key that is there already takes its place. */
typedef void fake_say_fn(struct fake_event *event, const char *key, int type, const void *data,
			 size_t size);
typedef void fake_report_fn(const char *stream, uint16_t point, struct fake_event *parent,
			    struct fake_event *event, uint64_t instance, const void *data);

#ifdef __cplusplus
}
#endif

#endif
