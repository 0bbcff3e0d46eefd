#include "cmd/ops_serve.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "serve/serve.h"
#include "tt/ops_run.h"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* Files of the report under fixed names: nothing of a path is ever taken from a request. */
static void answer(void *ctx, const struct ut_request *request, struct ut_reply *reply)
{
	const struct ut_ops_files *files = ctx;
	const struct {
		const char *path, *file, *type;
	} known[] = {
		{ "/", files->page, "text/html; charset=utf-8" },
		{ "/csv", files->csv, "text/csv; charset=utf-8" },
		{ "/json", files->json, "application/json" },
		{ "/download", files->tarball, "application/gzip" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(request->path, known[i].path) || !known[i].file)
			continue;
		reply->fd = open(known[i].file, O_RDONLY | O_CLOEXEC);
		if (reply->fd < 0)
			return;
		reply->status = 200;
		reply->type = known[i].type;
		reply->save_as = i ? ut_path_base(known[i].file) : NULL;
	}
}

int ut_ops_serve(const struct ut_ops_files *files, uint16_t port, struct ut_err *err)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct ut_ops_files served = *files;
	const struct ut_serve_opts opts = {
		.port = port, .serial = true, .answer = answer, .ctx = &served
	};
	struct ut_serve *server;
	int rc = ut_serve_open(&server, &opts, err);

	if (rc)
		return rc;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	ut_log(UT_INFO,
	       "ops report: http://127.0.0.1:%u/, with /csv, /json and /download (Ctrl-C ends it)",
	       (unsigned int)ut_serve_port(server));
	ut_serve_run(server, &stop);
	ut_serve_close(server);
	return 0;
}
