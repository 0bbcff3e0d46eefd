#include "workbench/machines.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/data_dir.h"
#include "workbench/devices.h"
#include "workbench/folder.h"

#define PORT_MOST  65535u
#define PORT_USUAL 22u
#define PATH_MOST  1024u
#define HOST_MOST  255u
#define USER_MOST  64u

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Two of us who change the file of keys would lose one of their keys. */
static pthread_mutex_t keys = PTHREAD_MUTEX_INITIALIZER;

/* ---- fields --------------------------------------------------------------------------------- */

/* ssh hands names on to shells of the user's own configuration (ProxyCommand): only what means
 * nothing to any of them. */
static bool is_made_of(const char *text, const char *letters, size_t most)
{
	return strlen(text) <= most && strspn(text, letters) == strlen(text) && text[0] != '-';
}

/* Of a file, as ssh takes it: it would put something else in place of ${NAME}. */
static bool is_path(const char *path)
{
	bool begins = path[0] == '/' || !strncmp(path, "~/", 2);

	for (const char *p = path; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '$' || *p == '"')
			return false;
	}
	return begins && strlen(path) <= PATH_MOST;
}

static const char *machines_text_of(const struct ut_doc *t, const char *key)
{
	const struct ut_doc *m = ut_doc_get(t, key);

	if (!m || m->kind == UT_DOC_NULL)
		return "";
	return ut_doc_own_text(m);
}

static int machines_check(const struct ut_machine *t, struct ut_err *err)
{
	if (!t->name || !ut_folder_name_fits(t->name))
		return ut_err_set(err, -EINVAL,
				  "name: a machine needs one that can be the name of a file");
	if (!t->host || !t->host[0] || !is_made_of(t->host, LETTERS "._-:", HOST_MOST))
		return ut_err_set(err, -EINVAL,
				  "host: a name or an address, of letters, digits and . - _ :");
	if (!t->user || !is_made_of(t->user, LETTERS "._-+@", USER_MOST))
		return ut_err_set(err, -EINVAL,
				  "user: letters, digits and . - _ + @, or nothing for the usual");
	if (t->port > PORT_MOST)
		return ut_err_set(err, -EINVAL, "port: a number from 1 to 65535");
	if (!t->identity || (t->identity[0] && !is_path(t->identity)))
		return ut_err_set(err, -EINVAL,
				  "identity: the file of a key, which begins with / or ~/, without "
				  "$ and quotes");
	if (!t->folder || (t->folder[0] && !is_path(t->folder)))
		return ut_err_set(err, -EINVAL,
				  "folder: one there, which begins with / or ~/, without $ and "
				  "quotes");
	return 0;
}

int ut_machine_read(struct ut_arena *a, const struct ut_doc *t, struct ut_machine *to,
		    struct ut_err *err)
{
	const char *login = machines_text_of(t, "login");

	(void)a;
	*to = (struct ut_machine){ .name = ut_doc_text(t, "name"),
				   .host = machines_text_of(t, "host"),
				   .user = machines_text_of(t, "user"),
				   .identity = machines_text_of(t, "identity"),
				   .folder = machines_text_of(t, "folder"),
				   .port = ut_doc_count(t, "port", PORT_MOST + 1, 0) };
	if (ut_doc_get(t, "port") && ut_doc_get(t, "port")->kind != UT_DOC_NULL && !to->port)
		to->port = PORT_MOST + 1;
	if (!login || (login[0] && strcmp(login, "key") != 0 && strcmp(login, "password") != 0))
		return ut_err_set(err, -EINVAL, "login: is none of key, password");
	to->password = !strcmp(login, "password");
	return machines_check(to, err);
}

void ut_machine_write(const struct ut_machine *t, struct ut_json_writer *w)
{
	ut_write_text(w, "name", t->name);
	ut_write_text(w, "host", t->host);
	if (t->port)
		ut_write_u64(w, "port", t->port);
	ut_write_text(w, "user", t->user);
	ut_write_text(w, "login", t->password ? "password" : "key");
	ut_write_text(w, "identity", t->identity);
	ut_write_text(w, "folder", t->folder);
}

/* ---- files ---------------------------------------------------------------------------------- */

static const char *machines_file_of(struct ut_arena *a, const char *name)
{
	return ut_str_fmt(a, "%s.json", name);
}

static int machines_load(int at, struct ut_arena *a, const char *file, struct ut_machine *to,
			 struct ut_err *err)
{
	const struct ut_doc *t;
	int rc = ut_folder_read_doc(at, file, UT_SMALL_FILE, a, &t, err);

	return rc ? rc : ut_machine_read(a, t, to, err);
}

int ut_machine_find(int own, struct ut_arena *a, const char *name, struct ut_machine *to,
		    struct ut_err *err)
{
	int at = ut_folder_name_fits(name) ? ut_folder_open(own, UT_MACHINES_FOLDER, true, err)
					   : -ENOENT,
	    rc;

	rc = at < 0 ? at : machines_load(at, a, machines_file_of(a, name), to, NULL);
	if (at >= 0)
		close(at);
	return rc ? ut_err_set(err, -ENOENT, "there is no machine '%.120s'", name) : 0;
}

int ut_machines_save(int own, const struct ut_machine *t, bool replace, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	struct ut_machine there;
	bool known = !ut_machine_find(own, &arena, t->name, &there, NULL);
	int at, rc;

	if (known != replace) {
		ut_arena_release(&arena);
		return known ? ut_err_set(err, -EEXIST, "there is a '%s' already", t->name)
			     : ut_err_set(err, -ENOENT, "there is no machine '%s'", t->name);
	}
	ut_write_open(&w, NULL, '{');
	ut_machine_write(t, &w);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	at = ut_folder_open(own, UT_MACHINES_FOLDER, true, err);
	rc = at < 0 ? at
		    : ut_folder_write(at, machines_file_of(&arena, t->name),
				      (struct ut_str){ text.data, text.len }, err);
	if (at >= 0)
		close(at);
	ut_buf_release(&text);
	ut_arena_release(&arena);
	return rc;
}

int ut_machines_remove(int own, const char *name, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_machine there;
	int rc = ut_machine_find(own, &arena, name, &there, err), at;

	at = rc ? rc : ut_folder_open(own, UT_MACHINES_FOLDER, true, err);
	rc = at < 0 ? at : ut_folder_remove(at, machines_file_of(&arena, name), err);
	if (!rc)
		rc = ut_devices_forget(own, name, err);
	if (at >= 0)
		close(at);
	ut_arena_release(&arena);
	return rc;
}

struct listing {
	struct ut_json_writer *to;
	int own;
};

static bool write_one(void *ctx, int at, const char *name, unsigned char type)
{
	const struct listing *l = ctx;
	struct ut_arena arena = { 0 };
	struct ut_machine t;

	(void)type;
	if (ut_str_ends(name, ".json") && !machines_load(at, &arena, name, &t, NULL)) {
		ut_write_open(l->to, NULL, '{');
		ut_machine_write(&t, l->to);
		ut_write_text(l->to, "key", ut_machine_key(l->own, &arena, &t));
		ut_devices_write_kept(l->own, &t, l->to);
		ut_write_close(l->to, '}');
	}
	ut_arena_release(&arena);
	return true;
}

int ut_machines_write(int own, struct ut_json_writer *w, struct ut_err *err)
{
	struct listing l = { w, own };
	int at = ut_folder_open(own, UT_MACHINES_FOLDER, true, err), rc;

	if (at < 0)
		return at;
	ut_write_open(w, NULL, '[');
	rc = ut_folder_each(at, write_one, &l, err);
	ut_write_close(w, ']');
	close(at);
	return rc;
}

/* ---- keys ----------------------------------------------------------------------------------- */

void ut_machine_key_name(const struct ut_machine *t, char to[UT_KEY_NAME])
{
	snprintf(to, UT_KEY_NAME, "[%.255s]:%u", t->host,
		 t->port ? (unsigned int)t->port : PORT_USUAL);
	for (char *p = to; *p; p++) { /* as ssh does before it looks */
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	}
}

/* The next line of a text, without its end; false: there is none. */
static bool machines_next_line(struct ut_str *text, struct ut_str *line)
{
	const char *end;

	if (!text->len)
		return false;
	end = memchr(text->ptr, '\n', text->len);
	line->ptr = text->ptr;
	line->len = end ? (size_t)(end - text->ptr) : text->len;
	*text = ut_str_from(*text, text->ptr + line->len + (end ? 1 : 0));
	return true;
}

static bool machines_is_of(struct ut_str line, const char *name)
{
	size_t len = strlen(name);

	return line.len > len && !memcmp(line.ptr, name, len) && line.ptr[len] == ' ';
}

const char *ut_machine_key(int own, struct ut_arena *a, const struct ut_machine *t)
{
	struct ut_buf text = { 0 };
	struct ut_str rest, line;
	const char *found = "", *blank;
	char name[UT_KEY_NAME];

	ut_machine_key_name(t, name);
	if (!ut_folder_read(own, UT_KNOWN_HOSTS_FILE, UT_SMALL_FILE, &text, NULL) && text.len) {
		rest = (struct ut_str){ text.data, text.len };
		while (machines_next_line(&rest, &line)) {
			blank = machines_is_of(line, name) ? memrchr(line.ptr, ' ', line.len)
							   : NULL;
			if (blank)
				found = ut_arena_copy(a, blank + 1,
						      line.len - (size_t)(blank + 1 - line.ptr));
		}
	}
	ut_buf_release(&text);
	return found;
}

int ut_machine_set_key(int own, const struct ut_machine *t, const char *key,
		       const char *fingerprint, struct ut_err *err)
{
	struct ut_buf old = { 0 }, text = { 0 };
	struct ut_str rest, line;
	char name[UT_KEY_NAME];
	int rc;

	ut_machine_key_name(t, name);
	pthread_mutex_lock(&keys);
	rc = ut_folder_read(own, UT_KNOWN_HOSTS_FILE, UT_SMALL_FILE, &old, NULL);
	if (!rc || rc == -ENOENT) {
		rest = (struct ut_str){ old.data ? old.data : "", old.len };
		while (machines_next_line(&rest, &line)) {
			if (line.len && !machines_is_of(line, name))
				ut_buf_fmt(&text, "%.*s\n", (int)line.len, line.ptr);
		}
		if (key)
			ut_buf_fmt(&text, "%s %s %s\n", name, key, fingerprint);
		rc = ut_folder_write(own, UT_KNOWN_HOSTS_FILE,
				     (struct ut_str){ text.data ? text.data : "", text.len }, err);
	}
	pthread_mutex_unlock(&keys);
	if (rc)
		rc = ut_err_set(err, rc, UT_KNOWN_HOSTS_FILE ": %s", strerror(-rc));
	ut_buf_release(&old);
	ut_buf_release(&text);
	return rc;
}
