#include "session/run_config.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "session/output_names.h"
#include "text/out.h"
#include "version.h"
#include "wire/process.h"

static void put_field(struct ut_out *out, const char *key, const char *value)
{
	ut_out_fmt(out, "  \"%s\": ", key);
	ut_out_json_str(out, value, strlen(value));
	ut_out_text(out, ",\n");
}

static void put_list(struct ut_out *out, const char *key, int count, const char *const *words)
{
	ut_out_fmt(out, "  \"%s\": [", key);
	for (int i = 0; i < count; i++) {
		ut_out_text(out, i ? ", " : "");
		ut_out_json_str(out, words[i], strlen(words[i]));
	}
	ut_out_text(out, "],\n");
}

int ut_run_config_write(const char *result_dir, int own_count, const char *const *own,
			int app_count, const char *const *app, struct ut_err *err)
{
	const struct ut_output_who who = { .app = "unitrace",
					   .pid = (uint32_t)getpid(),
					   .rank = ut_process_rank() };
	struct ut_arena arena = { 0 };
	const char *dir = ut_output_process_dir(&arena, result_dir, &who);
	char host[256] = "";
	struct ut_out *out;
	int rc = ut_path_mkdirs(dir, err);

	if (!rc) {
		gethostname(host, sizeof(host) - 1);
		out = ut_out_open(ut_path_join(&arena, dir, "run_config.json"), UT_OUT_OVERWRITE);
		ut_out_text(out, "{\n");
		put_field(out, "unitrace version", UT_VERSION);
		put_field(out, "app", app[0]);
		put_list(out, "unitrace_args", own_count, own);
		put_list(out, "app_args", app_count, app);
		put_field(out, "Host", host);
		ut_out_fmt(out, "  \"pid\": \"%u\"\n}\n", who.pid);
		rc = ut_out_commit(out, err);
	}
	ut_arena_release(&arena);
	return rc;
}
