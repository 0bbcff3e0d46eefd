/*
 * device_limits.c - how much fits onto a multiprocessor of NVIDIA's devices, and what follows from
 * that for a kernel.
 *
 * The figures are those of NVIDIA's tables of compute capabilities and data sheets. A device that
 * is not listed has none, and rules that need them do not speak.
 */
#include <math.h>

#include "metrics/bottleneck.h"

#define KIB 1024u

struct architecture {
	uint32_t warps, blocks, registers, shared;
};

enum {
	VOLTA,
	TURING,
	AMPERE,
	AMPERE_SMALL,
	ADA,
	HOPPER,
	BLACKWELL,
	BLACKWELL_SMALL
};

static const struct architecture architectures[] = {
	[VOLTA] = { 64, 32, 65536, 96 * KIB },            /* 7.0 */
	[TURING] = { 32, 16, 65536, 64 * KIB },           /* 7.5 */
	[AMPERE] = { 64, 32, 65536, 164 * KIB },          /* 8.0 */
	[AMPERE_SMALL] = { 48, 16, 65536, 100 * KIB },    /* 8.6 */
	[ADA] = { 48, 24, 65536, 100 * KIB },             /* 8.9 */
	[HOPPER] = { 64, 32, 65536, 228 * KIB },          /* 9.0 */
	[BLACKWELL] = { 64, 32, 65536, 228 * KIB },       /* 10.0 */
	[BLACKWELL_SMALL] = { 48, 24, 65536, 100 * KIB }, /* 12.0 */
};

/* Words of names, longer ones before those that they hold. */
static const struct {
	const char *name;
	uint32_t processors, architecture;
} models[] = {
	{ "H100 PCIe", 114, HOPPER },
	{ "H100 NVL", 132, HOPPER },
	{ "H100", 132, HOPPER },
	{ "H200", 132, HOPPER },
	{ "H800", 132, HOPPER },
	{ "H20", 78, HOPPER },
	{ "GH200", 132, HOPPER },
	{ "B200", 148, BLACKWELL },
	{ "B100", 148, BLACKWELL },
	{ "A100", 108, AMPERE },
	{ "A800", 108, AMPERE },
	{ "A30", 56, AMPERE },
	{ "A40", 84, AMPERE_SMALL },
	{ "A10", 72, AMPERE_SMALL },
	{ "A6000", 84, AMPERE_SMALL },
	{ "RTX 3090", 82, AMPERE_SMALL },
	{ "RTX 3080", 68, AMPERE_SMALL },
	{ "L40S", 142, ADA },
	{ "L40", 142, ADA },
	{ "L4", 58, ADA },
	{ "RTX 4090", 128, ADA },
	{ "RTX 4080", 76, ADA },
	{ "RTX 5090", 170, BLACKWELL_SMALL },
	{ "V100", 80, VOLTA },
	{ "T4", 40, TURING },
};

static bool device_limits_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Whole words only: an A40 is no A4000. */
static bool has_word(struct ut_str s, const char *word)
{
	const char *at = ut_str_find(s, word), *end = at ? at + strlen(word) : NULL;

	return at && (at == s.ptr || !device_limits_is_word(at[-1])) &&
	       (end == s.ptr + s.len || !device_limits_is_word(end[0]));
}

struct ut_device_limits ut_device_limits(struct ut_str model)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		const struct architecture *a = &architectures[models[i].architecture];

		if (has_word(model, models[i].name))
			return (struct ut_device_limits){ models[i].processors, a->warps, a->blocks,
							  a->registers, a->shared };
	}
	return (struct ut_device_limits){ 0 };
}

static void device_limits_put(struct ut_kernel_facts *f, enum ut_kernel_fact fact, double value)
{
	if (isnan(f->value[fact]))
		f->value[fact] = value;
}

static double device_limits_least(double a, double b)
{
	return b < a ? b : a;
}

/* So many more blocks would be one too many for this. */
static void limit(double *fits, double most, const char **why, const char *what)
{
	if (most < *fits) {
		*fits = most;
		*why = what;
	}
}

/*
 * Blocks of a multiprocessor: by warps, by registers (given out in units of 256 for a warp) and by
 * shared memory (1 KiB of each block is the system's). What is not known does not limit.
 */
static double fit(const struct ut_kernel_facts *f, const struct ut_device_limits *l,
		  const char **why)
{
	double warps = ceil(f->value[UT_FACT_THREADS] / 32), fits;
	double registers = f->value[UT_FACT_REGISTERS], shared = f->value[UT_FACT_SHARED];

	if (!(warps >= 1) || !l->warps)
		return NAN;
	*why = "the size of its blocks";
	fits = device_limits_least(l->blocks, floor(l->warps / warps));
	if (registers > 0)
		limit(&fits, floor(l->registers / (ceil(registers * 32 / 256) * 256 * warps)), why,
		      "registers");
	if (shared > 0)
		limit(&fits, floor(l->shared / (shared + KIB)), why, "shared memory");
	return fits;
}

void ut_kernel_facts_fit(struct ut_kernel_facts *f, const struct ut_device_limits *l)
{
	double blocks = f->value[UT_FACT_BLOCKS], processors, fits;

	if (l->processors)
		device_limits_put(f, UT_FACT_PROCESSORS, l->processors);
	device_limits_put(f, UT_FACT_FIT, fit(f, l, &f->limit));
	processors = f->value[UT_FACT_PROCESSORS];
	fits = f->value[UT_FACT_FIT];
	if (l->warps && fits >= 1)
		device_limits_put(f, UT_FACT_OCCUPANCY,
				  100 * fits * ceil(f->value[UT_FACT_THREADS] / 32) / l->warps);
	if (!(blocks >= 1) || !(processors >= 1))
		return;
	device_limits_put(f, UT_FACT_FILL, device_limits_least(100, 100 * blocks / processors));
	if (fits >= 1)
		device_limits_put(f, UT_FACT_WAVES, blocks / (processors * fits));
}
