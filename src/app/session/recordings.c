#include "session/recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"

#define MOST_BYTES   (1u << 20) /* of the file */
#define MOST_ENTRIES 64         /* recordings that are remembered */
#define LOCK_TRIES   200
#define LOCK_WAIT_NS 5000000

/* One recording, in the text of the file. */
struct entry {
	const char *job, *dir;
	const char *items; /* "RANK:PATH" NUL ... NUL */
	const char *end;   /* of the entry, past its empty text */
};

/* ---- the file ------------------------------------------------------------------------------ */

/* NULL if there is no place that is ours. */
static const char *state_dir(struct ut_arena *a)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool has_state = state && state[0] == '/';
	struct stat st;

	if (!has_state && (!home || home[0] != '/'))
		return NULL;
	/* As root in somebody's home we would leave files that he cannot change. */
	if (!stat(has_state ? state : home, &st) && st.st_uid != geteuid())
		return NULL;
	return has_state ? ut_path_join(a, state, "unitrace")
			 : ut_path_join(a, home, ".local/state/unitrace");
}

/* Others hold the lock for a moment only; who cannot get it does without. */
static bool recordings_lock(int fd, int how)
{
	const struct timespec pause = { .tv_nsec = LOCK_WAIT_NS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, how | LOCK_NB))
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The file, locked; -1 if there is none for us. */
static int open_state(struct ut_arena *a, int flags, int how)
{
	const char *dir = state_dir(a);
	struct ut_err err = { 0 };
	struct stat st;
	int fd;

	if (!dir || ((flags & O_CREAT) && ut_path_mkdirs(dir, &err)))
		return -1;
	fd = open(ut_path_join(a, dir, "recordings"), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
		  0600);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    !recordings_lock(fd, how)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* What is there, closed by a NUL; what is too long to be ours is as good as nothing. */
static void read_state(int fd, struct ut_buf *text)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0 && text->len <= MOST_BYTES)
		ut_buf_add(text, part, (size_t)n);
	if (n || text->len > MOST_BYTES)
		text->len = 0;
	ut_buf_text(text, "");
}

/* The entry at p, which is not past end; false if none is complete. */
static bool next_entry(const char **p, const char *end, struct entry *e)
{
	const char *texts[2];

	for (int i = 0; i < 2; i++) {
		const char *nul = *p < end ? memchr(*p, '\0', (size_t)(end - *p)) : NULL;

		if (!nul)
			return false;
		texts[i] = *p;
		*p = nul + 1;
	}
	*e = (struct entry){ .job = texts[0], .dir = texts[1], .items = *p };
	for (const char *nul; *p < end && (nul = memchr(*p, '\0', (size_t)(end - *p)));) {
		bool is_last = nul == *p;

		*p = nul + 1;
		if (is_last) {
			e->end = *p;
			return true;
		}
	}
	return false;
}

static const char *next_item(const char *item)
{
	return item + strlen(item) + 1;
}

static const char *recordings_path_of(const char *item)
{
	const char *colon = strchr(item, ':');

	return colon && colon[1] == '/' ? colon + 1 : NULL;
}

/* ---- noting -------------------------------------------------------------------------------- */

/* What the ranks of a job have in common, and nobody else has. */
static const char *job_name(struct ut_arena *a, int rank)
{
	static const char *const variables[] = { "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_STEP_ID" };

	if (rank < 0)
		return "";
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]), *batch = getenv("SLURM_JOB_ID");

		if (value && *value)
			return ut_str_fmt(a, "%s/%s", batch ? batch : "", value);
	}
	return ut_str_fmt(a, "parent %d", (int)getppid());
}

static bool has_rank(const struct entry *e, int rank)
{
	for (const char *item = e->items; *item; item = next_item(item)) {
		if (atoi(item) == rank)
			return true;
	}
	return false;
}

static void recordings_add_text(struct ut_buf *b, const char *text)
{
	ut_buf_add(b, text, strlen(text) + 1);
}

/* The entries to keep: those of other directories, not too many. */
static void keep_others(struct ut_buf *out, const struct ut_buf *old, const char *dir)
{
	const char *p = old->data, *end = old->data + old->len;
	struct entry e;
	size_t count = 0;

	while (next_entry(&p, end, &e))
		count++;
	p = old->data;
	for (size_t i = 0; next_entry(&p, end, &e); i++) {
		if (i + MOST_ENTRIES > count && strcmp(e.dir, dir) != 0)
			ut_buf_add(out, e.job, (size_t)(e.end - e.job));
	}
}

/* The timelines that other ranks of the same job have noted. */
static void keep_job(struct ut_buf *out, const struct ut_buf *old, const char *dir, const char *job,
		     int rank)
{
	const char *p = old->data, *end = old->data + old->len;
	struct entry e;

	while (*job && next_entry(&p, end, &e)) {
		if (!strcmp(e.dir, dir) && !strcmp(e.job, job) && !has_rank(&e, rank))
			ut_buf_add(out, e.items, (size_t)(e.end - 1 - e.items));
	}
}

static bool write_state(int fd, const struct ut_buf *text)
{
	ssize_t n = -1;

	if (text->len <= MOST_BYTES && !ftruncate(fd, 0))
		n = pwrite(fd, text->data, text->len, 0);
	return n == (ssize_t)text->len || !ftruncate(fd, 0);
}

bool ut_recordings_note(const char *const *paths, size_t count, int rank)
{
	struct ut_arena arena = { 0 };
	struct ut_buf old = { 0 }, out = { 0 };
	char dir[PATH_MAX];
	const char *job = job_name(&arena, rank);
	bool noted = true;
	int fd = count && getcwd(dir, sizeof(dir)) ? open_state(&arena, O_RDWR | O_CREAT, LOCK_EX)
						   : -1;

	if (fd >= 0) {
		read_state(fd, &old);
		keep_others(&out, &old, dir);
		recordings_add_text(&out, job);
		recordings_add_text(&out, dir);
		keep_job(&out, &old, dir, job, rank);
		for (size_t i = 0; i < count; i++)
			recordings_add_text(&out, ut_str_fmt(&arena, "%d:%s", rank,
							     ut_path_absolute(&arena, paths[i])));
		recordings_add_text(&out, "");
		noted = write_state(fd, &out);
		close(fd);
	}
	ut_buf_release(&old);
	ut_buf_release(&out);
	ut_arena_release(&arena);
	return noted;
}

/* ---- taking -------------------------------------------------------------------------------- */

/* Was it made here, or does it lie here? */
static bool belongs(const struct entry *e, const char *dir, struct ut_arena *a)
{
	const char *path = *e->items ? recordings_path_of(e->items) : NULL;

	return path && (!strcmp(e->dir, dir) || !strcmp(ut_path_dir(a, path), dir));
}

/* Names in this directory are shown without it. */
static const char *recordings_short_name(struct ut_arena *a, const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return ut_str_fmt(a, "%s",
			  !strncmp(path, dir, len) && path[len] == '/' ? path + len + 1 : path);
}

static void recordings_take(struct ut_recording *r, struct ut_arena *a, const struct entry *e,
			    const char *dir)
{
	size_t count = 0;

	for (const char *item = e->items; *item; item = next_item(item))
		count++;
	r->paths = UT_NEW_N(a, const char *, count + 1);
	r->first = recordings_short_name(a, recordings_path_of(e->items), dir);
	for (const char *item = e->items; *item; item = next_item(item)) {
		const char *path = recordings_path_of(item);

		if (path && ut_path_exists(path))
			r->paths[r->count++] = recordings_short_name(a, path, dir);
	}
}

struct ut_recording ut_recordings_last(struct ut_arena *a)
{
	struct ut_recording r = { 0 };
	struct entry e, last = { 0 };
	struct ut_buf text = { 0 };
	char dir[PATH_MAX];
	int fd = getcwd(dir, sizeof(dir)) ? open_state(a, O_RDONLY, LOCK_SH) : -1;
	const char *p;

	if (fd < 0)
		return r;
	read_state(fd, &text);
	close(fd);
	p = text.data;
	while (text.len && next_entry(&p, text.data + text.len, &e)) {
		if (belongs(&e, dir, a))
			last = e;
	}
	if (last.items)
		recordings_take(&r, a, &last, dir);
	ut_buf_release(&text);
	return r;
}
