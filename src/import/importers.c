#include "import/importer.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "import/source.h"
#include "import/spool.h"
#include "model/build.h"
#include "wire/spool.h"

/* ---- our own recordings -------------------------------------------------------------------- */

static bool probe_spool(const char *head, size_t len)
{
	return len >= strlen(UT_SPOOL_MAGIC) &&
	       !memcmp(head, UT_SPOOL_MAGIC, strlen(UT_SPOOL_MAGIC));
}

static int load_spool(struct ut_source *source, const struct ut_import_opts *opts,
		      struct ut_store *store, struct ut_err *err)
{
	struct ut_build build;
	int rc;

	if (!source->seekable)
		return ut_err_set(err, -ESPIPE,
				  "%s: a recording has to be a file of its own, unpacked; it is "
				  "read from several places at once",
				  source->path);
	ut_build_init(&build);
	rc = ut_import_spool(source->path, &build.store.trace, &build.sink, err);
	if (rc) {
		ut_build_abandon(&build);
		return rc;
	}
	ut_build_finish(&build, store);
	if (opts && opts->progress)
		atomic_fetch_add(opts->progress, source->size);
	return 0;
}

const struct ut_importer ut_import_spool_file = { "spool", probe_spool, load_spool };

/* ---- all ----------------------------------------------------------------------------------- */

/* The formats with a magic number first: anything might pass for the others. */
const struct ut_importer *const ut_importers[] = {
	&ut_import_spool_file, &ut_import_utr, &ut_import_chrome, &ut_import_perfetto, NULL,
};

const struct ut_importer *ut_importer_for(const char *head, size_t len)
{
	for (size_t i = 0; ut_importers[i]; i++) {
		if (ut_importers[i]->probe(head, len))
			return ut_importers[i];
	}
	return NULL;
}

/* What a file that nobody knows looks like, for the message. */
static int unknown(const struct ut_source *s, struct ut_err *err)
{
	char seen[64];
	size_t n = 0;

	if (!s->head_len)
		return ut_err_set(err, -ENODATA, "%s: the file is empty", s->path);
	while (n < s->head_len && n < 24 && isprint((unsigned char)s->head[n])) {
		seen[n] = s->head[n];
		n++;
	}
	seen[n] = '\0';
	if (n >= 8)
		return ut_err_set(err, -EPROTO,
				  "%s: not a trace that we know (Chrome JSON, Perfetto, .utr, "
				  "recording): it starts with '%s'",
				  s->path, seen);
	for (n = 0; n < s->head_len && n < 8; n++)
		snprintf(seen + 3 * n, sizeof(seen) - 3 * n, "%02x ", (unsigned char)s->head[n]);
	return ut_err_set(err, -EPROTO,
			  "%s: not a trace that we know (Chrome JSON, Perfetto, .utr, recording): "
			  "it starts with the bytes %s",
			  s->path, seen);
}

int ut_import(const char *path, const struct ut_import_opts *opts, struct ut_store *store,
	      struct ut_err *err)
{
	static const struct ut_import_opts plain;
	const struct ut_importer *importer;
	struct ut_source source;
	int rc = ut_source_open(&source, path, err);

	*store = (struct ut_store){ 0 };
	if (rc)
		return rc;
	importer = ut_importer_for(source.head, source.head_len);
	if (importer)
		rc = importer->load(&source, opts ? opts : &plain, store, err);
	else
		rc = unknown(&source, err);
	ut_source_close(&source);
	return rc;
}
