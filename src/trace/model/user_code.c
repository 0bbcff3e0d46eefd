#include "model/user_code.h"

#include <stddef.h>

bool ut_is_library_file(struct ut_str file)
{
	static const char *const parts[] = { "/lib/python3", "/lib64/python3", "/site-packages/",
					     "/dist-packages/" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (ut_str_find(file, parts[i]))
			return true;
	}
	/* torch.profiler leaves out what is in front of its own files */
	return ut_str_has_start(file, "torch/") || ut_str_has_start(file, "site-packages/") ||
	       ut_str_has_start(file, "<");
}
