/*
 * ze_abi.h - what the backend knows of Level Zero's binary interface: structs, flags and results,
 * in words of our own, so that no SDK is needed. tests/backend/test_ze_abi.c compares them with
 * an SDK where there is one.
 *
 * A driver hands out tables of functions (zeGetCommandListProcAddrTable() and others), which have
 * grown at their ends since version 1.0; api.def lists them. A struct begins with its type and a
 * chain of extensions.
 */
/* limits: one interface, in one place */
#ifndef UT_BACKEND_LEVELZERO_ZE_ABI_H
#define UT_BACKEND_LEVELZERO_ZE_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t ze_result;
typedef void *ze_handle;

#define ZE_VERSION(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

enum {
	ZE_SUCCESS = 0,
	ZE_NOT_READY = 1,
	ZE_UNINITIALIZED = 0x78000001,
	ZE_UNSUPPORTED_VERSION = 0x78000002,
	ZE_UNSUPPORTED_FEATURE = 0x78000003,
	ZE_DROPPED_DATA = 0x70020001, /* a warning: the rest is good */
};

/* Types of structs. */
enum {
	ZE_DRIVER_PROPERTIES = 0x1,
	ZE_DEVICE_PROPERTIES = 0x3,
	ZE_QUEUE_GROUP_PROPERTIES = 0x6,
	ZE_CONTEXT_DESC = 0xd,
	ZE_LIST_DESC = 0xf,
	ZE_EVENT_POOL_DESC = 0x10,
	ZE_EVENT_DESC = 0x11,
	ZE_HOST_MEMORY_DESC = 0x16,
	ZE_MEMORY_PROPERTIES = 0x17,
	ZE_KERNEL_PROPERTIES = 0x1e,
	ZE_PCI_PROPERTIES = 0x10008,
	ZE_DEVICE_PROPERTIES_1_2 = 0x20006, /* the timer's resolution is in cycles a second */
	ZE_DDI_HANDLES_PROPERTIES = 0x20027,
	ZE_REGISTER_FILE = 0x30012, /* an extension of Intel's GPU driver */
};

/* What every struct begins with. */
struct ze_base {
	uint32_t type;
	void *next;
};

struct ze_driver_properties {
	uint32_t type;
	void *next;
	uint8_t uuid[16];
	uint32_t version;
};

/* Extends ze_driver_properties: handles that hold their own tables, which go around ours. */
struct ze_ddi_handles_properties {
	uint32_t type;
	void *next;
	uint32_t flags;
};

enum {
	ZE_DEVICE_GPU = 1,
	ZE_DEVICE_CPU = 2,
	ZE_DEVICE_IS_SUBDEVICE = 1u << 1,
};

#define ZE_DEVICE_IS_TILE (1u << 1) /* of flags */

struct ze_device_properties {
	uint32_t type;
	void *next;
	uint32_t device_type, vendor, device;
	uint32_t flags, subdevice, clock_rate;
	uint64_t most_memory;
	uint32_t contexts, priorities, threads_per_eu, simd_width;
	uint32_t eus_per_subslice, subslices_per_slice, slices;
	uint64_t timer_resolution;
	uint32_t timestamp_bits, kernel_timestamp_bits;
	uint8_t uuid[16];
	char name[256];
};

struct ze_pci_properties {
	uint32_t type;
	void *next;
	uint32_t domain, bus, device, function;
	int64_t speed[2];
};

enum {
	ZE_GROUP_COMPUTE = 1u << 0,
	ZE_GROUP_COPY = 1u << 1,
};

/* Level Zero's order, NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct ze_queue_group_properties {
	uint32_t type;
	void *next;
	uint32_t flags;
	size_t most_fill_pattern;
	uint32_t queues;
};

struct ze_context_desc {
	uint32_t type;
	const void *next;
	uint32_t flags;
};

enum {
	ZE_QUEUE_IN_ORDER = 1u << 1, /* flags */
	ZE_QUEUE_SYNCHRONOUS = 1,    /* mode */
};

struct ze_queue_desc {
	uint32_t type;
	const void *next;
	uint32_t ordinal, index, flags, mode, priority;
};

enum {
	ZE_LIST_IN_ORDER = 1u << 3,
};

struct ze_list_desc {
	uint32_t type;
	const void *next;
	uint32_t ordinal, flags;
};

enum {
	ZE_POOL_HOST_VISIBLE = 1u << 0,
	ZE_POOL_IPC = 1u << 1,
	ZE_POOL_TIMESTAMP = 1u << 2,
	ZE_POOL_MAPPED_TIMESTAMP = 1u << 3, /* excludes the one before */
};

struct ze_event_pool_desc {
	uint32_t type;
	const void *next;
	uint32_t flags, count;
};

enum {
	ZE_SCOPE_DEVICE = 1u << 1,
	ZE_SCOPE_HOST = 1u << 2,
};

struct ze_event_desc {
	uint32_t type;
	const void *next;
	uint32_t index, signal, wait;
};

enum {
	ZE_COUNTED_TIMESTAMP = 1u << 4,
	ZE_COUNTED_MAPPED_TIMESTAMP = 1u << 5,
	ZE_COUNTED_IPC = 1u << 3,
};

/* Of events that count commands of an in-order list; Intel's first form and that of 1.15. */
struct ze_counted_event_desc {
	uint32_t type;
	const void *next;
	uint32_t flags, signal, wait;
};

struct ze_ticks {
	uint64_t start, end;
};

struct ze_timestamps {
	struct ze_ticks global, context;
};

struct ze_kernel_desc {
	uint32_t type;
	const void *next;
	uint32_t flags;
	const char *name;
};

struct ze_kernel_properties {
	uint32_t type;
	void *next;
	uint32_t arguments, required_size[3], required_subgroups, required_subgroup_size;
	uint32_t most_subgroup_size, most_subgroups;
	uint32_t local_memory, private_memory, spill_memory;
	uint8_t uuid[32];
};

struct ze_register_file {
	uint32_t type;
	const void *next;
	uint32_t size;
};

enum {
	ZE_MODULE_SPIRV = 0,
	ZE_MODULE_NATIVE = 1,
};

struct ze_module_desc {
	uint32_t type;
	const void *next;
	uint32_t format;
	size_t size;
	const uint8_t *input;
	const char *flags;
	const void *constants;
};

struct ze_group {
	uint32_t x, y, z;
};

struct ze_region {
	uint32_t x, y, z, width, height, depth;
};

struct ze_image_desc {
	uint32_t type;
	const void *next;
	uint32_t flags, image_type;
	uint32_t layout, format[5];
	uint64_t width;
	uint32_t height, depth, levels, mips;
};

enum ze_memory_kind {
	ZE_MEMORY_UNKNOWN,
	ZE_MEMORY_HOST,
	ZE_MEMORY_DEVICE,
	ZE_MEMORY_SHARED,
};

struct ze_memory_properties {
	uint32_t type;
	void *next;
	uint32_t kind; /* enum ze_memory_kind */
	uint64_t id, page;
};

struct ze_host_memory_desc {
	uint32_t type;
	const void *next;
	uint32_t flags;
};

/* Handles for other processes go by value. */
struct ze_ipc {
	char data[64];
};

#endif
