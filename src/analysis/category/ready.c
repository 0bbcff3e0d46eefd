#include "category/ready.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "category/schema.h"
#include "text/embed.h"
#include "text/file_text.h"

UT_EMBED_BYTES(ut_schema_pytorch_cuda, UT_SHARE_DIR "/schemas/pytorch-cuda.ini");
UT_EMBED_BYTES(ut_schema_llama, UT_SHARE_DIR "/schemas/LLaMA.ini");

#define MOST_BYTES (16u << 20) /* of a schema: people write them */

static const struct ready {
	const char *name, *text, *end;
} all[] = {
	{ "pytorch-cuda", ut_schema_pytorch_cuda, ut_schema_pytorch_cuda_end },
	{ "LLaMA", ut_schema_llama, ut_schema_llama_end },
};

/* Its name, or that of a file of it, as Intel's documents have it: schemas/LLaMA.json. */
struct ut_str ut_schema_ready(const char *name)
{
	const char *base = ut_path_base(name);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		size_t len = strlen(all[i].name);

		if (!strncmp(base, all[i].name, len) &&
		    (!base[len] || !strcmp(base + len, ".ini") || !strcmp(base + len, ".json")))
			return (struct ut_str){ all[i].text, (size_t)(all[i].end - all[i].text) };
	}
	return (struct ut_str){ 0 };
}

const char *ut_schema_ready_names(void)
{
	return "pytorch-cuda, LLaMA";
}

static int read_either(struct ut_schema *s, const char *name, struct ut_str text,
		       const struct ut_logger *logger, struct ut_err *err)
{
	size_t i = 0;

	while (i < text.len && (unsigned char)text.ptr[i] <= ' ')
		i++;
	if (i < text.len && text.ptr[i] == '{')
		return ut_schema_read_json(s, name, text, err);
	s->ignore_spaces = true;
	return ut_schema_read_ini(s, name, text, logger, err);
}

int ut_schema_open(struct ut_schema *s, const char *word, const struct ut_logger *logger,
		   struct ut_err *err)
{
	struct ut_str ready = ut_schema_ready(word);
	struct ut_buf text = { 0 };
	int rc;

	if (ready.ptr && !ut_path_exists(word))
		return read_either(s, word, ready, logger, err);
	if (strcmp(word, "-") && !ut_path_exists(word))
		return ut_err_set(err, -ENOENT,
				  "%s: no such schema: a file (INI or JSON), or one of: %s", word,
				  ut_schema_ready_names());
	rc = ut_file_text(word, MOST_BYTES, &text, err);
	if (!rc)
		rc = read_either(s, word, (struct ut_str){ text.len ? text.data : "", text.len },
				 logger, err);
	ut_buf_release(&text);
	return rc;
}
