/*
 * label.h - what tables call a track or a process: one line that tells it apart from its like.
 */
#ifndef UT_ANALYZE_LABEL_H
#define UT_ANALYZE_LABEL_H

#include <stdbool.h>
#include <stdint.h>

struct ut_buf;
struct ut_trace;

/* "worker (4711)", "thread 4711"; what is no thread has only its name: "stream 7". */
void ut_label_track(struct ut_buf *b, const struct ut_trace *t, uint32_t track);

/* "app (4711)", "RANK 3 app (4711)", "pid 4711". */
void ut_label_process(struct ut_buf *b, const struct ut_trace *t, uint32_t process);

/* A thread or process id: the number, or the text that stands for it, without its quotes. */
void ut_label_id(struct ut_buf *b, const struct ut_trace *t, uint64_t id, uint32_t id_text);

#endif
