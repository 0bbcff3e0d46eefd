/* api_machines.c - other machines: which there are, whether they let us in, and their keys. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "site/site_call.h"
#include "workbench/devices.h"
#include "workbench/machines.h"
#include "workbench/remote_hello.h"
#include "workbench/ssh.h"
#include "workbench/supervisor.h"

/* The only copies are the body's, as it came and as it was read: both are overwritten. */
int ut_call_take_secret(struct ut_call *c, char *to, size_t size, struct ut_err *err)
{
	const struct ut_doc *t = ut_doc_get(c->body, "password");
	struct ut_doc *mine = (struct ut_doc *)(uintptr_t)c->body; /* ours: it is in our arena */
	char *text;
	int rc = 0;

	to[0] = '\0';
	if (!t || t->kind == UT_DOC_NULL)
		return 0;
	if (!ut_doc_own_text(t) || t->text.len >= size || strpbrk(t->text.ptr, "\r\n"))
		rc = ut_err_set(err, -EINVAL,
				"the password is no text, too long, or has a line "
				"break");
	else
		memcpy(to, t->text.ptr, t->text.len + 1);
	if (t->kind == UT_DOC_TEXT && t->text.len) {
		memcpy(&text, &t->text.ptr, sizeof(text)); /* ours: it is in the call's arena */
		explicit_bzero(text, t->text.len);
	}
	/* whoever writes the body down writes no password, also not one of several */
	for (struct ut_doc **at = &mine->first; *at;) {
		if (ut_str_is((*at)->key, "password")) {
			*at = (*at)->next;
			mine->count--;
		} else {
			at = &(*at)->next;
		}
	}
	memcpy(&text, &c->request->body.ptr, sizeof(text));
	if (text)
		explicit_bzero(text, c->request->body.len);
	return rc;
}

int ut_api_machines(struct ut_call *c, struct ut_err *err)
{
	return ut_machines_write(c->site->data_dir.own, &c->out, err);
}

static int save(struct ut_call *c, bool replace, struct ut_err *err)
{
	struct ut_machine t;
	int rc = ut_machine_read(c->arena, c->body, &t, err);

	if (!rc && replace && strcmp(t.name, c->args[0]) != 0)
		rc = ut_err_set(err, -EINVAL, "the name is another one than that of the address");
	return rc ? rc : ut_machines_save(c->site->data_dir.own, &t, replace, err);
}

int ut_api_new_machine(struct ut_call *c, struct ut_err *err)
{
	return save(c, false, err);
}

int ut_api_change_machine(struct ut_call *c, struct ut_err *err)
{
	return save(c, true, err);
}

int ut_api_drop_machine(struct ut_call *c, struct ut_err *err)
{
	return ut_machines_remove(c->site->data_dir.own, c->args[0], err);
}

/* ---- is it there? --------------------------------------------------------------------------- */

static const char *api_machines_word_of(int rc)
{
	switch (-rc) {
	case 0:
		return "ready";
	case ENOKEY:
		return "unknown-key";
	case EKEYREJECTED:
		return "changed-key";
	case EACCES:
		return "refused";
	case EHOSTUNREACH:
	case ECONNRESET:
	case ETIMEDOUT:
		return "unreachable";
	default:
		return "unsuitable";
	}
}

/* What it told about its devices, which is kept: whoever comes next need not connect. */
static void write_devices(struct ut_call *c, const struct ut_machine *m, const char *key,
			  const struct ut_doc *reported)
{
	int64_t now = (int64_t)time(NULL);

	ut_devices_keep(c->site->data_dir.own, m, reported, now);
	ut_devices_write(&c->out, key, reported, now);
}

static void write_hello(struct ut_json_writer *w, const struct ut_remote_hello *h)
{
	ut_write_text(w, "version", h->version);
	ut_write_text(w, "host", h->host);
	ut_write_text(w, "folder", h->folder);
	ut_write_u64(w, "cores", h->cores);
	ut_write_u64(w, "copied", h->copied);
}

/* A machine that is not known yet, or is another one now, shows its key, and nothing is sent. */
static int api_machines_look(struct ut_call *c, const struct ut_ssh_opts *o, struct ut_err *why)
{
	const char *key, *shown = "", *known = ut_machine_key(o->own, c->arena, o->target);
	struct ut_remote_hello hello;
	int rc = known[0] ? ut_remote_hello(o, c->arena, &hello, why) : -ENOKEY;

	if (rc == -ENOKEY || rc == -EKEYREJECTED) {
		struct ut_err scan = { 0 };
		int code = ut_ssh_scan(o, c->arena, &key, &shown, &scan);

		if (code && rc == -ENOKEY) {
			rc = code;
			*why = scan;
		}
	}
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "state", api_machines_word_of(rc));
	ut_write_text(&c->out, "text", why->text);
	if (shown[0])
		ut_write_text(&c->out, "fingerprint", shown);
	if (known[0])
		ut_write_text(&c->out, "accepted", known);
	if (!rc)
		write_hello(&c->out, &hello);
	if (!rc && hello.devices)
		write_devices(c, o->target, "devices", hello.devices);
	ut_write_close(&c->out, '}');
	return 0;
}

static int api_machines_find(struct ut_call *c, struct ut_machine *t, struct ut_ssh_opts *o,
			     struct ut_err *err)
{
	int rc = ut_machine_find(c->site->data_dir.own, c->arena, c->args[0], t, err);

	*o = (struct ut_ssh_opts){ .target = t,
				   .own = c->site->data_dir.own,
				   .program = c->site->opts.program };
	return rc;
}

/* What is done there, with the secret of the request, which is gone afterwards. */
static int api_machines_reach(struct ut_call *c,
			      int (*doing)(struct ut_call *c, const struct ut_ssh_opts *o,
					   struct ut_err *err),
			      struct ut_err *err)
{
	char secret[UT_SUPERVISOR_SECRET_MAX];
	struct ut_machine t;
	struct ut_ssh_opts o;
	int rc = ut_call_take_secret(c, secret, sizeof(secret), err);

	if (!rc)
		rc = api_machines_find(c, &t, &o, err);
	if (!rc) {
		o.secret = secret[0] ? secret : NULL;
		rc = doing(c, &o, err);
	}
	explicit_bzero(secret, sizeof(secret));
	return rc;
}

int ut_api_test_machine(struct ut_call *c, struct ut_err *err)
{
	return api_machines_reach(c, api_machines_look, err);
}

/* What goes wrong between two machines, as what went wrong with the request. */
static int reported(int rc)
{
	if (rc == -ENOKEY || rc == -EKEYREJECTED || rc == -EACCES)
		return -EBUSY; /* not now: first the machine has to let us in */
	return rc == -ECONNRESET || rc == -ETIMEDOUT ? -EHOSTUNREACH : rc;
}

static int ask_processes(struct ut_call *c, const struct ut_ssh_opts *o, struct ut_err *err)
{
	const char *answer;
	int rc = reported(ut_remote_ask(o, c->arena, "{\"do\":\"processes\"}", &answer, NULL, err));

	if (!rc) /* read, and written again: what another machine says is not ours to send */
		rc = ut_doc_read(c->arena, ut_str_of(answer), &c->body, err);
	if (!rc)
		ut_write_doc(&c->out, NULL, c->body);
	return rc;
}

int ut_api_remote_processes(struct ut_call *c, struct ut_err *err)
{
	return api_machines_reach(c, ask_processes, err);
}

static int ask_devices(struct ut_call *c, const struct ut_ssh_opts *o, struct ut_err *err)
{
	const char *answer;
	int rc = reported(ut_remote_ask(o, c->arena, "{\"do\":\"devices\"}", &answer, NULL, err));

	if (!rc && ut_doc_read(c->arena, ut_str_of(answer), &c->body, NULL))
		rc = ut_err_set(err, -EPROTO, "%s: what it answers is no JSON", o->target->host);
	if (!rc)
		write_devices(c, o->target, NULL, c->body);
	return rc;
}

int ut_api_remote_devices(struct ut_call *c, struct ut_err *err)
{
	return api_machines_reach(c, ask_devices, err);
}

/* Asked for again: what is accepted is the key that was looked at, and no other. */
int ut_api_accept_key(struct ut_call *c, struct ut_err *err)
{
	const char *wanted, *key = NULL, *fingerprint = "";
	struct ut_machine t = { 0 };
	struct ut_ssh_opts o = { 0 };
	int rc = ut_call_text(c, "fingerprint", &wanted, err);

	if (!rc)
		rc = api_machines_find(c, &t, &o, err);
	if (!rc)
		rc = reported(ut_ssh_scan(&o, c->arena, &key, &fingerprint, err));
	if (!rc && strcmp(wanted, fingerprint) != 0)
		rc = ut_err_set(err, -EBUSY,
				"%s shows another key now (%s) than the one that was looked at",
				t.host, fingerprint);
	return rc ? rc : ut_machine_set_key(o.own, &t, key, fingerprint, err);
}

int ut_api_forget_key(struct ut_call *c, struct ut_err *err)
{
	struct ut_machine t;
	struct ut_ssh_opts o;
	int rc = api_machines_find(c, &t, &o, err);

	return rc ? rc : ut_machine_set_key(o.own, &t, NULL, "", err);
}
