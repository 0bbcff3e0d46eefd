/* nccl.c - the backend: joined when NCCL makes its first communicator. */
#define UT_BACKEND_IMPLEMENTATION
#include "backend/nccl/nccl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/nccl/nccl_abi.h"

#define EXPORT __attribute__((visibility("default")))

const struct ut_host *ut_nccl_host;

/* Nothing to ask without a GPU: NCCL has no devices of its own. */
static int nccl_probe(struct ut_probe *p)
{
	static const char why[] = "NCCL has no devices of its own";

	memcpy(p->why, why, sizeof(why));
	return -ENODEV;
}

static int nccl_start(const struct ut_host *h)
{
	ut_nccl_host = h;
	return 0;
}

static void nccl_stop(void)
{
	if (ut_nccl_host)
		ut_nccl_finish(NULL);
}

EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "nccl",
	.probe = nccl_probe,
	.start = nccl_start,
	.stop = nccl_stop,
};

/* "coll,p2p,proxy,steps,kernel,api", as --backend-option nccl.events has it. */
static int mask_of(const char *words)
{
	static const struct {
		const char *word;
		int bits;
	} known[] = {
		{ "coll", NCCL_COLL },
		{ "p2p", NCCL_P2P },
		{ "proxy", NCCL_PROXY_OP },
		{ "steps", NCCL_PROXY_OP | NCCL_PROXY_STEP },
		{ "kernel", NCCL_KERNEL_CHANNEL },
		{ "api", NCCL_COLL_API | NCCL_P2P_API },
	};
	int mask = 0;

	while (*words) {
		size_t len = strcspn(words, ",");
		size_t i = 0;

		while (i < sizeof(known) / sizeof(*known) &&
		       (strlen(known[i].word) != len || memcmp(known[i].word, words, len) != 0))
			i++;
		if (i < sizeof(known) / sizeof(*known))
			mask |= known[i].bits;
		else
			ut_nccl_host->note("nccl.events is a list of coll, p2p, proxy, steps, "
					   "kernel, api: something else is ignored");
		words += len + (words[len] == ',');
	}
	return mask;
}

int ut_nccl_mask(void)
{
	static _Atomic int known; /* plus 1 */
	const char *words;
	int mask = atomic_load(&known);

	if (mask)
		return mask - 1;
	if (!ut_nccl_host && !ut_backend_join(&unitrace_backend))
		return 0;
	words = UT_HOST_HAS(ut_nccl_host, option) ? ut_nccl_host->option("nccl.events") : NULL;
	mask = words ? mask_of(words)
		     : NCCL_COLL | NCCL_P2P | NCCL_PROXY_OP | NCCL_PROXY_STEP |
			       NCCL_KERNEL_CHANNEL | NCCL_COLL_API | NCCL_P2P_API;
	atomic_store(&known, mask + 1);
	return mask;
}
