/* kernel.c - modules, kernels and images: what commands are called and how much they move. */
#include <stdio.h>
#include <string.h>

#include "backend/levelzero/ze_objects.h"

#define BUCKETS    512u
#define MOST_KNOWN 65536u
#define NAME_BYTES 16384u

struct module {
	struct ut_handle_item item;
	bool native;
};

struct image {
	struct ut_handle_item item;
	uint64_t width, height, depth;
	uint32_t pixel; /* bytes; 0 = unknown */
};

static struct ut_handle_table modules = { .size = sizeof(struct module) };
static struct ut_handle_table kernels = { .size = sizeof(struct ut_ze_kernel) };
static struct ut_handle_table images = { .size = sizeof(struct image) };

/* ---- modules ------------------------------------------------------------------------------- */

ze_result ut_zeModuleCreate(ze_handle hContext, ze_handle hDevice, const void *desc,
			    ze_made phModule, ze_handle *phBuildLog)
{
	ze_result rc = UT_ZE(zeModuleCreate)(hContext, hDevice, desc, phModule, phBuildLog);
	const struct ze_module_desc *given = desc;
	struct module *m = !rc && phModule ? ut_handle_item_of(&modules, *phModule) : NULL;

	if (m && given)
		m->native = given->format == ZE_MODULE_NATIVE;
	return rc;
}

ze_result ut_zeModuleDestroy(ze_handle hModule)
{
	return UT_ZE(zeModuleDestroy)(hModule);
}

/* ---- what is kept once --------------------------------------------------------------------- */

/* Numbers that come again and again: found by what they are. */
struct known {
	struct known *next;
	uint32_t words[8];
};

struct store {
	struct known *_Atomic buckets[BUCKETS];
	_Atomic uint32_t count;
};

static struct known *find_known(struct known *k, const uint32_t words[8])
{
	while (k && memcmp(k->words, words, sizeof(k->words)) != 0)
		k = k->next;
	return k;
}

/* Two threads that come first at once make two: they are the same. */
static const void *kernel_keep(struct store *s, const uint32_t words[8])
{
	uint32_t hash = 0;
	struct known *_Atomic *bucket, *k;

	for (int i = 0; i < 6; i++)
		hash = (hash ^ words[i]) * 0x9e3779b1u;
	bucket = &s->buckets[hash >> 23];
	k = find_known(atomic_load_explicit(bucket, memory_order_acquire), words);
	if (k)
		return k->words;
	if (atomic_fetch_add(&s->count, 1) >= MOST_KNOWN)
		return NULL;
	k = ut_guest_alloc(sizeof(*k));
	if (!k)
		return NULL;
	memcpy(k->words, words, sizeof(k->words));
	k->next = atomic_load(bucket);
	while (!atomic_compare_exchange_weak(bucket, &k->next, k))
		;
	return k->words;
}

_Static_assert(BUCKETS == 1u << (32 - 23), "kernel_keep() takes 9 bits");
_Static_assert(sizeof(struct ut_ze_shape) == 32 && sizeof(struct ut_ze_facts) == 32,
	       "both are eight words");

/* ---- kernels ------------------------------------------------------------------------------- */

static struct store all_facts, all_shapes;

static void learn_properties(struct ut_ze_facts *f, ze_handle kernel)
{
	struct ze_register_file registers = { .type = ZE_REGISTER_FILE };
	struct ze_kernel_properties p = { .type = ZE_KERNEL_PROPERTIES, .next = &registers };

	/* A driver that does not know the extension may refuse all. */
	if (UT_ZE(zeKernelGetProperties)(kernel, &p)) {
		p = (struct ze_kernel_properties){ .type = ZE_KERNEL_PROPERTIES };
		registers.size = 0;
		if (UT_ZE(zeKernelGetProperties)(kernel, &p))
			return;
	}
	f->simd = p.most_subgroup_size;
	f->arguments = p.arguments;
	f->slm = p.local_memory;
	f->private_bytes = p.private_memory;
	f->spill = p.spill_memory;
	f->registers = registers.size;
}

static struct ut_ze_kernel *kernel_learn(ze_handle kernel, ze_handle module, const char *name)
{
	struct ut_ze_kernel *k = ut_handle_item_of(&kernels, kernel);
	const struct module *m = module ? ut_handle_find(&modules, module) : NULL;
	size_t len = name ? strnlen(name, NAME_BYTES) : 0;
	struct ut_ze_facts f = { .native = m && m->native };
	uint32_t words[8];

	if (!k)
		return NULL;
	k->module = module;
	learn_properties(&f, kernel);
	f.name = len ? ut_ze.host->name(name, len) : ut_ze_name("kernel");
	memcpy(words, &f, sizeof(words));
	for (int i = 0; i < 3; i++)
		atomic_store(&k->group[i], 0);
	atomic_store(&k->wanted, !len || ut_ze.host->wants_kernel(name));
	atomic_store(&k->shape, NULL);
	atomic_store(&k->facts, kernel_keep(&all_facts, words));
	return k;
}

ze_result ut_zeKernelCreate(ze_handle hModule, const void *desc, ze_made phKernel)
{
	ze_result rc = UT_ZE(zeKernelCreate)(hModule, desc, phKernel);
	const struct ze_kernel_desc *given = desc;

	if (!rc && phKernel && given)
		ut_ze_kernel_met(kernel_learn(*phKernel, hModule, given->name));
	return rc;
}

ze_result ut_zeKernelDestroy(ze_handle hKernel)
{
	return UT_ZE(zeKernelDestroy)(hKernel);
}

/* One that was made behind our back: by an interface that we do not know. */
static struct ut_ze_kernel *kernel_ask(ze_handle kernel)
{
	char name[1024] = "";
	size_t size = sizeof(name) - 1;

	if (UT_ZE(zeKernelGetName)(kernel, &size, name))
		return NULL;
	return kernel_learn(kernel, NULL, name);
}

struct ut_ze_kernel *ut_ze_kernel_find(ze_handle kernel)
{
	struct ut_ze_kernel *k = kernel ? ut_handle_find(&kernels, kernel) : NULL;

	return k || !kernel ? k : kernel_ask(kernel);
}

ze_result ut_zeKernelSetGroupSize(ze_handle hKernel, uint32_t groupSizeX, uint32_t groupSizeY,
				  uint32_t groupSizeZ)
{
	ze_result rc = UT_ZE(zeKernelSetGroupSize)(hKernel, groupSizeX, groupSizeY, groupSizeZ);
	struct ut_ze_kernel *k = rc ? NULL : ut_ze_kernel_find(hKernel);

	if (k) {
		atomic_store_explicit(&k->group[0], groupSizeX, memory_order_relaxed);
		atomic_store_explicit(&k->group[1], groupSizeY, memory_order_relaxed);
		atomic_store_explicit(&k->group[2], groupSizeZ, memory_order_relaxed);
	}
	return rc;
}

/* ---- shapes -------------------------------------------------------------------------------- */

static uint32_t kernel_text_of(const uint32_t sizes[3])
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%ux%ux%u", sizes[0], sizes[1], sizes[2]);

	return sizes[0] ? ut_ze.host->name(text, (size_t)len) : 0;
}

const struct ut_ze_shape *ut_ze_shape_of(const struct ze_group *groups,
					 const struct ze_group *sizes)
{
	uint32_t all[8] = { 0 };

	memcpy(all, groups, sizeof(*groups));
	memcpy(all + 3, sizes, sizeof(*sizes));
	all[6] = kernel_text_of(all);
	all[7] = kernel_text_of(all + 3);
	return kernel_keep(&all_shapes, all);
}

const struct ut_ze_shape *ut_ze_shape(struct ut_ze_kernel *k, const struct ze_group *groups,
				      const struct ze_group *sizes)
{
	const struct ut_ze_shape *last = atomic_load_explicit(&k->shape, memory_order_acquire);
	struct ze_group g[2] = { { 0 } };

	if (groups)
		g[0] = *groups;
	g[1].x = atomic_load_explicit(&k->group[0], memory_order_relaxed);
	g[1].y = atomic_load_explicit(&k->group[1], memory_order_relaxed);
	g[1].z = atomic_load_explicit(&k->group[2], memory_order_relaxed);
	if (sizes)
		g[1] = *sizes;
	if (last && !memcmp(last->sizes, g, sizeof(g)))
		return last;
	last = ut_ze_shape_of(&g[0], &g[1]);
	atomic_store_explicit(&k->shape, last, memory_order_release);
	return last;
}

/* ---- images -------------------------------------------------------------------------------- */

static uint32_t pixel_bytes(uint32_t layout)
{
	static const uint8_t bytes[] = { 1, 2, 4, 2, 4, 4, 8, 8, 16, 4, 4, 2, 2, 2 };

	return layout < sizeof(bytes) ? bytes[layout] : 0;
}

ze_result ut_zeImageCreate(ze_handle hContext, ze_handle hDevice, const void *desc, ze_made phImage)
{
	ze_result rc = UT_ZE(zeImageCreate)(hContext, hDevice, desc, phImage);
	const struct ze_image_desc *d = desc;
	struct image *i = !rc && phImage && d ? ut_handle_item_of(&images, *phImage) : NULL;

	if (i) {
		i->width = d->width;
		i->height = d->height ? d->height : 1;
		i->depth = d->depth ? d->depth : 1;
		i->pixel = pixel_bytes(d->layout);
	}
	return rc;
}

uint64_t ut_ze_image_bytes(ze_handle image, const struct ze_region *region)
{
	const struct image *i = image ? ut_handle_find(&images, image) : NULL;

	if (!i)
		return 0;
	if (!region)
		return i->width * i->height * i->depth * i->pixel;
	return (uint64_t)region->width * (region->height ? region->height : 1) *
	       (region->depth ? region->depth : 1) * i->pixel;
}
