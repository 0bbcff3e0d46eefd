/*
 * jitprofiling.h - how a just-in-time compiler tells a profiler what its code is.
 *
 *	iJIT_Method_Load m = { 0 };
 *
 *	m.method_id = iJIT_GetNewMethodID();
 *	m.method_name = "loop_17";
 *	m.method_load_address = code;
 *	m.method_size = size;
 *	iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED, &m);
 *
 * Link with libittnotify.a. The collector is the library named in INTEL_JIT_PROFILER64, which
 * `unitrace` sets; without it every call returns at once. Report code before it first runs. Any
 * thread may call. Strings and tables are read during the call only and stay the caller's.
 *
 * Names, values and layouts are those of Intel's jitprofiling.h.
 */
#ifndef __JITPROFILING_H__
#define __JITPROFILING_H__

#ifdef __cplusplus
extern "C" {
#endif

#ifndef JITAPI_CDECL
#define JITAPI_CDECL
#endif
#define JITAPI JITAPI_CDECL

/* What happened, and in brackets what the data points at. */
typedef enum iJIT_jvm_event {
	iJVM_EVENT_TYPE_SHUTDOWN = 2,                 /* the engine leaves [NULL] */
	iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED = 13,    /* new code [iJIT_Method_Load] */
	iJVM_EVENT_TYPE_METHOD_UNLOAD_START,          /* code goes [iJIT_Method_Load] */
	iJVM_EVENT_TYPE_METHOD_UPDATE,                /* code changed [iJIT_Method_Load] */
	iJVM_EVENT_TYPE_METHOD_INLINE_LOAD_FINISHED,  /* part of it [iJIT_Method_Inline_Load] */
	iJVM_EVENT_TYPE_METHOD_UPDATE_V2,             /* code or data [iJIT_Method_Update] */
	iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V2 = 21, /* with module [iJIT_Method_Load_V2] */
	iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V3       /* with architecture [iJIT_Method_Load_V3] */
} iJIT_JVM_EVENT;

typedef enum _iJIT_IsProfilingActiveFlags {
	iJIT_NOTHING_RUNNING = 0x0000,
	iJIT_SAMPLING_ON = 0x0001
} iJIT_IsProfilingActiveFlags;

typedef enum _iJIT_CodeArchitecture {
	iJIT_CA_NATIVE = 0, /* that of the process */
	iJIT_CA_32,
	iJIT_CA_64
} iJIT_CodeArchitecture;

/* What a range in a method is after an update. */
typedef enum _iJIT_SegmentType {
	iJIT_CT_UNKNOWN = 0,
	iJIT_CT_CODE,
	iJIT_CT_DATA,
	iJIT_CT_KEEP, /* as it was */
	iJIT_CT_EOF
} iJIT_SegmentType;

#pragma pack(push, 8)

/* The code from the previous entry's Offset up to this one belongs to this line. */
typedef struct _LineNumberInfo {
	unsigned int Offset; /* bytes from the start of the method */
	unsigned int LineNumber;
} * pLineNumberInfo, LineNumberInfo;

/*
 * One region of code. Required: an id other than 0 (regions with the same id are one method), a
 * name, an address, a size. The rest may be 0 or NULL.
 */
typedef struct _iJIT_Method_Load {
	unsigned int method_id;
	char *method_name;
	void *method_load_address;
	unsigned int method_size;
	unsigned int line_number_size; /* entries */
	pLineNumberInfo line_number_table;
	unsigned int class_id; /* no longer used */
	char *class_file_name;
	char *source_file_name;
} * piJIT_Method_Load, iJIT_Method_Load;

typedef struct _iJIT_Method_Load_V2 {
	unsigned int method_id;
	char *method_name;
	void *method_load_address;
	unsigned int method_size;
	unsigned int line_number_size;
	pLineNumberInfo line_number_table;
	char *class_file_name;
	char *source_file_name;
	char *module_name; /* tells several engines apart */
} * piJIT_Method_Load_V2, iJIT_Method_Load_V2;

typedef struct _iJIT_Method_Load_V3 {
	unsigned int method_id;
	char *method_name;
	void *method_load_address;
	unsigned int method_size;
	unsigned int line_number_size;
	pLineNumberInfo line_number_table;
	char *class_file_name;
	char *source_file_name;
	char *module_name;
	iJIT_CodeArchitecture module_arch;
} * piJIT_Method_Load_V3, iJIT_Method_Load_V3;

/* A callee that was compiled into its caller; inlines nest through parent_method_id. */
typedef struct _iJIT_Method_Inline_Load {
	unsigned int method_id;
	unsigned int parent_method_id; /* not 0 */
	char *method_name;
	void *method_load_address;
	unsigned int method_size;
	unsigned int line_number_size;
	pLineNumberInfo line_number_table;
	char *class_file_name;
	char *source_file_name;
} * piJIT_Method_Inline_Load, iJIT_Method_Inline_Load;

typedef struct _iJIT_Method_Update {
	void *load_address;
	unsigned int size;
	iJIT_SegmentType type;
	const char *data_format; /* how to print data, as for printf */
} * piJIT_Method_Update, iJIT_Method_Update;

#pragma pack(pop)

/* A number nobody else in this process has got from here; 0 when there are no more. */
unsigned int JITAPI iJIT_GetNewMethodID(void);

/* Whether it is worth preparing reports. Loads the collector if that has not happened yet. */
iJIT_IsProfilingActiveFlags JITAPI iJIT_IsProfilingActive(void);

/* 1 when the collector took the report, else 0. */
int JITAPI iJIT_NotifyEvent(iJIT_JVM_EVENT event_type, void *data);

#ifdef __cplusplus
}
#endif

#endif
