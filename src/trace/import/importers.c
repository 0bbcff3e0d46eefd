#include "import/importer.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "import/chrome/part.h"
#include "import/spool/reader.h"
#include "model/build.h"
#include "model/classify.h"
#include "text/source.h"
#include "wire/cpu_file.h"
#include "wire/spool.h"

/* ---- our own recordings -------------------------------------------------------------------- */

static bool probe_spool(const char *head, size_t len)
{
	return (len >= strlen(UT_SPOOL_MAGIC) &&
		!memcmp(head, UT_SPOOL_MAGIC, strlen(UT_SPOOL_MAGIC))) ||
	       (len >= strlen(UT_CPU_MAGIC) && !memcmp(head, UT_CPU_MAGIC, strlen(UT_CPU_MAGIC)));
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

/* The formats with a magic number first, then those that look like nothing else: anything might
 * pass for the others. */
const struct ut_importer *const ut_importers[] = {
	&ut_import_spool_file, &ut_import_utr,         &ut_import_perf_data,
	&ut_import_pprof,      &ut_import_perf_script, &ut_import_folded,
	&ut_import_chrome,     &ut_import_perfetto,    NULL,
};

const struct ut_importer *ut_importer_for(const char *head, size_t len)
{
	for (size_t i = 0; ut_importers[i]; i++) {
		if (ut_importers[i]->probe(head, len))
			return ut_importers[i];
	}
	return NULL;
}

bool ut_importer_sure(const struct ut_importer *importer, struct ut_source *source)
{
	return importer != &ut_import_chrome || ut_chrome_is_trace(source);
}

void ut_import_lost(const struct ut_import_opts *opts, const char *path, const char *text)
{
	if (opts->lost)
		opts->lost(opts->ctx, path, text);
	else if (opts->warn)
		opts->warn(opts->ctx, path, text);
}

/* ---- none ---------------------------------------------------------------------------------- */

/* Does the text have two or four bytes per letter? Then some of the first are zero. */
static const char *wide_text(const struct ut_source *s)
{
	const unsigned char *b = (const unsigned char *)s->head;

	if (s->head_len < 4)
		return NULL;
	if ((b[0] == 0xff && b[1] == 0xfe && !b[2] && !b[3]) || (!b[0] && !b[1] && b[2] == 0xfe))
		return "UTF-32";
	if ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff))
		return "UTF-16";
	if ((b[0] && !b[1] && b[2] && !b[3]) || (!b[0] && b[1] && !b[2] && b[3]))
		return strchr("[{ \n", b[0] | b[1]) ? "UTF-16" : NULL;
	return NULL;
}

/* Is the whole head this byte or a blank? */
static bool only(const struct ut_source *s, char byte)
{
	for (size_t i = 0; i < s->head_len; i++) {
		if (s->head[i] != byte && !memchr(" \t\r\n", s->head[i], 4))
			return false;
	}
	return true;
}

/* Reasons that are worth a line of their own; NULL = none of them. */
static const char *importers_reason(const struct ut_source *s)
{
	const unsigned char *b = (const unsigned char *)s->head;

	if (!s->head_len)
		return s->cut ? "the compressed data ends before it holds anything"
			      : "the file is empty";
	if (only(s, ' '))
		return "nothing but blanks; this is no trace";
	if (only(s, '\0'))
		return "nothing but zero bytes; it was made, but never written";
	if (s->unpack && s->head_len > 3 && b[0] == 0x1f && b[1] == 0x8b)
		return "compressed twice; unpack it once: gunzip -c FILE";
	return NULL;
}

/* What a file that nobody knows looks like, for the message. */
static void importers_unknown(const struct ut_source *s, struct ut_err *err)
{
	const char *why = importers_reason(s);
	char seen[64];
	size_t n = 0;

	if (why) {
		ut_err_set(err, s->head_len ? -EPROTO : -ENODATA, "%s: offset 0: %s", s->path, why);
		return;
	}
	while (n < s->head_len && n < 24 && isprint((unsigned char)s->head[n])) {
		seen[n] = s->head[n];
		n++;
	}
	seen[n] = '\0';
	if (n >= 8 || n == s->head_len || (n && s->head[n] == '\n')) {
		ut_err_set(err, -EPROTO,
			   "%s: offset 0: not a trace that we know (Chrome JSON, Perfetto, .utr, "
			   "recording, perf, pprof, folded stacks): it starts with '%s'",
			   s->path, seen);
		return;
	}
	for (n = 0; n < s->head_len && n < 8; n++)
		snprintf(seen + 3 * n, sizeof(seen) - 3 * n, " %02x", (unsigned char)s->head[n]);
	ut_err_set(err, -EPROTO,
		   "%s: offset 0: not a trace that we know (Chrome JSON, Perfetto, .utr, "
		   "recording, perf, pprof, folded stacks): it starts with the bytes%s",
		   s->path, seen);
}

const struct ut_importer *ut_importer_of(const struct ut_source *s, struct ut_err *err)
{
	const struct ut_importer *importer = ut_importer_for(s->head, s->head_len);
	const char *wide = wide_text(s);

	if (wide)
		ut_err_set(err, -EPROTO,
			   "%s: offset 0: %s text; convert it first: iconv -f %s -t UTF-8 FILE",
			   s->path, wide, wide);
	else if (!importer)
		importers_unknown(s, err);
	return wide ? NULL : importer;
}

int ut_import(const char *path, const struct ut_import_opts *opts, struct ut_store *store,
	      struct ut_err *err)
{
	static const struct ut_import_opts plain;
	const struct ut_importer *importer;
	struct ut_source source;
	int rc = ut_source_open_head(&source, path, opts && opts->most ? opts->most : UINT64_MAX,
				     err);

	*store = (struct ut_store){ 0 };
	if (rc)
		return rc;
	importer = ut_importer_of(&source, err);
	if (importer)
		rc = importer->load(&source, opts ? opts : &plain, store, err);
	else
		rc = source.head_len ? -EPROTO : -ENODATA;
	if (!rc)
		ut_classify_store(store);
	ut_source_close(&source);
	return rc;
}
