/*
 * spool_ops.h - the operations that SYNC, STITCH, HEAP, MODULE, MODEL and HINT records name.
 *
 * The numbers are part of the format (docs/formats/spool.md): add at the end only.
 */
#ifndef UT_WIRE_SPOOL_OPS_H
#define UT_WIRE_SPOOL_OPS_H

enum ut_sync_op {
	UT_SYNC_PREPARE,
	UT_SYNC_CANCEL,
	UT_SYNC_ACQUIRED,
	UT_SYNC_RELEASING,
	UT_SYNC_DESTROY,
};

enum ut_stitch_op {
	UT_STITCH_CREATE,
	UT_STITCH_DESTROY,
	UT_STITCH_ENTER,
	UT_STITCH_LEAVE
};

enum ut_heap_op {
	UT_HEAP_ALLOC_BEGIN,
	UT_HEAP_ALLOC_END,
	UT_HEAP_FREE_BEGIN,
	UT_HEAP_FREE_END,
	UT_HEAP_REALLOC_BEGIN,
	UT_HEAP_REALLOC_END,
	UT_HEAP_ACCESS_BEGIN,
	UT_HEAP_ACCESS_END,
	UT_HEAP_RECORD_BEGIN,
	UT_HEAP_RECORD_END,
	UT_HEAP_RESET,
	UT_HEAP_RECORD,
};

enum ut_module_op {
	UT_MODULE_LOAD,
	UT_MODULE_UNLOAD
};

enum ut_model_op {
	UT_MODEL_SITE_BEGIN,
	UT_MODEL_SITE_END,
	UT_MODEL_TASK_BEGIN,
	UT_MODEL_TASK_END,
	UT_MODEL_LOCK_ACQUIRE,
	UT_MODEL_LOCK_RELEASE,
	UT_MODEL_ITERATION,
};

/* Operation, and what it is called in a timeline. */
#define UT_HINT_LIST(X)                                                                            \
	X(SUPPRESS_PUSH, "suppress push")                                                          \
	X(SUPPRESS_POP, "suppress pop")                                                            \
	X(SUPPRESS_RANGE, "suppress range")                                                        \
	X(UNSUPPRESS_RANGE, "unsuppress range")                                                    \
	X(SUPPRESS_CLEAR, "suppress clear range")                                                  \
	X(ALLOCATION, "record allocation")                                                         \
	X(DEALLOCATION, "record deallocation")                                                     \
	X(INDUCTION, "induction uses")                                                             \
	X(REDUCTION, "reduction uses")                                                             \
	X(OBSERVE, "observe uses")                                                                 \
	X(CLEAR, "clear uses")                                                                     \
	X(AGGREGATE, "aggregate task")                                                             \
	X(DISABLE_PUSH, "disable push")                                                            \
	X(DISABLE_POP, "disable pop")                                                              \
	X(MEMORY_READ, "memory read")                                                              \
	X(MEMORY_WRITE, "memory write")                                                            \
	X(MEMORY_UPDATE, "memory update")                                                          \
	X(SAVE_ARRAY, "save array")                                                                \
	X(PT_REGION, "pt region")                                                                  \
	X(LOCK_ACQUIRE, "lock acquire")                                                            \
	X(LOCK_RELEASE, "lock release")

enum ut_hint_op {
#define UT_HINT_ENUM(op, text) UT_HINT_##op,
	UT_HINT_LIST(UT_HINT_ENUM)
#undef UT_HINT_ENUM
	UT_HINT_COUNT
};

#endif
