#include "cmd/words.h"

#include <string.h>

#include "base/arena.h"
#include "base/opt.h"

int ut_words_parse(struct ut_words *words, struct ut_arena *a, const struct ut_opt *table, int argc,
		   const char *const *argv, struct ut_err *err)
{
	words->items = UT_NEW_N(a, const char *, (size_t)argc + 1);
	words->count = 0;
	for (int i = 0; i < argc;) {
		int used = ut_opt_parse(table, argc - i, argv + i, err);

		if (used < 0)
			return used;
		i += used;
		if (used && !strcmp(argv[i - 1], "--")) {
			while (i < argc)
				words->items[words->count++] = argv[i++];
		} else if (i < argc) {
			words->items[words->count++] = argv[i++];
		}
	}
	return 0;
}
