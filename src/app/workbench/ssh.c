#include "workbench/ssh.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"
#include "workbench/machines.h"

#define WORDS     64u
#define LOOK_MS   100
#define CLOSED_MS 10
#define SCAN_MS   30000
#define KEYGEN_MS 10000
#define LINE_MOST 300

/* What we depend on, whatever the user's configuration says: the first that ssh hears counts. */
static const char *const fixed[] = {
	"IgnoreUnknown=KnownHostsCommand", /* older than 8.5 */
	"CheckHostIP=no",
	"ClearAllForwardings=yes",
	"ConnectTimeout=15",
	"ControlMaster=no",
	"ControlPath=none",
	"EscapeChar=none",
	"ForwardAgent=no",
	"ForwardX11=no",
	"GlobalKnownHostsFile=/dev/null",
	"HashKnownHosts=no",
	"KnownHostsCommand=none",
	"LogLevel=ERROR",
	"NoHostAuthenticationForLocalhost=no",
	"PermitLocalCommand=no",
	"RemoteCommand=none",
	"RequestTTY=no",
	"ServerAliveCountMax=3",
	"ServerAliveInterval=10",
	"Tunnel=no",
	"UpdateHostKeys=no",
	"VerifyHostKeyDNS=no",
};

struct line {
	struct ut_arena *arena;
	const char *words[WORDS + 2 * sizeof(fixed) / sizeof(fixed[0])];
	size_t count;
};

static void ssh_add(struct line *l, const char *word)
{
	l->words[l->count++] = word;
}

static void add_option(struct line *l, const char *option)
{
	ssh_add(l, "-o");
	ssh_add(l, option);
}

/* ssh puts something else in place of a percent sign and what follows it. */
static const char *as_it_is(struct ut_arena *a, const char *path)
{
	struct ut_buf text = { 0 };

	for (const char *p = path; *p; p++) {
		ut_buf_char(&text, *p);
		if (*p == '%')
			ut_buf_char(&text, '%');
	}
	return ut_buf_take(&text, a);
}

static void add_login(struct line *l, const struct ut_ssh_opts *o)
{
	const struct ut_machine *t = o->target;

	/* asked for what protects a key again, we know that it was wrong */
	add_option(l, t->password ? "NumberOfPasswordPrompts=1" : "NumberOfPasswordPrompts=2");
	if (t->password) {
		add_option(l, "PubkeyAuthentication=no");
		add_option(l, "PreferredAuthentications=keyboard-interactive,password");
	} else {
		add_option(l, "PreferredAuthentications=gssapi-with-mic,publickey");
	}
	add_option(l, o->secret ? "BatchMode=no" : "BatchMode=yes");
	if (t->identity[0] && !t->password) {
		add_option(l, "IdentitiesOnly=yes");
		ssh_add(l, "-i");
		ssh_add(l, as_it_is(l->arena, t->identity));
	}
}

/* keys: the file of keys, in the server's folder. strict: what to do about others. */
static void make_line(struct line *l, const struct ut_ssh_opts *o, const char *keys,
		      const char *strict, const char *command)
{
	const struct ut_machine *t = o->target;
	char name[UT_KEY_NAME];

	ut_machine_key_name(t, name);
	ssh_add(l, "ssh");
	ssh_add(l, "-T");
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		add_option(l, fixed[i]);
	add_option(l, ut_str_fmt(l->arena, "UserKnownHostsFile=%s", keys));
	add_option(l, ut_str_fmt(l->arena, "StrictHostKeyChecking=%s", strict));
	add_option(l, ut_str_fmt(l->arena, "HostKeyAlias=%s", name));
	add_option(l, o->compress ? "Compression=yes" : "Compression=no");
	add_login(l, o);
	if (t->port) {
		ssh_add(l, "-p");
		ssh_add(l, ut_str_fmt(l->arena, "%u", (unsigned int)t->port));
	}
	if (t->user[0]) {
		ssh_add(l, "-l");
		ssh_add(l, t->user);
	}
	ssh_add(l, "--");
	ssh_add(l, t->host);
	ssh_add(l, command);
	ssh_add(l, NULL);
}

/* The helper that ssh asks for passwords: our own executable, under another name. */
static void link_helper(const struct ut_ssh_opts *o)
{
	char there[1024];
	ssize_t got = readlinkat(o->own, UT_ASKPASS_NAME, there, sizeof(there) - 1);

	if (got > 0) {
		there[got] = '\0';
		if (!strcmp(there, o->program))
			return;
	}
	unlinkat(o->own, UT_ASKPASS_NAME, 0);
	if (symlinkat(o->program, o->own, UT_ASKPASS_NAME))
		return; /* somebody else has just done so, or ssh will say that it has nobody to ask
			 */
}

static int ssh_start(struct ut_ssh *s, const struct line *l, struct ut_arena *a, struct ut_err *err)
{
	const char *settings[] = { NULL, NULL, NULL, NULL, NULL };
	size_t count = 0;
	int rc = 0;

	settings[count++] = "LC_ALL=C"; /* we read what it says */
	if (s->opts.secret) {
		link_helper(&s->opts);
		rc = ut_askpass_open(&s->askpass, err);
		/* relative: it is started in that folder */
		settings[count++] = "SSH_ASKPASS=./" UT_ASKPASS_NAME;
		settings[count++] = "SSH_ASKPASS_REQUIRE=force";
		settings[count++] = ut_str_fmt(a, UT_ASKPASS_SETTING "=%s", s->askpass.name);
	}
	return rc ? rc : ut_spawned_start(&s->program, l->words, s->opts.own, settings, err);
}

int ut_ssh_start(struct ut_ssh *s, const struct ut_ssh_opts *opts, const char *command,
		 struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct line l = { .arena = &arena };
	int rc;

	*s = UT_SSH_NONE;
	s->opts = *opts;
	make_line(&l, opts, UT_KNOWN_HOSTS_FILE, "yes", command);
	rc = ssh_start(s, &l, &arena, err);
	ut_arena_release(&arena);
	if (rc)
		ut_ssh_release(s);
	return rc;
}

void ut_ssh_release(struct ut_ssh *s)
{
	ut_askpass_close(&s->askpass);
	ut_spawned_release(&s->program);
}

/* ---- talking -------------------------------------------------------------------------------- */

void ut_ssh_poll(const struct ut_ssh *s, struct pollfd to[UT_SSH_POLLED])
{
	to[0] = (struct pollfd){ .fd = s->program.out, .events = POLLIN };
	to[1] = (struct pollfd){ .fd = s->program.err, .events = POLLIN };
	to[2] = (struct pollfd){ .fd = s->askpass.socket_fd, .events = POLLIN };
}

void ut_ssh_tend(struct ut_ssh *s)
{
	ut_spawned_listen(&s->program);
	ut_askpass_answer(&s->askpass, s->program.pid, s->opts.secret);
}

static int64_t ssh_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Streams that are closed are ready for ever: only those that are open are waited for. */
static void wait_for(struct pollfd *p, nfds_t count, int ms)
{
	if (poll(p, count, ms) <= 0)
		return;
	for (nfds_t i = 0; i < count; i++) {
		if (p[i].revents & (POLLIN | POLLOUT))
			return;
	}
	poll(NULL, 0, ms < CLOSED_MS ? ms : CLOSED_MS);
}

int ut_ssh_send(struct ut_ssh *s, const char *data, size_t len, int ms)
{
	int64_t end = ssh_now_ms() + ms;

	while (len) {
		struct pollfd p[UT_SSH_POLLED + 1];
		ssize_t n = s->program.in >= 0 ? write(s->program.in, data, len) : -1;

		if (s->program.in < 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return -EPIPE;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
			end = ssh_now_ms() + ms;
			continue;
		}
		if (ssh_now_ms() >= end)
			return -ETIMEDOUT;
		ut_ssh_poll(s, p);
		p[0].fd = -1; /* what it says is not for us to read now */
		p[UT_SSH_POLLED] = (struct pollfd){ .fd = s->program.in, .events = POLLOUT };
		wait_for(p, UT_SSH_POLLED + 1, LOOK_MS);
		ut_ssh_tend(s);
	}
	return 0;
}

ssize_t ut_ssh_receive(struct ut_ssh *s, char *to, size_t room, int ms)
{
	struct pollfd p[UT_SSH_POLLED];
	int64_t end = ssh_now_ms() + ms;
	ssize_t got = -1;

	for (;;) {
		ut_ssh_tend(s);
		got = s->program.out >= 0 ? read(s->program.out, to, room) : 0;
		if (got > 0)
			return got;
		if (got == 0 || (errno != EAGAIN && errno != EINTR))
			return -EPIPE;
		if (ssh_now_ms() >= end)
			return 0;
		ut_ssh_poll(s, p);
		wait_for(p, UT_SSH_POLLED, LOOK_MS);
	}
}

/* ---- why not -------------------------------------------------------------------------------- */

/* The last line that it has said, without what could be more than text. */
static void last_line(const struct ut_spawned *p, char to[LINE_MOST])
{
	struct ut_str said =
		ut_str_trim((struct ut_str){ p->said.data ? p->said.data : "", p->said.len });
	const char *line = said.len ? memrchr(said.ptr, '\n', said.len) : NULL;
	size_t len;

	if (line)
		said = ut_str_trim(ut_str_from(said, line));
	len = said.len < LINE_MOST - 1 ? said.len : LINE_MOST - 1;
	for (size_t i = 0; i < len; i++)
		to[i] = (unsigned char)said.ptr[i] < ' ' || said.ptr[i] == 0x7f ? ' ' : said.ptr[i];
	to[len] = '\0';
}

static bool has_said(const struct ut_spawned *p, const char *text)
{
	return p->said.len && memmem(p->said.data, p->said.len, text, strlen(text));
}

static int why_key(const struct ut_ssh *s, struct ut_err *err)
{
	const struct ut_machine *t = s->opts.target;
	struct ut_arena arena = { 0 };
	const char *known = ut_machine_key(s->opts.own, &arena, t);
	int rc;

	if (known[0])
		rc = ut_err_set(
			err, -EKEYREJECTED,
			"%s has another key than the one that was accepted (%s): somebody "
			"may stand between, or it was set up anew. Nothing was sent; if you "
			"know why, forget its key and look at the new one",
			t->host, known);
	else
		rc = ut_err_set(err, -ENOKEY, "the key of %s is not known yet: look at it first",
				t->host);
	ut_arena_release(&arena);
	return rc;
}

static int why_refused(const struct ut_ssh *s, struct ut_err *err)
{
	const struct ut_machine *t = s->opts.target;
	const char *who = t->user[0] ? t->user : "you";

	if (t->password)
		return ut_err_set(err, -EACCES, "%s does not let %s in: %s", t->host, who,
				  s->opts.secret ? "the password is wrong, or it takes none"
						 : "it needs the password");
	if (t->identity[0] && s->askpass.was_wrong)
		return ut_err_set(
			err, -EACCES,
			"%s does not let %s in by key: the passphrase of the key is wrong", t->host,
			who);
	return ut_err_set(
		err, -EACCES,
		"%s does not let %s in by key: %s must be in ~/.ssh/authorized_keys there", t->host,
		who,
		t->identity[0] ? "the public part of the chosen key"
			       : "a key of the agent, or of ~/.ssh, here");
}

int ut_ssh_why(struct ut_ssh *s, struct ut_err *err)
{
	static const char *const nobody[] = {
		"Could not resolve hostname", "Connection refused",     "Connection timed out",
		"No route to host",           "Network is unreachable", "Name or service not known"
	};
	static const char *const lost[] = { "closed by", "Connection reset", "Broken pipe",
					    "not responding" };
	const struct ut_spawned *p = &s->program;
	const char *host = s->opts.target->host;
	char line[LINE_MOST];

	ut_ssh_tend(s);
	last_line(p, line);
	if (has_said(p, "Host key verification failed") || has_said(p, "HOST IDENTIFICATION") ||
	    has_said(p, "host key is known for"))
		return why_key(s, err);
	if (has_said(p, "Permission denied"))
		return why_refused(s, err);
	for (size_t i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++) {
		if (has_said(p, nobody[i]))
			return ut_err_set(err, -EHOSTUNREACH, "%s cannot be reached: %s", host,
					  line);
	}
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		if (has_said(p, lost[i]))
			return ut_err_set(err, -ECONNRESET, "the connection to %s was lost: %s",
					  host, line);
	}
	if (line[0])
		return ut_err_set(err, -EIO, "%s: %s", host, line);
	return ut_err_set(err, -ECONNRESET, "the connection to %s was lost", host);
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* "NAME TYPE KEY": type and key, if they look like such. */
static const char *read_key(struct ut_arena *a, struct ut_str line)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"+/=@.- ";
	const char *end = memchr(line.ptr, '\n', line.len);
	const char *blank = memchr(line.ptr, ' ', line.len), *key;

	if (!end || !blank || blank > end)
		return NULL;
	key = ut_arena_copy(a, blank + 1, (size_t)(end - blank - 1));
	return strspn(key, letters) == strlen(key) && strchr(key, ' ') ? key : NULL;
}

/* "256 SHA256:... NAME (TYPE)", of ssh-keygen. */
static int read_fingerprint(const struct ut_ssh_opts *o, struct ut_arena *a, const char *file,
			    const char **to, struct ut_err *err)
{
	const char *const words[] = { "ssh-keygen", "-l", "-f", file, NULL };
	const char *const settings[] = { "LC_ALL=C", NULL };
	struct ut_spawned p = UT_SPAWNED_NONE;
	struct ut_buf text = { 0 };
	const char *begin;
	int rc = ut_spawned_start(&p, words, o->own, settings, err);

	if (!rc)
		rc = ut_spawned_finish(&p, &text, KEYGEN_MS, err);
	begin = text.len ? strstr(text.data, "SHA256:") : NULL;
	if (!rc && begin)
		*to = ut_arena_copy(a, begin, strcspn(begin, " \n"));
	else if (!rc)
		rc = ut_err_set(err, -EIO, "ssh-keygen cannot read the key of %s", o->target->host);
	ut_spawned_release(&p);
	ut_buf_release(&text);
	return rc;
}

int ut_ssh_scan(const struct ut_ssh_opts *opts, struct ut_arena *a, const char **key,
		const char **fingerprint, struct ut_err *err)
{
	struct ut_ssh s = UT_SSH_NONE;
	struct ut_machine nobody = *opts->target;
	struct line l = { .arena = a };
	struct ut_buf text = { 0 };
	uint64_t random = 0;
	char file[32];
	int rc;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ut_err_set(err, -EIO, "there are no random numbers to be had");
	snprintf(file, sizeof(file), "scan.%016" PRIx64, random);
	nobody.password = true; /* and none is given: no key of ours is shown to it */
	s.opts = *opts;
	s.opts.secret = NULL;
	s.opts.target = &nobody;
	make_line(&l, &s.opts, file, "accept-new", "true");
	rc = ssh_start(&s, &l, a, err);
	if (!rc)
		rc = ut_spawned_finish(&s.program, &text, SCAN_MS, err);
	text.len = 0;
	*key = NULL;
	if (!rc && !ut_folder_read(opts->own, file, UT_SMALL_FILE, &text, NULL) && text.len)
		*key = read_key(a, (struct ut_str){ text.data, text.len });
	if (!rc)
		rc = *key ? read_fingerprint(opts, a, file, fingerprint, err) : ut_ssh_why(&s, err);
	unlinkat(opts->own, file, 0);
	ut_ssh_release(&s);
	ut_buf_release(&text);
	return rc;
}
