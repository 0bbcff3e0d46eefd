#include "launch/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "wire/control.h"

#define MAX_TRIES 1000

static int make_dir(struct ut_session *s, struct ut_arena *a, const char *parent, const char *app,
		    struct ut_err *err)
{
	const char *base =
		ut_str_fmt(a, "unitrace.%.64s.%ld.session", ut_path_base(app), (long)getpid());

	for (int i = 1; i < MAX_TRIES; i++) {
		const char *name = i == 1 ? base : ut_str_fmt(a, "%s-%d", base, i);

		s->dir = ut_path_join(a, parent, name);
		if (!mkdir(s->dir, 0700))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return ut_err_set(err, -errno,
			  "%s: cannot make the session directory: %s; choose another place with "
			  "--output-dir-path or --spool-dir",
			  s->dir, strerror(errno));
}

int ut_session_create(struct ut_session *s, struct ut_arena *a, const char *parent, const char *app,
		      struct ut_err *err)
{
	int rc;

	*s = (struct ut_session){ .named_fd = -1 };
	parent = ut_path_absolute(a, parent);
	rc = ut_path_mkdirs(parent, err);
	if (rc)
		return rc;
	rc = make_dir(s, a, parent, app, err);
	if (rc)
		return rc;
	rc = ut_control_create(s->dir, &s->control, err);
	if (rc)
		rmdir(s->dir);
	return rc;
}

int ut_session_join(struct ut_session *s, const char *name, bool *reused, struct ut_err *err)
{
	int fd = ut_named_join(name, s->named_path, reused, err);

	if (fd < 0)
		return fd;
	s->named_fd = fd;
	memcpy(s->control->state_path, s->named_path, sizeof(s->control->state_path));
	return 0;
}

void ut_session_close(struct ut_session *s)
{
	if (s->named_fd >= 0)
		ut_named_leave(s->named_fd, s->named_path);
	s->named_fd = -1;
	ut_control_close(s->control);
	s->control = NULL;
}

int ut_session_remove(struct ut_session *s, struct ut_err *err)
{
	ut_session_close(s);
	return s->dir ? ut_path_remove_tree(s->dir, err) : 0;
}
