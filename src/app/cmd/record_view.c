#include "cmd/record_view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "serve/serve.h"
#include "view/page.h"
#include "wire/process.h"

static pid_t viewer; /* for the handler */

/* Ctrl-C reaches the viewer without us; what is sent to us alone is handed on. */
static void record_view_hand_on(int number)
{
	kill(viewer, number);
}

int ut_record_view_check(const struct ut_record_view *v, struct ut_err *err)
{
	struct ut_err why = { 0 };
	struct ut_page page;
	int rc = 0;

	if (!v->on)
		return 0;
	if (!ut_page_get(&page))
		return ut_err_set(err, -ENOTSUP, "--view: %s", ut_page_missing);
	rc = ut_serve_check(&why);
	return rc ? ut_err_set(err, rc, "--view: %s", why.text) : 0;
}

static int record_view_look(const struct ut_record_view *v, const char *session, int launcher)
{
	const struct ut_view_what what = { .session = session,
					   .is_ours = true,
					   .launcher = launcher };
	struct ut_err err = { 0 };
	int rc = ut_view_serve(&v->opts, &what, &err);

	if (rc < 0)
		ut_log(UT_ERR, "view: %s", err.text[0] ? err.text : strerror(-rc));
	return rc ? UT_EXIT_FAILED : UT_EXIT_OK;
}

void ut_record_view_start(struct ut_record_view *v, const char *session)
{
	const int kept = STDERR_FILENO + 1;
	int pair[2];

	if (!v->on || ut_process_rank() > 0) /* of a job one shows itself */
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		ut_log(UT_WARN, "view: %s", strerror(errno));
		return;
	}
	v->pid = fork();
	if (v->pid < 0)
		ut_log(UT_WARN, "view: no process can be started: %s", strerror(errno));
	if (v->pid) {
		v->launcher = pair[0];
		close(pair[1]);
		if (v->pid < 0)
			close(pair[0]);
		return;
	}
	/* what stands for the launcher, such as its use of a session's name, ends with that */
	if (pair[1] != kept)
		dup3(pair[1], kept, O_CLOEXEC);
	close_range((unsigned int)kept + 1, ~0u, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would wait for us */
	_exit(record_view_look(v, session, kept));
}

/* From now on whoever ends us means the viewer. */
static void hand_signals_on(const struct ut_record_view *v)
{
	struct sigaction act = { .sa_handler = record_view_hand_on };

	viewer = v->pid;
	signal(SIGINT, SIG_IGN);
	sigaction(SIGTERM, &act, NULL);
}

/* Called before the session is removed: who sees that may already end us. */
void ut_record_view_written(struct ut_record_view *v)
{
	char byte;

	if (v->pid <= 0)
		return;
	hand_signals_on(v);
	shutdown(v->launcher, SHUT_WR);
	while (read(v->launcher, &byte, 1) < 0 && errno == EINTR)
		;
}

void ut_record_view_end(struct ut_record_view *v, bool ran)
{
	int status;

	if (v->pid <= 0)
		return;
	hand_signals_on(v);
	close(v->launcher); /* if nothing was written, nothing is waited for */
	if (!ran)
		kill(v->pid, SIGTERM);
	while (waitpid(v->pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	v->pid = 0;
}
