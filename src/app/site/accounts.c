#include "site/accounts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "site/attempts.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/folder.h"

#define FILE_NAME      "access.json"
#define FILE_MOST      (256u << 10)
#define COOKIES_MOST   128u
#define TOKENS_MOST    64u
#define DAY            86400
#define GUESSES_MOST   16u /* that wait */
#define CLIENT_GUESSES 4u  /* ... of one client */
#define TURN_MS        50
#define FRESH          (12 * 3600) /* when something was used last is noted that exactly */

/* A cookie or a token: what is kept of it. */
struct pass {
	char digest[UT_DIGEST];
	char name[UT_TOKEN_NAME_MOST + 1]; /* of a token */
	int64_t made, used;
};

/* What the file holds. */
struct access {
	char salt[UT_SECRET], digest[UT_DIGEST]; /* of the passphrase; "" = there is none */
	unsigned int rounds;
	struct pass cookies[COOKIES_MOST], tokens[TOKENS_MOST]; /* digest "" = free */
};

/* A guess that has not been looked at yet. */
struct guess {
	struct guess *next; /* that came later */
	const char *client;
	unsigned int wrong; /* of the same client before */
	bool is_refused;
};

struct ut_accounts {
	pthread_mutex_t lock; /* of all below */
	int own;
	struct access now, before; /* before: the one that is being changed */
	struct stat read;          /* the file that it was read from; st_ino 0 = there was none */
	int folder;                /* locked while something is changed */
	bool is_unreadable;        /* the file, so nobody is let in by it */
	struct ut_attempts attempts;
	pthread_cond_t turn; /* of a guess has come, perhaps */
	struct guess *guesses;
	bool is_guessing, is_stopping;
	int64_t rest_until; /* ms: what the last guess costs */
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

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads the file if it is another one than that we know. With the lock. Who may come in is not
 * guessed from half a file: until it can be read again nobody is known. */
static int refresh(struct ut_accounts *a, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	const struct ut_doc *t = NULL, *phrase;
	struct stat st = { 0 };
	int rc = fstatat(a->own, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;

	if (rc == -ENOENT)
		st = (struct stat){ 0 };
	if ((!rc || rc == -ENOENT) && is_same_file(&st, &a->read) && !a->is_unreadable)
		return 0;
	if (!rc)
		rc = ut_folder_read_doc(a->own, FILE_NAME, FILE_MOST, &arena, &t, NULL);
	a->is_unreadable = rc && rc != -ENOENT;
	if (!a->is_unreadable)
		a->now = (struct access){ 0 };
	memset(a->now.cookies, 0, sizeof(a->now.cookies));
	memset(a->now.tokens, 0, sizeof(a->now.tokens));
	phrase = ut_doc_get(t, "passphrase");
	if (is_digest(ut_doc_text(phrase, "digest")) && ut_doc_text(phrase, "salt")) {
		memcpy(a->now.digest, ut_doc_text(phrase, "digest"), UT_DIGEST);
		snprintf(a->now.salt, sizeof(a->now.salt), "%s", ut_doc_text(phrase, "salt"));
		a->now.rounds =
			(unsigned int)ut_doc_count(phrase, "rounds", 1u << 30, UT_KDF_ROUNDS);
	}
	read_passes(ut_doc_get(t, "cookies"), a->now.cookies, COOKIES_MOST);
	read_passes(ut_doc_get(t, "tokens"), a->now.tokens, TOKENS_MOST);
	ut_arena_release(&arena);
	a->read = st;
	return a->is_unreadable ? ut_err_set(err, -EIO, ".unitrace/%s cannot be read", FILE_NAME)
				: 0;
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

static int save(struct ut_accounts *a, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	int rc;

	ut_write_open(&w, NULL, '{');
	if (a->now.digest[0]) {
		ut_write_open(&w, "passphrase", '{');
		ut_write_text(&w, "by", "PBKDF2-HMAC-SHA256");
		ut_write_text(&w, "salt", a->now.salt);
		ut_write_u64(&w, "rounds", a->now.rounds);
		ut_write_text(&w, "digest", a->now.digest);
		ut_write_close(&w, '}');
	}
	write_passes(&w, "cookies", a->now.cookies, COOKIES_MOST);
	write_passes(&w, "tokens", a->now.tokens, TOKENS_MOST);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	rc = ut_folder_write(a->own, FILE_NAME, (struct ut_str){ text.data, text.len }, err);
	ut_buf_release(&text);
	if (!rc && fstatat(a->own, FILE_NAME, &a->read, AT_SYMLINK_NOFOLLOW))
		a->read = (struct stat){ 0 };
	return rc;
}

/*
 * Begins a change: nobody else makes one until end_change(), and what others have changed is known.
 * 0: go on, with the lock.
 */
static int begin_change(struct ut_accounts *a, struct ut_err *err)
{
	int rc;

	pthread_mutex_lock(&a->lock);
	/* an open folder of its own: locks belong to those, and threads share ours */
	a->folder = openat(a->own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (a->folder >= 0 && flock(a->folder, LOCK_EX) && errno == EINTR)
		;
	rc = a->folder < 0 ? ut_err_set(err, -errno, ".unitrace: %s", strerror(errno))
			   : refresh(a, err);
	if (!rc) {
		a->before = a->now;
		return 0;
	}
	if (a->folder >= 0)
		close(a->folder);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* Writes what was changed, or takes it back. */
static int end_change(struct ut_accounts *a, int rc, struct ut_err *err)
{
	if (!rc)
		rc = save(a, err);
	if (rc)
		a->now = a->before;
	explicit_bzero(&a->before, sizeof(a->before));
	close(a->folder);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

int ut_accounts_open(struct ut_accounts **out, int own, bool anew, struct ut_err *err)
{
	struct ut_accounts *a = ut_make(sizeof(*a));
	pthread_condattr_t steady;
	char probe[UT_DIGEST];
	int rc = ut_secret_digest("", probe, err); /* is there a library for it? */

	*out = NULL;
	a->own = own;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&a->turn, &steady);
	pthread_condattr_destroy(&steady);
	if (!rc && anew) {
		rc = begin_change(a, NULL);
		if (rc && a->is_unreadable) /* it is made anew because of that, perhaps */
			rc = save(a, err);
		else if (!rc) {
			a->now = (struct access){ 0 };
			rc = end_change(a, 0, err);
		}
	} else if (!rc) {
		rc = refresh(a, err);
	}
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
	pthread_cond_destroy(&a->turn);
	explicit_bzero(a, sizeof(*a));
	free(a);
}

void ut_accounts_stop(struct ut_accounts *a)
{
	pthread_mutex_lock(&a->lock);
	a->is_stopping = true;
	pthread_cond_broadcast(&a->turn);
	pthread_mutex_unlock(&a->lock);
}

/* ---- passphrase ----------------------------------------------------------------------------- */

bool ut_accounts_has_passphrase(struct ut_accounts *a)
{
	bool has;

	pthread_mutex_lock(&a->lock);
	has = refresh(a, NULL) || a->now.digest[0] != '\0';
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
	rc = begin_change(a, err);
	if (rc)
		return rc;
	memcpy(a->now.salt, salt, sizeof(a->now.salt));
	memcpy(a->now.digest, digest, sizeof(a->now.digest));
	a->now.rounds = UT_KDF_ROUNDS;
	memset(a->now.cookies, 0, sizeof(a->now.cookies));
	return end_change(a, 0, err);
}

static int64_t steady_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int refuse_guess(unsigned int wait, struct ut_err *err)
{
	return ut_err_set(err, -EAGAIN, "too many wrong passphrases; try again in %u s", wait);
}

/* The next one to be looked at: of those who have been wrong least often, the first. */
static struct guess *next_guess(const struct ut_accounts *a)
{
	struct guess *next = NULL;

	for (struct guess *g = a->guesses; g; g = g->next) {
		if (!g->is_refused && (!next || g->wrong < next->wrong))
			next = g;
	}
	return next;
}

/* A place in the queue. If it is full, whoever has been wrong most often leaves it. */
static int join_queue(struct ut_accounts *a, struct guess *mine)
{
	struct guess **end = &a->guesses, *worst = mine;
	unsigned int all = 0, same = 0;

	for (; *end; end = &(*end)->next) {
		if ((*end)->is_refused)
			continue;
		all++;
		same += !strcmp((*end)->client, mine->client);
		if ((*end)->wrong > worst->wrong)
			worst = *end;
	}
	if (same >= CLIENT_GUESSES || (all >= GUESSES_MOST && worst == mine))
		return -EAGAIN;
	if (all >= GUESSES_MOST)
		worst->is_refused = true;
	*end = mine;
	return 0;
}

static void leave_queue(struct ut_accounts *a, const struct guess *mine)
{
	struct guess **at = &a->guesses;

	while (*at != mine)
		at = &(*at)->next;
	*at = mine->next;
}

/* With the lock: until this guess is the next one and those before it have been paid for. */
static int wait_for_turn(struct ut_accounts *a, const char *client)
{
	struct guess mine = { .client = client, .wrong = ut_attempts_count(&a->attempts, client) };

	if (join_queue(a, &mine))
		return -EAGAIN;
	while (!a->is_stopping && !mine.is_refused &&
	       (a->is_guessing || next_guess(a) != &mine || steady_ms() < a->rest_until)) {
		int64_t until = steady_ms() + TURN_MS;
		struct timespec at = { .tv_sec = (time_t)(until / 1000),
				       .tv_nsec = (long)(until % 1000) * 1000000 };

		pthread_cond_timedwait(&a->turn, &a->lock, &at);
	}
	leave_queue(a, &mine);
	return a->is_stopping || mine.is_refused ? -EAGAIN : 0;
}

/* With the lock, which is given up while the passphrase is made a digest of. */
static int accounts_evaluate(struct ut_accounts *a, const char *client, const char *passphrase,
			     struct ut_err *err)
{
	char digest[UT_DIGEST];
	struct access kept = { .rounds = a->now.rounds ? a->now.rounds : 1 };
	bool same;
	int rc;

	memcpy(kept.salt, a->now.salt, sizeof(kept.salt));
	memcpy(kept.digest, a->now.digest, sizeof(kept.digest));
	a->is_guessing = true;
	pthread_mutex_unlock(&a->lock);
	rc = ut_secret_stretch(passphrase, kept.salt, kept.rounds, digest, err);
	same = !rc && ut_secret_same(kept.digest, digest);
	pthread_mutex_lock(&a->lock);
	a->is_guessing = false;
	if (same)
		ut_attempts_right(&a->attempts, client);
	else if (!rc)
		ut_attempts_wrong(&a->attempts, client, steady_ms() / 1000);
	if (!rc && !same)
		a->rest_until = steady_ms() + ut_attempts_cost(&a->attempts, steady_ms() / 1000);
	pthread_cond_broadcast(&a->turn);
	explicit_bzero(&kept, sizeof(kept));
	return rc || same ? rc : ut_err_set(err, -EACCES, "that is not the passphrase");
}

int ut_accounts_try(struct ut_accounts *a, const char *client, const char *passphrase,
		    unsigned int *wait, struct ut_err *err)
{
	int rc;

	if (strlen(passphrase) > UT_PASSPHRASE_MOST)
		return ut_err_set(err, -EACCES, "that is not the passphrase");
	pthread_mutex_lock(&a->lock);
	*wait = ut_attempts_wait(&a->attempts, client, steady_ms() / 1000);
	if (!*wait && wait_for_turn(a, client))
		*wait = UT_ATTEMPT_COST_MS / 1000;
	if (!*wait) /* others of the same client may have been wrong meanwhile */
		*wait = ut_attempts_wait(&a->attempts, client, steady_ms() / 1000);
	rc = *wait ? refuse_guess(*wait, err) : refresh(a, err);
	if (!rc)
		rc = accounts_evaluate(a, client, passphrase, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* ---- cookies and tokens --------------------------------------------------------------------- */

/* Compares all of them: how long that takes says nothing. */
static struct pass *accounts_find(struct pass *all, size_t most, const char *digest)
{
	struct pass *found = NULL;

	for (size_t i = 0; i < most; i++) {
		if (all[i].digest[0] && ut_secret_same(all[i].digest, digest))
			found = &all[i];
	}
	return found;
}

/* A free place, or that of the one that was not used for longest. */
static struct pass *accounts_make_room(struct pass *all, size_t most)
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

static int new_pass(struct pass *at, char to[UT_SECRET], struct ut_err *err)
{
	int64_t now = (int64_t)time(NULL);

	if (!ut_secret_make(to))
		return ut_err_set(err, -EIO, "there are no random numbers to be had");
	*at = (struct pass){ .made = now, .used = now };
	return ut_secret_digest(to, at->digest, err);
}

int ut_accounts_new_cookie(struct ut_accounts *a, char to[UT_SECRET], struct ut_err *err)
{
	int rc = begin_change(a, err);

	if (rc)
		return rc;
	rc = new_pass(accounts_make_room(a->now.cookies, COOKIES_MOST), to, err);
	return end_change(a, rc, err);
}

/* When it was used last is only a note: the next one may succeed if this is not written. */
static void note_use(struct ut_accounts *a, struct pass *all, size_t most, const char *digest)
{
	int64_t now = (int64_t)time(NULL);
	struct pass *p;

	if (begin_change(a, NULL))
		return;
	p = accounts_find(all, most, digest);
	if (p)
		p->used = now;
	if (end_change(a, p ? 0 : -ENOENT, NULL))
		return;
}

static bool use(struct ut_accounts *a, struct pass *all, size_t most, const char *secret,
		int64_t lasts)
{
	int64_t now = (int64_t)time(NULL);
	char digest[UT_DIGEST];
	const struct pass *p;
	bool good, is_old;

	if (!secret || strlen(secret) != UT_SECRET - 1 || ut_secret_digest(secret, digest, NULL))
		return false;
	pthread_mutex_lock(&a->lock);
	p = refresh(a, NULL) ? NULL : accounts_find(all, most, digest);
	good = p && (!lasts || now - p->made < lasts);
	is_old = good && now - p->used > FRESH;
	pthread_mutex_unlock(&a->lock);
	if (is_old)
		note_use(a, all, most, digest);
	return good;
}

bool ut_accounts_knows_cookie(struct ut_accounts *a, const char *cookie)
{
	return use(a, a->now.cookies, COOKIES_MOST, cookie, (int64_t)UT_COOKIE_DAYS * DAY);
}

int ut_accounts_drop_cookie(struct ut_accounts *a, const char *cookie, struct ut_err *err)
{
	char digest[UT_DIGEST];
	struct pass *p;
	int rc;

	if (!cookie)
		return 0;
	rc = ut_secret_digest(cookie, digest, err);
	if (!rc)
		rc = begin_change(a, err);
	if (rc)
		return rc;
	p = accounts_find(a->now.cookies, COOKIES_MOST, digest);
	if (p)
		*p = (struct pass){ 0 };
	return end_change(a, 0, err);
}

static struct pass *named(struct ut_accounts *a, const char *name)
{
	for (size_t i = 0; i < TOKENS_MOST; i++) {
		if (a->now.tokens[i].digest[0] && !strcmp(a->now.tokens[i].name, name))
			return &a->now.tokens[i];
	}
	return NULL;
}

int ut_accounts_new_token(struct ut_accounts *a, const char *name, char to[UT_SECRET],
			  struct ut_err *err)
{
	struct pass *p = NULL;
	int rc;

	if (!ut_folder_name_fits(name) || strlen(name) > UT_TOKEN_NAME_MOST)
		return ut_err_set(err, -EINVAL, "a token has a name of 1 to %d bytes",
				  UT_TOKEN_NAME_MOST);
	rc = begin_change(a, err);
	if (rc)
		return rc;
	if (named(a, name))
		rc = ut_err_set(err, -EEXIST, "there is a token called '%s' already", name);
	for (size_t i = 0; !rc && !p && i < TOKENS_MOST; i++)
		p = a->now.tokens[i].digest[0] ? NULL : &a->now.tokens[i];
	if (!rc && !p)
		rc = ut_err_set(err, -ENOSPC, "there are %u tokens already", TOKENS_MOST);
	if (!rc)
		rc = new_pass(p, to, err);
	if (!rc) {
		p->used = 0;
		snprintf(p->name, sizeof(p->name), "%s", name);
	}
	return end_change(a, rc, err);
}

bool ut_accounts_knows_token(struct ut_accounts *a, const char *token)
{
	return use(a, a->now.tokens, TOKENS_MOST, token, 0);
}

int ut_accounts_drop_token(struct ut_accounts *a, const char *name, struct ut_err *err)
{
	struct pass *p;
	int rc = begin_change(a, err);

	if (rc)
		return rc;
	p = named(a, name);
	if (p)
		*p = (struct pass){ 0 };
	else
		rc = ut_err_set(err, -ENOENT, "there is no token called '%s'", name);
	return end_change(a, rc, err);
}

void ut_accounts_list_tokens(struct ut_accounts *a, struct ut_json_writer *w)
{
	ut_write_open(w, NULL, '[');
	pthread_mutex_lock(&a->lock);
	for (size_t i = refresh(a, NULL) ? TOKENS_MOST : 0; i < TOKENS_MOST; i++) {
		if (!a->now.tokens[i].digest[0])
			continue;
		ut_write_open(w, NULL, '{');
		ut_write_text(w, "name", a->now.tokens[i].name);
		ut_write_i64(w, "made", a->now.tokens[i].made);
		ut_write_i64(w, "used", a->now.tokens[i].used);
		ut_write_close(w, '}');
	}
	pthread_mutex_unlock(&a->lock);
	ut_write_close(w, ']');
}
