#include "workbench/remote_hello.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "text/json_doc.h"
#include "workbench/machines.h"
#include "workbench/remote_deploy.h"
#include "workbench/remote_frames.h"
#include "workbench/ssh.h"

#define ANSWER_MS 30000
#define SEND_MS   10000
#define TEXT_MOST 4096u

static int read_answer(struct ut_ssh *s, struct ut_remote_reader *r, struct ut_arena *a,
		       const char **answer, struct ut_err *err)
{
	struct ut_remote_frame f;
	char piece[4096];
	ssize_t got;
	int rc;

	while (!(rc = ut_remote_reader_next(r, &f, err))) {
		got = ut_ssh_receive(s, piece, sizeof(piece), ANSWER_MS);
		if (got <= 0)
			return got ? ut_ssh_why(s, err)
				   : ut_err_set(err, -EHOSTUNREACH, "%s does not answer",
						s->opts.target->host);
		ut_remote_reader_add(r, piece, (size_t)got);
	}
	if (rc < 0)
		return rc;
	*answer = ut_arena_copy(a, f.bytes.ptr, f.bytes.len);
	if (f.kind != UT_REMOTE_ANSWER)
		return ut_err_set(err, -EPROTO, "%s: %s", s->opts.target->host, *answer);
	return 0;
}

int ut_remote_ask(const struct ut_ssh_opts *opts, struct ut_arena *a, const char *ask,
		  const char **answer, unsigned long long *copied, struct ut_err *err)
{
	struct ut_remote_reader r = { 0 };
	struct ut_ssh s = UT_SSH_NONE;
	int rc = ut_remote_open(&s, opts, &r, copied, err);

	if (!rc &&
	    (ut_ssh_send(&s, ask, strlen(ask), SEND_MS) || ut_ssh_send(&s, "\n", 1, SEND_MS)))
		rc = ut_ssh_why(&s, err);
	if (!rc)
		rc = read_answer(&s, &r, a, answer, err);
	ut_ssh_release(&s);
	ut_remote_reader_release(&r);
	return rc;
}

/* Nobody has a name that is longer. */
static const char *text_or_none(const struct ut_doc *t, const char *key)
{
	const char *text = ut_doc_text(t, key);

	return text && strlen(text) <= TEXT_MOST ? text : "";
}

int ut_remote_hello(const struct ut_ssh_opts *opts, struct ut_arena *a, struct ut_remote_hello *to,
		    struct ut_err *err)
{
	const struct ut_doc *t;
	const char *answer;
	int rc;

	*to = (struct ut_remote_hello){ 0 };
	rc = ut_remote_ask(opts, a, "{\"do\":\"hello\"}", &answer, &to->copied, err);
	if (!rc)
		rc = ut_doc_read(a, ut_str_of(answer), &t, err);
	if (rc)
		return rc;
	to->version = text_or_none(t, "version");
	to->host = text_or_none(t, "host");
	to->folder = text_or_none(t, "folder");
	to->devices = ut_doc_get(t, "devices");
	to->cores = (unsigned int)ut_doc_count(t, "cores", 1u << 20, 0);
	return 0;
}
