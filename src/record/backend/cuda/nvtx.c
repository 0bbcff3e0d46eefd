/*
 * nvtx.c - what a program marks with NVTX, as ITT's tasks, markers and names.
 *
 * Both mean the same: a range that is pushed and popped is a task, one that is started and ended
 * an overlapped task, a domain is a domain. So this is a translation into calls of our ITT SDK, and
 * filters, pauses and the join of kernels with the range around their launch need no code here.
 */
#include "backend/cuda/nvtx_abi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/nvtx_payload.h"
#include "base/utf8.h"
#include "ittnotify.h"

#define EXPORT          __attribute__((visibility("default")))
#define LONGEST         1024u /* bytes of a wide text, as UTF-8 */
#define MOST_CATEGORIES 256u  /* further ones stay numbers */
#define MOST_DEPTHS     16u   /* domains whose depth a thread keeps */

/* ---- texts --------------------------------------------------------------------------------- */

/* wchar_t is UTF-32 on Linux. Returns buf. */
static const char *narrow(const wchar_t *wide, char buf[LONGEST])
{
	size_t len = 0;

	for (; wide && *wide && len < LONGEST - 4; wide++)
		len += ut_utf8_put(buf + len, (uint32_t)*wide);
	buf[len] = '\0';
	return buf;
}

static __itt_string_handle *nvtx_string_of(const char *text)
{
	return __itt_string_handle_create(text && text[0] ? text : "(unnamed)");
}

static __itt_string_handle *wide_string_of(const wchar_t *text)
{
	char buf[LONGEST];

	return nvtx_string_of(narrow(text, buf));
}

/* ---- domains ------------------------------------------------------------------------------- */

/* What is marked without a domain. */
static __itt_domain *default_domain(void)
{
	static _Atomic(__itt_domain *) known;
	__itt_domain *d = atomic_load_explicit(&known, memory_order_acquire);

	if (!d) {
		d = __itt_domain_create("NVTX");
		atomic_store_explicit(&known, d, memory_order_release);
	}
	return d;
}

static __itt_domain *domain_of(void *handle)
{
	return handle ? handle : default_domain();
}

static void *domain_create_a(const char *name)
{
	return __itt_domain_create(name && name[0] ? name : "NVTX");
}

static void *domain_create_w(const wchar_t *name)
{
	char buf[LONGEST];

	return domain_create_a(narrow(name, buf));
}

/* NVTX wants to know how deep a range is in its thread and domain. */
struct depth {
	const __itt_domain *domain;
	int count;
};

static _Thread_local struct depth depths[MOST_DEPTHS];

/* The last place stands for all domains that find no place of their own. */
static struct depth *depth_of(const __itt_domain *domain)
{
	size_t i = 0;

	while (i < MOST_DEPTHS - 1 && depths[i].domain && depths[i].domain != domain)
		i++;
	depths[i].domain = domain;
	return &depths[i];
}

/* ---- categories ---------------------------------------------------------------------------- */

struct category {
	_Atomic(const __itt_domain *) domain; /* set last */
	uint32_t number;
	__itt_string_handle *name;
};

static struct category categories[MOST_CATEGORIES];
static _Atomic uint32_t category_count;

static void name_category(const __itt_domain *domain, uint32_t number, const char *name)
{
	uint32_t at = atomic_fetch_add(&category_count, 1);

	if (at >= MOST_CATEGORIES) {
		atomic_store(&category_count, MOST_CATEGORIES);
		return;
	}
	categories[at].number = number;
	categories[at].name = nvtx_string_of(name);
	atomic_store_explicit(&categories[at].domain, domain, memory_order_release);
}

/* The name that was given last. */
static const __itt_string_handle *category_name(const __itt_domain *domain, uint32_t number)
{
	uint32_t count = atomic_load(&category_count);

	for (uint32_t i = count < MOST_CATEGORIES ? count : MOST_CATEGORIES; i--;) {
		if (atomic_load_explicit(&categories[i].domain, memory_order_acquire) == domain &&
		    categories[i].number == number)
			return categories[i].name;
	}
	return NULL;
}

static void name_category_a(uint32_t number, const char *name)
{
	name_category(default_domain(), number, name);
}

static void name_category_w(uint32_t number, const wchar_t *name)
{
	char buf[LONGEST];

	name_category(default_domain(), number, narrow(name, buf));
}

static void domain_name_category_a(void *domain, uint32_t number, const char *name)
{
	name_category(domain_of(domain), number, name);
}

static void domain_name_category_w(void *domain, uint32_t number, const wchar_t *name)
{
	char buf[LONGEST];

	name_category(domain_of(domain), number, narrow(name, buf));
}

/* ---- attributes ---------------------------------------------------------------------------- */

static bool knows(const struct nvtx_attributes *a, size_t end)
{
	return a && a->size >= end;
}

static __itt_string_handle *message_of(const struct nvtx_attributes *a)
{
	if (!knows(a, sizeof(*a)))
		return nvtx_string_of(NULL);
	switch (a->message_type) {
	case NVTX_MESSAGE_ASCII:
		return nvtx_string_of(a->message.ascii);
	case NVTX_MESSAGE_WIDE:
		return wide_string_of(a->message.wide);
	case NVTX_MESSAGE_REGISTERED:
		return a->message.registered ? a->message.registered : nvtx_string_of(NULL);
	default:
		return nvtx_string_of(NULL);
	}
}

static void add_payload(__itt_domain *domain, __itt_id id, const struct nvtx_attributes *a)
{
	static const __itt_metadata_type types[] = {
		[NVTX_PAYLOAD_U64] = __itt_metadata_u64,
		[NVTX_PAYLOAD_I64] = __itt_metadata_s64,
		[NVTX_PAYLOAD_DOUBLE] = __itt_metadata_double,
		[NVTX_PAYLOAD_U32] = __itt_metadata_u32,
		[NVTX_PAYLOAD_I32] = __itt_metadata_s32,
		[NVTX_PAYLOAD_FLOAT] = __itt_metadata_float,
	};
	union {
		const void *from;
		void *to;
	} data = { .from = &a->payload };

	if (a->payload_type >= NVTX_PAYLOAD_U64 && a->payload_type <= NVTX_PAYLOAD_FLOAT)
		__itt_metadata_add(domain, id, nvtx_string_of("payload"), types[a->payload_type], 1,
				   data.to);
}

static const struct nvtx_data *payloads_of(const struct nvtx_attributes *a)
{
	return a->reserved > 0 ? (const struct nvtx_data *)(uintptr_t)a->payload.u64 : NULL;
}

/* What a range carries besides its name. The null id is the range that was pushed last. */
static void add_facts(__itt_domain *domain, __itt_id id, const struct nvtx_attributes *a)
{
	const __itt_string_handle *name;

	if (!knows(a, sizeof(*a)))
		return;
	if (a->payload_type == NVTX_PAYLOAD_EXTENDED)
		ut_nvtx_add_payload(domain, id, payloads_of(a), (size_t)a->reserved);
	else
		add_payload(domain, id, a);
	if (!a->category)
		return;
	name = category_name(domain, a->category);
	if (name)
		__itt_metadata_str_add(domain, id, nvtx_string_of("category"), name->strA,
				       strlen(name->strA));
	else
		__itt_metadata_add(domain, id, nvtx_string_of("category"), __itt_metadata_u32, 1,
				   &(uint32_t){ a->category });
}

/* ---- ranges and marks ---------------------------------------------------------------------- */

static int nvtx_push(__itt_domain *domain, __itt_string_handle *name,
		     const struct nvtx_attributes *a)
{
	__itt_task_begin(domain, __itt_null, __itt_null, name);
	add_facts(domain, __itt_null, a);
	return depth_of(domain)->count++;
}

static int nvtx_pop(__itt_domain *domain)
{
	struct depth *d = depth_of(domain);

	if (!d->count)
		return -1;
	__itt_task_end(domain);
	return --d->count;
}

/* Ranges are numbered through the process; 0 is none. */
static uint64_t nvtx_start(__itt_domain *domain, __itt_string_handle *name,
			   const struct nvtx_attributes *a)
{
	static _Atomic uint64_t last;
	uint64_t number = atomic_fetch_add(&last, 1) + 1;
	__itt_id id = __itt_id_make(domain, number);

	__itt_task_begin_overlapped(domain, id, __itt_null, name);
	add_facts(domain, id, a);
	return number;
}

static void nvtx_end(__itt_domain *domain, uint64_t number)
{
	__itt_task_end_overlapped(domain, __itt_id_make(domain, number));
}

static void mark(__itt_domain *domain, __itt_string_handle *name)
{
	__itt_marker(domain, __itt_null, name, __itt_marker_scope_thread);
}

static int domain_push_ex(void *domain, const struct nvtx_attributes *a)
{
	return nvtx_push(domain_of(domain), message_of(a), a);
}

static int domain_pop(void *domain)
{
	return nvtx_pop(domain_of(domain));
}

static uint64_t domain_start_ex(void *domain, const struct nvtx_attributes *a)
{
	return nvtx_start(domain_of(domain), message_of(a), a);
}

static void domain_end(void *domain, uint64_t number)
{
	nvtx_end(domain_of(domain), number);
}

static void domain_mark_ex(void *domain, const struct nvtx_attributes *a)
{
	mark(domain_of(domain), message_of(a));
}

static int push_ex(const struct nvtx_attributes *a)
{
	return domain_push_ex(NULL, a);
}

static int push_a(const char *message)
{
	return nvtx_push(default_domain(), nvtx_string_of(message), NULL);
}

static int push_w(const wchar_t *message)
{
	return nvtx_push(default_domain(), wide_string_of(message), NULL);
}

static int pop_default(void)
{
	return nvtx_pop(default_domain());
}

static uint64_t start_ex(const struct nvtx_attributes *a)
{
	return domain_start_ex(NULL, a);
}

static uint64_t start_a(const char *message)
{
	return nvtx_start(default_domain(), nvtx_string_of(message), NULL);
}

static uint64_t start_w(const wchar_t *message)
{
	return nvtx_start(default_domain(), wide_string_of(message), NULL);
}

static void end_default(uint64_t number)
{
	nvtx_end(default_domain(), number);
}

static void mark_ex(const struct nvtx_attributes *a)
{
	domain_mark_ex(NULL, a);
}

static void mark_a(const char *message)
{
	mark(default_domain(), nvtx_string_of(message));
}

static void mark_w(const wchar_t *message)
{
	mark(default_domain(), wide_string_of(message));
}

/* ---- the extension for payloads ------------------------------------------------------------ */

static uint64_t register_schema(void *domain, const struct nvtx_schema *schema)
{
	return ut_nvtx_add_schema(domain_of(domain), schema);
}

static uint64_t register_enum(void *domain, const struct nvtx_enum *e)
{
	return ut_nvtx_add_enum(domain_of(domain), e);
}

static __itt_string_handle *payload_name(const __itt_domain *domain, const struct nvtx_data *data,
					 size_t count)
{
	__itt_string_handle *message = ut_nvtx_payload_message(domain, data, count);

	return message ? message : nvtx_string_of(NULL);
}

static int push_payload(void *domain, const struct nvtx_data *data, size_t count)
{
	__itt_domain *d = domain_of(domain);
	int depth = nvtx_push(d, payload_name(d, data, count), NULL);

	ut_nvtx_add_payload(d, __itt_null, data, count);
	return depth;
}

/* What is known at the end only; ranges of NCCL are pushed plainly and end so. */
static int pop_payload(void *domain, const struct nvtx_data *data, size_t count)
{
	__itt_domain *d = domain_of(domain);

	if (depth_of(d)->count)
		ut_nvtx_add_payload(d, __itt_null, data, count);
	return nvtx_pop(d);
}

static uint64_t start_payload(void *domain, const struct nvtx_data *data, size_t count)
{
	__itt_domain *d = domain_of(domain);
	uint64_t number = nvtx_start(d, payload_name(d, data, count), NULL);

	ut_nvtx_add_payload(d, __itt_id_make(d, number), data, count);
	return number;
}

static void end_payload(void *domain, uint64_t number, const struct nvtx_data *data, size_t count)
{
	__itt_domain *d = domain_of(domain);

	ut_nvtx_add_payload(d, __itt_id_make(d, number), data, count);
	nvtx_end(d, number);
}

static void mark_payload(void *domain, const struct nvtx_data *data, size_t count)
{
	__itt_domain *d = domain_of(domain);

	mark(d, payload_name(d, data, count));
}

static uint8_t is_enabled(void *domain)
{
	(void)domain;
	return 1;
}

static void *register_string_a(void *domain, const char *text)
{
	(void)domain;
	return nvtx_string_of(text);
}

static void *register_string_w(void *domain, const wchar_t *text)
{
	(void)domain;
	return wide_string_of(text);
}

/* ---- names of threads and streams ---------------------------------------------------------- */

/* ITT names the calling thread only, which is the one that programs name. */
static void name_thread_a(uint32_t thread, const char *name)
{
	if (name && thread == (uint32_t)gettid())
		__itt_thread_set_name(name);
}

static void name_thread_w(uint32_t thread, const wchar_t *name)
{
	char buf[LONGEST];

	name_thread_a(thread, narrow(name, buf));
}

static void name_stream_a(void *stream, const char *name)
{
	if (name)
		ut_cuda_name_stream(stream, name);
}

static void name_stream_w(void *stream, const wchar_t *name)
{
	char buf[LONGEST];

	name_stream_a(stream, narrow(name, buf));
}

/* ---- the entry point
 * ------------------------------------------------------------------------------ */

struct slot {
	unsigned int id;
	nvtx_function *function;
};

static void nvtx_fill(const struct nvtx_callbacks *c, int module, const struct slot *slots,
		      size_t count)
{
	nvtx_slot *table = NULL;
	unsigned int size = 0;

	if (!c->module_table(module, &table, &size) || !table)
		return;
	for (size_t i = 0; i < count; i++) {
		if (slots[i].id < size && table[slots[i].id])
			*table[slots[i].id] = slots[i].function;
	}
}

#define SLOT(id, function)                                                                         \
	{                                                                                          \
		id, (nvtx_function *)(function)                                                    \
	}
#define FILL(c, module, slots) nvtx_fill(c, module, slots, sizeof(slots) / sizeof(*(slots)))

static void fill_core(const struct nvtx_callbacks *c)
{
	static const struct slot core[] = {
		SLOT(NVTX_MARK_EX, mark_ex),
		SLOT(NVTX_MARK_A, mark_a),
		SLOT(NVTX_MARK_W, mark_w),
		SLOT(NVTX_RANGE_START_EX, start_ex),
		SLOT(NVTX_RANGE_START_A, start_a),
		SLOT(NVTX_RANGE_START_W, start_w),
		SLOT(NVTX_RANGE_END, end_default),
		SLOT(NVTX_RANGE_PUSH_EX, push_ex),
		SLOT(NVTX_RANGE_PUSH_A, push_a),
		SLOT(NVTX_RANGE_PUSH_W, push_w),
		SLOT(NVTX_RANGE_POP, pop_default),
		SLOT(NVTX_NAME_CATEGORY_A, name_category_a),
		SLOT(NVTX_NAME_CATEGORY_W, name_category_w),
		SLOT(NVTX_NAME_OS_THREAD_A, name_thread_a),
		SLOT(NVTX_NAME_OS_THREAD_W, name_thread_w),
	};
	static const struct slot core2[] = {
		SLOT(NVTX_DOMAIN_MARK_EX, domain_mark_ex),
		SLOT(NVTX_DOMAIN_RANGE_START_EX, domain_start_ex),
		SLOT(NVTX_DOMAIN_RANGE_END, domain_end),
		SLOT(NVTX_DOMAIN_RANGE_PUSH_EX, domain_push_ex),
		SLOT(NVTX_DOMAIN_RANGE_POP, domain_pop),
		SLOT(NVTX_DOMAIN_NAME_CATEGORY_A, domain_name_category_a),
		SLOT(NVTX_DOMAIN_NAME_CATEGORY_W, domain_name_category_w),
		SLOT(NVTX_DOMAIN_REGISTER_STRING_A, register_string_a),
		SLOT(NVTX_DOMAIN_REGISTER_STRING_W, register_string_w),
		SLOT(NVTX_DOMAIN_CREATE_A, domain_create_a),
		SLOT(NVTX_DOMAIN_CREATE_W, domain_create_w),
	};

	FILL(c, NVTX_CORE, core);
	FILL(c, NVTX_CORE2, core2);
}

static void fill_cuda(const struct nvtx_callbacks *c)
{
	static const struct slot driver[] = {
		SLOT(NVTX_NAME_CU_STREAM_A, name_stream_a),
		SLOT(NVTX_NAME_CU_STREAM_W, name_stream_w),
	};
	static const struct slot runtime[] = {
		SLOT(NVTX_NAME_CUDA_STREAM_A, name_stream_a),
		SLOT(NVTX_NAME_CUDA_STREAM_W, name_stream_w),
	};

	FILL(c, NVTX_CUDA, driver);
	FILL(c, NVTX_CUDART, runtime);
}

EXPORT int InitializeInjectionNvtx2(nvtx_get_table *get_table);

/* Every copy of NVTX in the process calls it once. 0 = NVTX does without us. */
EXPORT int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *c = get_table ? get_table(NVTX_CALLBACKS) : NULL;

	/* Handles that we give out must not be NULL: that is what they are without a collector. */
	if (!c || c->size < sizeof(*c) || !c->module_table || !default_domain())
		return 0;
	fill_core(c);
	fill_cuda(c);
	return 1;
}

EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

/* The same for what came later; of it, payloads. */
EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	static const struct slot payload[] = {
		SLOT(NVTX_SCHEMA_REGISTER, register_schema),
		SLOT(NVTX_ENUM_REGISTER, register_enum),
		SLOT(NVTX_MARK_PAYLOAD, mark_payload),
		SLOT(NVTX_RANGE_PUSH_PAYLOAD, push_payload),
		SLOT(NVTX_RANGE_POP_PAYLOAD, pop_payload),
		SLOT(NVTX_RANGE_START_PAYLOAD, start_payload),
		SLOT(NVTX_RANGE_END_PAYLOAD, end_payload),
		SLOT(NVTX_DOMAIN_IS_ENABLED, is_enabled),
	};
	const struct nvtx_segment *s;

	if (!extension || extension->size < sizeof(*extension) ||
	    extension->module != NVTX_MODULE_PAYLOAD || !extension->segment_count ||
	    !default_domain())
		return 0;
	s = extension->segments;
	for (size_t i = 0; i < sizeof(payload) / sizeof(*payload); i++) {
		if (payload[i].id < s->count)
			s->functions[payload[i].id] = (intptr_t)payload[i].function;
	}
	return 1;
}
