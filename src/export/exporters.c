#include "export/exporter.h"

#include <stdbool.h>
#include <string.h>

const struct ut_exporter *const ut_exporters[] = {
	&ut_export_chrome,
	&ut_export_perfetto,
	&ut_export_csv,
	&ut_export_utr,
	&ut_export_html,
#if UT_HAVE_SQLITE
	&ut_export_sqlite,
#endif
	NULL,
};

/* Other names that files of a format go by. */
static const struct {
	const char *suffix;
	const struct ut_exporter *exporter;
} aliases[] = {
	{ ".perfetto-trace", &ut_export_perfetto },
	{ ".perfetto", &ut_export_perfetto },
#if UT_HAVE_SQLITE
	{ ".db", &ut_export_sqlite },
	{ ".sqlite3", &ut_export_sqlite },
#endif
};

const struct ut_exporter *ut_exporter_by_name(const char *name)
{
	for (size_t i = 0; ut_exporters[i]; i++) {
		if (!strcmp(ut_exporters[i]->name, name))
			return ut_exporters[i];
	}
	return NULL;
}

static bool ends(const char *s, size_t len, const char *suffix)
{
	size_t tail = strlen(suffix);

	return len >= tail && !strncmp(s + len - tail, suffix, tail);
}

const struct ut_exporter *ut_exporter_by_file(const char *path)
{
	size_t len = strlen(path);

	if (ends(path, len, ".gz"))
		len -= 3;
	else if (ends(path, len, ".zst"))
		len -= 4;
	for (size_t i = 0; ut_exporters[i]; i++) {
		if (ends(path, len, ut_exporters[i]->suffix))
			return ut_exporters[i];
	}
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (ends(path, len, aliases[i].suffix))
			return aliases[i].exporter;
	}
	return NULL;
}
