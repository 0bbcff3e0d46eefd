/*
 * accounts.h - who may use the server: one passphrase, cookies behind it, tokens for scripts.
 *
 * There are no user names: whoever knows the passphrase is the owner of the data directory. What is
 * kept, in one file of the owner's alone, are digests: of the passphrase by PBKDF2, of cookies and
 * tokens, which are random, by SHA-256. Guessing is slowed down for each client, and for all of
 * them together; whoever has a cookie or a token never waits for that. Any thread.
 *
 * The file may be changed by several processes: a second server, `serve --new-token`. Each change
 * is made to what the file holds then, with the server's folder locked, and what others have
 * changed counts from the next question on.
 */
#ifndef UT_SITE_ACCOUNTS_H
#define UT_SITE_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/secret.h"

struct ut_accounts;
struct ut_json_writer;

#define UT_PASSPHRASE_LEAST 8
#define UT_PASSPHRASE_MOST  1024
#define UT_COOKIE_DAYS      365
#define UT_TOKEN_NAME_MOST  64

/* own: the server's folder in the data directory, which stays the caller's. anew: nobody is known
 * any more, whatever the file says. */
int ut_accounts_open(struct ut_accounts **a, int own, bool anew, struct ut_err *err) UT_MUST_CHECK;
void ut_accounts_close(struct ut_accounts *a); /* NULL is fine */

/* Guesses that wait do so no longer: the server ends. */
void ut_accounts_stop(struct ut_accounts *a);

/* ---- passphrase ----------------------------------------------------------------------------- */

bool ut_accounts_has_passphrase(struct ut_accounts *a);

/* Sets it anew; everybody who was let in by the old one has to come again. -EINVAL: too short. */
int ut_accounts_set_passphrase(struct ut_accounts *a, const char *passphrase,
			       struct ut_err *err) UT_MUST_CHECK;

/*
 * 0: it is the one. -EACCES: it is not. -EAGAIN: too many of this client have been wrong, or too
 * many guesses wait already; *wait says for how many seconds it should not ask again. One guess is
 * looked at at a time, first of those who have been wrong least often, and each costs time. So this
 * may take a while.
 */
int ut_accounts_try(struct ut_accounts *a, const char *client, const char *passphrase,
		    unsigned int *wait, struct ut_err *err) UT_MUST_CHECK;

/* ---- cookies -------------------------------------------------------------------------------- */

int ut_accounts_new_cookie(struct ut_accounts *a, char to[UT_SECRET],
			   struct ut_err *err) UT_MUST_CHECK;
bool ut_accounts_knows_cookie(struct ut_accounts *a, const char *cookie);
int ut_accounts_drop_cookie(struct ut_accounts *a, const char *cookie,
			    struct ut_err *err) UT_MUST_CHECK;

/* ---- tokens of scripts ---------------------------------------------------------------------- */

/* The token is told once, and never again. -EEXIST: the name is in use. */
int ut_accounts_new_token(struct ut_accounts *a, const char *name, char to[UT_SECRET],
			  struct ut_err *err) UT_MUST_CHECK;
bool ut_accounts_knows_token(struct ut_accounts *a, const char *token);
int ut_accounts_drop_token(struct ut_accounts *a, const char *name,
			   struct ut_err *err) UT_MUST_CHECK;

/* A list of objects: name, when made, when last used (s since 1970; 0 = never). */
void ut_accounts_list_tokens(struct ut_accounts *a, struct ut_json_writer *w);

#endif
