#include "launch/cpu/remote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/grow.h"

void ut_remote_init(struct ut_remote *r)
{
	*r = (struct ut_remote){ .bytes = ut_make((size_t)UT_REMOTE_PAGES * UT_REMOTE_PAGE) };
}

void ut_remote_release(struct ut_remote *r)
{
	free(r->bytes);
	*r = (struct ut_remote){ 0 };
}

void ut_remote_forget(struct ut_remote *r, uint32_t pid)
{
	r->pid = pid;
	r->next = 0;
	memset(r->at, 0, sizeof(r->at));
}

static unsigned char *page_of(struct ut_remote *r, uint64_t address)
{
	unsigned char *page;
	struct iovec to, from;
	size_t i;

	for (i = 0; i < UT_REMOTE_PAGES && r->at[i]; i++) {
		if (r->at[i] == address)
			return r->bytes + i * UT_REMOTE_PAGE;
	}
	i = r->next++ % UT_REMOTE_PAGES;
	page = r->bytes + i * UT_REMOTE_PAGE;
	to = (struct iovec){ page, UT_REMOTE_PAGE };
	from = (struct iovec){ (void *)(uintptr_t)address, UT_REMOTE_PAGE };
	if (process_vm_readv((pid_t)r->pid, &to, 1, &from, 1, 0) != (ssize_t)UT_REMOTE_PAGE) {
		r->next--;
		return NULL;
	}
	r->at[i] = address;
	return page;
}

bool ut_remote_read(struct ut_remote *r, uint64_t address, void *to, size_t len)
{
	char *out = to;

	while (len) {
		uint64_t start = address & ~(uint64_t)(UT_REMOTE_PAGE - 1);
		size_t at = (size_t)(address - start);
		size_t part = len < UT_REMOTE_PAGE - at ? len : UT_REMOTE_PAGE - at;
		const unsigned char *page = start ? page_of(r, start) : NULL;

		if (!page)
			return false;
		memcpy(out, page + at, part);
		out += part;
		address += part;
		len -= part;
	}
	return true;
}
