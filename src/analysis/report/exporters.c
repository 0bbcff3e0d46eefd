#include "export/exporter.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

const struct ut_exporter *const ut_exporters[] = {
	&ut_export_chrome,
	&ut_export_perfetto,
	&ut_export_csv,
	&ut_export_arrow,
	&ut_export_parquet,
	&ut_export_utr,
	&ut_export_html,
#if UT_HAVE_SQLITE
	&ut_export_sqlite,
#endif
	&ut_export_folded,
	&ut_export_pprof,
	&ut_export_speedscope,
	&ut_export_firefox,
	NULL,
};

/* Other names that files of a format go by. */
static const struct {
	const char *suffix;
	const struct ut_exporter *exporter;
} aliases[] = {
	{ ".perfetto-trace", &ut_export_perfetto },
	{ ".perfetto", &ut_export_perfetto },
	{ ".feather", &ut_export_arrow },
	{ ".collapsed", &ut_export_folded },
	{ ".pb", &ut_export_pprof },
	{ ".pprof", &ut_export_pprof },
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

const struct ut_exporter *ut_exporter_by_file(const char *path)
{
	const struct ut_exporter *found = NULL;
	struct ut_str name = ut_str_of(path);

	if (ut_str_has_end(name, ".gz"))
		name.len -= 3;
	else if (ut_str_has_end(name, ".zst"))
		name.len -= 4;
	/* ".speedscope.json" says more than ".json" */
	for (size_t i = 0; ut_exporters[i]; i++) {
		if (ut_str_has_end(name, ut_exporters[i]->suffix) &&
		    (!found || strlen(found->suffix) < strlen(ut_exporters[i]->suffix)))
			found = ut_exporters[i];
	}
	for (size_t i = 0; !found && i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (ut_str_has_end(name, aliases[i].suffix))
			found = aliases[i].exporter;
	}
	return found;
}
