/* api_access.c - who may come in, and what the server is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "site/body_schema.h"
#include "site/site_call.h"
#include "version.h"

#define COUNTED_MS 2000 /* what is used is that old at most when it is shown */

int ut_api_server(struct ut_call *c, struct ut_err *err)
{
	struct ut_site *s = c->site;
	bool known = ut_call_is_known(s, c->request), has = ut_accounts_has_passphrase(s->accounts);

	(void)err;
	ut_write_open(&c->out, NULL, '{');
	ut_write_flag(&c->out, "known", known);
	ut_write_flag(&c->out, "hasPassphrase", has);
	ut_write_flag(&c->out, "needsPassphrase", s->opts.remote && !has);
	if (known) { /* the rest is nobody else's business */
		ut_write_text(&c->out, "version", UT_VERSION);
		ut_write_flag(&c->out, "profiling", s->opts.profiling);
		ut_write_flag(&c->out, "remote", s->opts.remote);
		ut_write_text(&c->out, "dataDirectory", s->data_dir.path);
		ut_write_u64(&c->out, "dataBytes", ut_storage_used(&s->storage, COUNTED_MS));
		if (s->storage.quota != UINT64_MAX)
			ut_write_u64(&c->out, "dataQuota", s->storage.quota);
	}
	ut_write_close(&c->out, '}');
	return 0;
}

int ut_api_description(struct ut_call *c, struct ut_err *err)
{
	(void)err;
	c->reply->status = 200;
	c->reply->type = "application/json";
	c->reply->lent = ut_description_text().ptr;
	c->reply->len = ut_description_text().len;
	return 0;
}

static int64_t api_access_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec;
}

/* Whose guesses are counted together: those of a session or a token, or of whoever is not known. */
static void guesser(const struct ut_call *c, char to[UT_WHO])
{
	const char *cookie = ut_request_cookie(c->request, c->site->cookie);
	const char *token = ut_request_header(c->request, "Authorization");
	char digest[UT_DIGEST];

	if (ut_call_is_known(c->site, c->request) &&
	    !ut_secret_digest(token ? token : cookie, digest, NULL))
		snprintf(to, UT_WHO, "session %.32s", digest);
	else
		ut_request_who(c->request, to);
}

/* A token that works once, or the passphrase. */
int ut_api_login(struct ut_call *c, struct ut_err *err)
{
	const char *token = ut_doc_text(c->body, "token");
	const char *passphrase = ut_doc_text(c->body, "passphrase");
	const char *browser = ut_doc_text(c->body, "browser");
	struct ut_site *s = c->site;
	char client[UT_WHO];
	unsigned int wait = 0;
	int rc;

	guesser(c, client);
	if (token)
		rc = ut_auth_exchange_token(&s->gate, token, browser, api_access_now_s())
			     ? 0
			     : ut_err_set(err, -EACCES,
					  "this address has been used, or is none of ours");
	else if (!passphrase)
		rc = ut_err_set(err, -EINVAL, "\"passphrase\" is missing, or is no text");
	else
		rc = ut_accounts_try(s->accounts, client, passphrase, &wait, err);
	c->reply->retry_after = wait;
	return rc ? rc : ut_call_let_in(c, err);
}

int ut_api_logout(struct ut_call *c, struct ut_err *err)
{
	return ut_accounts_drop_cookie(c->site->accounts,
				       ut_request_cookie(c->request, c->site->cookie), err);
}

/* The first one needs none before it: who is here came with a token from the terminal. */
int ut_api_passphrase(struct ut_call *c, struct ut_err *err)
{
	struct ut_site *s = c->site;
	const char *old = ut_doc_text(c->body, "old"), *passphrase;
	char client[UT_WHO];
	unsigned int wait = 0;
	int rc = ut_call_text(c, "passphrase", &passphrase, err);

	guesser(c, client);
	if (!rc && ut_accounts_has_passphrase(s->accounts))
		rc = old ? ut_accounts_try(s->accounts, client, old, &wait, err)
			 : ut_err_set(err, -EINVAL, "\"old\" is missing: the passphrase until now");
	c->reply->retry_after = wait;
	if (!rc)
		rc = ut_accounts_set_passphrase(s->accounts, passphrase, err);
	return rc ? rc : ut_call_let_in(c, err);
}

int ut_api_tokens(struct ut_call *c, struct ut_err *err)
{
	(void)err;
	ut_accounts_list_tokens(c->site->accounts, &c->out);
	return 0;
}

int ut_api_new_token(struct ut_call *c, struct ut_err *err)
{
	char token[UT_SECRET];
	const char *name;
	int rc = ut_call_text(c, "name", &name, err);

	if (!rc)
		rc = ut_accounts_new_token(c->site->accounts, name, token, err);
	if (rc)
		return rc;
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "name", name);
	ut_write_text(&c->out, "token", token);
	ut_write_close(&c->out, '}');
	explicit_bzero(token, sizeof(token));
	return 0;
}

int ut_api_drop_token(struct ut_call *c, struct ut_err *err)
{
	return ut_accounts_drop_token(c->site->accounts, c->args[0], err);
}
