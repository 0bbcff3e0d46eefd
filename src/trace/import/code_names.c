#include "import/code_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "model/trace.h"
#include "symbol/demangle.h"

/* What compilers add to a function that they have cut in parts or copied; a number may follow. */
static const char *const added[] = {
	".cold", ".constprop", ".isra", ".part", ".lto_priv", ".llvm"
};

/* The length of a name without a last such part; the same if there is none. */
static size_t without_part(const char *name, size_t len)
{
	size_t end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end && end < len && name[end - 1] == '.')
		end--;
	else
		end = len;
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		struct ut_str s = { name, end };

		if (ut_str_has_end(s, added[i]) && end > strlen(added[i]))
			return end - strlen(added[i]);
	}
	return len;
}

/* And without the version that a symbol table may add: "clock_gettime@@GLIBC_2.17". */
static size_t plain_len(const char *name, size_t len)
{
	const char *at = memchr(name, '@', len);
	size_t shorter;

	if (at && at > name)
		len = (size_t)(at - name);
	while ((shorter = without_part(name, len)) < len)
		len = shorter;
	return len;
}

uint32_t ut_code_name(struct ut_code_names *n, const char *name, size_t len)
{
	struct ut_strtab *strings = &n->trace->strings;
	uint32_t id = ut_strtab_intern(strings, name, plain_len(name, len)), known;
	char *text;

	known = id ? ut_idmap_get(&n->demangled, id) : 0;
	if (known || !id)
		return known;
	text = ut_demangle(ut_strtab_get(strings, id).ptr);
	known = text && text[0] ? ut_strtab_intern_z(strings, text) : id;
	free(text);
	ut_idmap_put(&n->demangled, id, known);
	return known;
}

/* A stripped file still tells where its functions start. */
static uint32_t nameless(struct ut_code_names *n, struct ut_binary *code, const char *path,
			 uint64_t offset)
{
	char text[512];
	uint64_t start;

	if (!code || !ut_binary_start(code, offset, &start))
		return 0;
	snprintf(text, sizeof(text), "%s+0x%" PRIx64, ut_path_base(path), start);
	return ut_strtab_intern_z(&n->trace->strings, text);
}

size_t ut_code_names_find(struct ut_code_names *n, struct ut_binary *code, const char *path,
			  uint32_t module, uint64_t offset, struct ut_place_in_code *frames)
{
	struct ut_binary_frame found[UT_BINARY_FRAMES];
	size_t count = code ? ut_binary_find(code, offset, found) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct ut_binary_frame *f = &found[i];

		frames[i] = (struct ut_place_in_code){
			.address = offset,
			.module = module,
			.function =
				f->function ? ut_code_name(n, f->function, strlen(f->function)) : 0,
			.file = f->file ? ut_strtab_intern_z(&n->trace->strings, f->file) : 0,
			.line = f->file ? f->line : 0,
		};
	}
	if (!count)
		frames[count++] = (struct ut_place_in_code){ .address = offset, .module = module };
	if (!frames[count - 1].function)
		frames[count - 1].function = nameless(n, code, path, offset);
	return count;
}

void ut_code_names_release(struct ut_code_names *n)
{
	ut_idmap_release(&n->demangled);
}
