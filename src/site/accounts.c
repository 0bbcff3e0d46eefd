#include "site/accounts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/grow.h"
#include "site/attempts.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/folder.h"

#define FILE_NAME    "access.json"
#define FILE_MOST    (256u << 10)
#define COOKIES_MOST 128u
#define TOKENS_MOST  64u
#define DAY          86400
#define FRESH        (12 * 3600) /* when something was used last is noted that exactly */

/* A cookie or a token: what is kept of it. */
struct pass {
	char digest[UT_DIGEST];
	char name[UT_TOKEN_NAME_MOST + 1]; /* of a token */
	int64_t made, used;
};

struct ut_accounts {
	pthread_mutex_t lock;
	pthread_mutex_t guessing; /* one at a time: a guess takes a core for a good while */
	int own;
	char salt[UT_SECRET], digest[UT_DIGEST]; /* of the passphrase; "" = there is none */
	unsigned int rounds;
	struct pass cookies[COOKIES_MOST], tokens[TOKENS_MOST]; /* digest "" = free */
	struct ut_attempts attempts;
};

/* ---- the file ------------------------------------------------------------------------------- */

static bool is_digest(const char *text)
{
	return text && strlen(text) == UT_DIGEST - 1 &&
	       strspn(text, "0123456789abcdef") == UT_DIGEST - 1;
}

static void read_passes(const struct ut_doc *list, struct pass *to, size_t most)
{
	size_t count = 0;

	for (const struct ut_doc *t = list ? list->first : NULL; t && count < most; t = t->next) {
		const char *digest = ut_doc_text(t, "digest"), *name = ut_doc_text(t, "name");

		if (!is_digest(digest))
			continue;
		memcpy(to[count].digest, digest, UT_DIGEST);
		snprintf(to[count].name, sizeof(to[count].name), "%s", name ? name : "");
		to[count].made = (int64_t)ut_doc_number(t, "made", 0);
		to[count++].used = (int64_t)ut_doc_number(t, "used", 0);
	}
}

static int load(struct ut_accounts *a, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	const struct ut_doc *t, *phrase;
	int rc = ut_folder_read_doc(a->own, FILE_NAME, FILE_MOST, &arena, &t, NULL);

	phrase = ut_doc_get(t, "passphrase");
	if (is_digest(ut_doc_text(phrase, "digest")) && ut_doc_text(phrase, "salt")) {
		memcpy(a->digest, ut_doc_text(phrase, "digest"), UT_DIGEST);
		snprintf(a->salt, sizeof(a->salt), "%s", ut_doc_text(phrase, "salt"));
		a->rounds = (unsigned int)ut_doc_count(phrase, "rounds", 1u << 30, UT_KDF_ROUNDS);
	}
	read_passes(ut_doc_get(t, "cookies"), a->cookies, COOKIES_MOST);
	read_passes(ut_doc_get(t, "tokens"), a->tokens, TOKENS_MOST);
	ut_arena_release(&arena);
	if (rc == -ENOENT)
		return 0;
	/* who may come in is not guessed from half a file */
	return rc ? ut_err_set(err, rc, ".unitrace/%s cannot be read", FILE_NAME) : 0;
}

static void write_passes(struct ut_json_writer *w, const char *key, const struct pass *all,
			 size_t most)
{
	ut_write_open(w, key, '[');
	for (size_t i = 0; i < most; i++) {
		if (!all[i].digest[0])
			continue;
		ut_write_open(w, NULL, '{');
		ut_write_text(w, "digest", all[i].digest);
		if (all[i].name[0])
			ut_write_text(w, "name", all[i].name);
		ut_write_i64(w, "made", all[i].made);
		ut_write_i64(w, "used", all[i].used);
		ut_write_close(w, '}');
	}
	ut_write_close(w, ']');
}

/* With the lock. */
static int save(struct ut_accounts *a, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	int rc;

	ut_write_open(&w, NULL, '{');
	if (a->digest[0]) {
		ut_write_open(&w, "passphrase", '{');
		ut_write_text(&w, "by", "PBKDF2-HMAC-SHA256");
		ut_write_text(&w, "salt", a->salt);
		ut_write_u64(&w, "rounds", a->rounds);
		ut_write_text(&w, "digest", a->digest);
		ut_write_close(&w, '}');
	}
	write_passes(&w, "cookies", a->cookies, COOKIES_MOST);
	write_passes(&w, "tokens", a->tokens, TOKENS_MOST);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	rc = ut_folder_write(a->own, FILE_NAME, (struct ut_str){ text.data, text.len }, err);
	ut_buf_release(&text);
	return rc;
}

int ut_accounts_open(struct ut_accounts **out, int own, bool anew, struct ut_err *err)
{
	struct ut_accounts *a = ut_make(sizeof(*a));
	char probe[UT_DIGEST];
	int rc = ut_secret_digest("", probe, err); /* is there a library for it? */

	*out = NULL;
	a->own = own;
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->guessing, NULL);
	if (!rc)
		rc = anew ? save(a, err) : load(a, err);
	if (rc)
		ut_accounts_close(a);
	else
		*out = a;
	return rc;
}

void ut_accounts_close(struct ut_accounts *a)
{
	if (!a)
		return;
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->guessing);
	explicit_bzero(a, sizeof(*a));
	free(a);
}

/* ---- passphrase ----------------------------------------------------------------------------- */

bool ut_accounts_has_passphrase(struct ut_accounts *a)
{
	bool has;

	pthread_mutex_lock(&a->lock);
	has = a->digest[0] != '\0';
	pthread_mutex_unlock(&a->lock);
	return has;
}

int ut_accounts_set_passphrase(struct ut_accounts *a, const char *passphrase, struct ut_err *err)
{
	char salt[UT_SECRET], digest[UT_DIGEST];
	size_t len = strlen(passphrase);
	int rc;

	if (len < UT_PASSPHRASE_LEAST || len > UT_PASSPHRASE_MOST)
		return ut_err_set(err, -EINVAL, "a passphrase has %d bytes at least",
				  UT_PASSPHRASE_LEAST);
	if (!ut_secret_make(salt))
		return ut_err_set(err, -EIO, "there are no random numbers to be had");
	rc = ut_secret_stretch(passphrase, salt, UT_KDF_ROUNDS, digest, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&a->lock);
	memcpy(a->salt, salt, sizeof(a->salt));
	memcpy(a->digest, digest, sizeof(a->digest));
	a->rounds = UT_KDF_ROUNDS;
	memset(a->cookies, 0, sizeof(a->cookies));
	rc = save(a, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

static int64_t steady_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec;
}

static unsigned int must_wait(struct ut_accounts *a, const char *client)
{
	unsigned int wait;

	pthread_mutex_lock(&a->lock);
	wait = ut_attempts_wait(&a->attempts, client, steady_s());
	pthread_mutex_unlock(&a->lock);
	return wait;
}

static int judge(struct ut_accounts *a, const char *client, const char *passphrase,
		 struct ut_err *err)
{
	char salt[UT_SECRET], kept[UT_DIGEST], digest[UT_DIGEST];
	unsigned int rounds;
	bool same;
	int rc;

	pthread_mutex_lock(&a->lock);
	memcpy(salt, a->salt, sizeof(salt));
	memcpy(kept, a->digest, sizeof(kept));
	rounds = a->rounds;
	pthread_mutex_unlock(&a->lock);
	rc = ut_secret_stretch(passphrase, salt, rounds ? rounds : 1, digest, err);
	if (rc)
		return rc;
	same = ut_secret_same(kept, digest);
	pthread_mutex_lock(&a->lock);
	if (same)
		ut_attempts_right(&a->attempts, client);
	else
		ut_attempts_wrong(&a->attempts, client, steady_s());
	pthread_mutex_unlock(&a->lock);
	return same ? 0 : ut_err_set(err, -EACCES, "that is not the passphrase");
}

int ut_accounts_try(struct ut_accounts *a, const char *client, const char *passphrase,
		    unsigned int *wait, struct ut_err *err)
{
	int rc;

	*wait = must_wait(a, client);
	if (*wait)
		return ut_err_set(err, -EAGAIN, "too many wrong passphrases; try again in %u s",
				  *wait);
	if (strlen(passphrase) > UT_PASSPHRASE_MOST)
		return ut_err_set(err, -EACCES, "that is not the passphrase");
	pthread_mutex_lock(&a->guessing);
	*wait = must_wait(a, client); /* others may have been wrong meanwhile */
	rc = *wait ? ut_err_set(err, -EAGAIN, "too many wrong passphrases; try again in %u s",
				*wait)
		   : judge(a, client, passphrase, err);
	pthread_mutex_unlock(&a->guessing);
	return rc;
}

/* ---- cookies and tokens --------------------------------------------------------------------- */

/* Compares all of them: how long that takes says nothing. */
static struct pass *find(struct pass *all, size_t most, const char *digest)
{
	struct pass *found = NULL;

	for (size_t i = 0; i < most; i++) {
		if (all[i].digest[0] && ut_secret_same(all[i].digest, digest))
			found = &all[i];
	}
	return found;
}

/* A free place, or that of the one that was not used for longest. */
static struct pass *make_room(struct pass *all, size_t most)
{
	struct pass *oldest = &all[0];

	for (size_t i = 0; i < most; i++) {
		if (!all[i].digest[0])
			return &all[i];
		if (all[i].used < oldest->used)
			oldest = &all[i];
	}
	return oldest;
}

static int new_pass(struct ut_accounts *a, struct pass *at, char to[UT_SECRET], struct ut_err *err)
{
	int64_t now = (int64_t)time(NULL);
	int rc;

	if (!ut_secret_make(to))
		return ut_err_set(err, -EIO, "there are no random numbers to be had");
	*at = (struct pass){ .made = now, .used = now };
	rc = ut_secret_digest(to, at->digest, err);
	return rc ? rc : save(a, err);
}

int ut_accounts_new_cookie(struct ut_accounts *a, char to[UT_SECRET], struct ut_err *err)
{
	int rc;

	pthread_mutex_lock(&a->lock);
	rc = new_pass(a, make_room(a->cookies, COOKIES_MOST), to, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

static bool use(struct ut_accounts *a, struct pass *all, size_t most, const char *secret,
		int64_t lasts)
{
	int64_t now = (int64_t)time(NULL);
	char digest[UT_DIGEST];
	struct pass *p;
	bool good;

	if (!secret || strlen(secret) != UT_SECRET - 1 || ut_secret_digest(secret, digest, NULL))
		return false;
	pthread_mutex_lock(&a->lock);
	p = find(all, most, digest);
	good = p && (!lasts || now - p->made < lasts);
	if (good && now - p->used > FRESH) {
		p->used = now;
		if (save(a, NULL))
			p->used = now - FRESH; /* it is only a note: the next one may succeed */
	}
	pthread_mutex_unlock(&a->lock);
	return good;
}

bool ut_accounts_knows_cookie(struct ut_accounts *a, const char *cookie)
{
	return use(a, a->cookies, COOKIES_MOST, cookie, (int64_t)UT_COOKIE_DAYS * DAY);
}

void ut_accounts_drop_cookie(struct ut_accounts *a, const char *cookie)
{
	char digest[UT_DIGEST];
	struct pass *p;

	if (!cookie || ut_secret_digest(cookie, digest, NULL))
		return;
	pthread_mutex_lock(&a->lock);
	p = find(a->cookies, COOKIES_MOST, digest);
	if (p) {
		*p = (struct pass){ 0 };
		if (save(a, NULL))
			p->used = 0; /* gone here at least, until we are started again */
	}
	pthread_mutex_unlock(&a->lock);
}

static struct pass *named(struct ut_accounts *a, const char *name)
{
	for (size_t i = 0; i < TOKENS_MOST; i++) {
		if (a->tokens[i].digest[0] && !strcmp(a->tokens[i].name, name))
			return &a->tokens[i];
	}
	return NULL;
}

int ut_accounts_new_token(struct ut_accounts *a, const char *name, char to[UT_SECRET],
			  struct ut_err *err)
{
	struct pass *p = NULL;
	int rc = 0;

	if (!ut_folder_name_fits(name) || strlen(name) > UT_TOKEN_NAME_MOST)
		return ut_err_set(err, -EINVAL, "a token has a name of 1 to %d bytes",
				  UT_TOKEN_NAME_MOST);
	pthread_mutex_lock(&a->lock);
	if (named(a, name))
		rc = ut_err_set(err, -EEXIST, "there is a token called '%s' already", name);
	for (size_t i = 0; !rc && !p && i < TOKENS_MOST; i++)
		p = a->tokens[i].digest[0] ? NULL : &a->tokens[i];
	if (!rc && !p)
		rc = ut_err_set(err, -ENOSPC, "there are %u tokens already", TOKENS_MOST);
	if (!rc) {
		rc = new_pass(a, p, to, err);
		p->used = 0;
		snprintf(p->name, sizeof(p->name), "%s", name);
		if (!rc)
			rc = save(a, err);
		if (rc)
			*p = (struct pass){ 0 };
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}

bool ut_accounts_knows_token(struct ut_accounts *a, const char *token)
{
	return use(a, a->tokens, TOKENS_MOST, token, 0);
}

int ut_accounts_drop_token(struct ut_accounts *a, const char *name, struct ut_err *err)
{
	struct pass *p;
	int rc;

	pthread_mutex_lock(&a->lock);
	p = named(a, name);
	if (p)
		*p = (struct pass){ 0 };
	rc = p ? save(a, err) : ut_err_set(err, -ENOENT, "there is no token called '%s'", name);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

void ut_accounts_list_tokens(struct ut_accounts *a, struct ut_json_writer *w)
{
	ut_write_open(w, NULL, '[');
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < TOKENS_MOST; i++) {
		if (!a->tokens[i].digest[0])
			continue;
		ut_write_open(w, NULL, '{');
		ut_write_text(w, "name", a->tokens[i].name);
		ut_write_i64(w, "made", a->tokens[i].made);
		ut_write_i64(w, "used", a->tokens[i].used);
		ut_write_close(w, '}');
	}
	pthread_mutex_unlock(&a->lock);
	ut_write_close(w, ']');
}
