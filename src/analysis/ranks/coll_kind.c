/* coll_kind.c - see coll_kind.h. */
#include "ranks/coll_kind.h"

#include <string.h>

#include "model/classify.h"

#define LONGEST 64u

const char *const ut_coll_names[UT_COLLS] = {
#define UT_COLL_NAME(kind, name, use, factor) [UT_COLL_##kind] = name,
	UT_COLL_LIST(UT_COLL_NAME)
#undef UT_COLL_NAME
};

const uint8_t ut_coll_uses[UT_COLLS] = {
#define UT_COLL_USE(kind, name, use, factor) [UT_COLL_##kind] = UT_RANK_##use,
	UT_COLL_LIST(UT_COLL_USE)
#undef UT_COLL_USE
};

/* Letters alone, all small. */
static void squeeze(struct ut_str name, char out[LONGEST])
{
	size_t len = 0;

	for (size_t i = 0; i < name.len && len < LONGEST - 1; i++) {
		char c = name.ptr[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c >= 'a' && c <= 'z')
			out[len++] = c;
	}
	out[len] = '\0';
}

enum ut_coll_kind ut_coll_called(struct ut_str name)
{
	/* The longer ones first: "sendrecv" is no "send". */
	static const struct {
		const char *start;
		enum ut_coll_kind kind;
	} starts[] = {
		{ "allreduce", UT_COLL_ALLREDUCE },   { "allgather", UT_COLL_ALLGATHER },
		{ "alltoall", UT_COLL_ALLTOALL },     { "reducescatter", UT_COLL_REDUCE_SCATTER },
		{ "broadcast", UT_COLL_BROADCAST },   { "bcast", UT_COLL_BROADCAST },
		{ "barrier", UT_COLL_BARRIER },       { "reduce", UT_COLL_REDUCE },
		{ "gather", UT_COLL_GATHER },         { "scatter", UT_COLL_SCATTER },
		{ "sendrecv", UT_COLL_SEND_RECEIVE }, { "send", UT_COLL_SEND },
		{ "recv", UT_COLL_RECEIVE },
	};
	char text[LONGEST];
	const char *bare = text;

	squeeze(name, text);
	if (ut_str_has_start(name, "MPI_"))
		bare += 3 + (text[3] == 'i');
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (ut_str_starts(bare, starts[i].start))
			return starts[i].kind;
	}
	return UT_COLL_NONE;
}

double ut_coll_bus_factor(enum ut_coll_kind kind, uint32_t ranks)
{
	double n = ranks ? ranks : 1;

	switch (kind) {
#define UT_COLL_FACTOR(kind, name, use, factor)                                                    \
	case UT_COLL_##kind:                                                                       \
		return factor;
		UT_COLL_LIST(UT_COLL_FACTOR)
#undef UT_COLL_FACTOR
	case UT_COLLS:
		break;
	}
	return 0;
}

uint32_t ut_coll_element(struct ut_str type)
{
	static const struct {
		const char *name;
		uint32_t size;
	} types[] = {
		{ "Float", 4 },
		{ "float", 4 },
		{ "BFloat16", 2 },
		{ "c10::BFloat16", 2 },
		{ "Half", 2 },
		{ "c10::Half", 2 },
		{ "Double", 8 },
		{ "double", 8 },
		{ "Long", 8 },
		{ "long int", 8 },
		{ "long", 8 },
		{ "Int", 4 },
		{ "int", 4 },
		{ "Short", 2 },
		{ "short int", 2 },
		{ "short", 2 },
		{ "Char", 1 },
		{ "signed char", 1 },
		{ "Byte", 1 },
		{ "unsigned char", 1 },
		{ "Bool", 1 },
		{ "bool", 1 },
		{ "ComplexFloat", 8 },
		{ "c10::complex<float>", 8 },
		{ "ComplexDouble", 16 },
		{ "c10::complex<double>", 16 },
		{ "UInt16", 2 },
		{ "UInt32", 4 },
		{ "UInt64", 8 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (ut_str_is(type, types[i].name))
			return types[i].size;
	}
	/* Float8_e4m3fn, Float8_e5m2 and those that are still to come */
	return ut_str_has_start(type, "Float8") || ut_str_has_start(type, "c10::Float8") ? 1 : 0;
}

bool ut_coll_is_nccl(struct ut_str name, enum ut_coll_kind *coll)
{
	const char *kind = memchr(name.ptr, '_', name.len);

	if (!ut_is_nccl_kernel(name))
		return false;
	if (kind)
		*coll = ut_coll_called(ut_str_from(name, kind + 1));
	return true;
}

const char *ut_coll_library(struct ut_str name, enum ut_coll_kind *coll)
{
	static const struct {
		const char *start, *library;
	} starts[] = { { "gloo:", "gloo" }, { "ucc:", "UCC" }, { "mpi:", "MPI" } };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		size_t len = strlen(starts[i].start);

		if (!ut_str_has_start(name, starts[i].start))
			continue;
		*coll = ut_coll_called((struct ut_str){ name.ptr + len, name.len - len });
		return *coll ? starts[i].library : NULL;
	}
	return NULL;
}
