/*
 * perfetto_code.h - the field numbers of Perfetto's format for samples and their stacks, beside
 * those of perfetto_fields.h.
 */
#ifndef UT_MODEL_PERFETTO_CODE_H
#define UT_MODEL_PERFETTO_CODE_H

#define PACKET_PERF_SAMPLE 66 /* of a packet */

/* Of InternedData. */
enum interned_for_samples {
	INTERNED_FUNCTIONS = 5, /* function_names */
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_MODULES = 17, /* mapping_paths */
	INTERNED_SOURCES = 18, /* source_paths */
	INTERNED_MAPPINGS = 19,
};

enum perf_sample {
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4, /* callstack_iid */
};

/* Of what is interned for samples; the numbers refer to other interned things. */
enum interned_code {
	FRAME_FUNCTION = 2, /* Frame */
	FRAME_MAPPING = 3,
	FRAME_REL_PC = 4,
	FRAME_SOURCE = 5,
	FRAME_LINE = 6,
	CALLSTACK_FRAMES = 2, /* Callstack: the outermost first */
	MAPPING_PATHS = 7,    /* Mapping: the parts of a path */
};

#endif
