/*
 * cmd_serve.c - `unitrace serve`: projects and results in a browser, and programs started from
 * there.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/size.h"
#include "cmd/command_line.h"
#include "cmd/record_options.h"
#include "import/importer.h"
#include "site/site.h"
#include "text/source.h"
#include "view/page.h"
#include "workbench/folder.h"
#include "workbench/supervisor.h"

#define TRACE_HEAD (1u << 20) /* bytes that an import is known by */

#define USUAL_PORT 8080

struct serve_opts {
	uint64_t port;
	const char *data, *base_url, *cert, *key, *new_token;
	const char *keep;
	uint64_t quota;
	bool remote, profiling, reset, help, statistics;
};

static int set_port(void *ctx, const char *value, struct ut_err *err)
{
	struct serve_opts *o = ctx;
	char *end;
	unsigned long port = strtoul(value, &end, 10);

	if (end == value || *end || port > 65535)
		return ut_err_set(err, -EINVAL, "'%s' is not a port from 0 to 65535", value);
	o->port = port;
	return 0;
}

static int set_quota(void *ctx, const char *value, struct ut_err *err)
{
	struct serve_opts *o = ctx;
	int rc = 0;

	if (!strcmp(value, "none"))
		o->quota = UINT64_MAX;
	else
		rc = ut_size_parse(value, &o->quota, err);
	return rc || o->quota ? rc : ut_err_set(err, -EINVAL, "nothing could be kept");
}

static const struct ut_opt *cmd_serve_make_table(struct ut_arena *a, struct serve_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_letter('p',
			      ut_opt_call("web-port", "N", set_port, o,
					  "listen on this port, 0 for one that is free (8080)")),
		ut_opt_words(ut_opt_str(0, "data-directory", "DIR", &o->data,
					"where projects and results lie, and are made "
					"(unitrace-data here, if it is there, else in your home)"),
			     "<dir>"),
		ut_opt_call("data-quota", "SIZE|none", set_quota, o,
			    "disk that it may use; when that is reached, nothing new is taken and "
			    "recordings pause (half of the file system)"),
		ut_opt_flag(0, "allow-remote-access", &o->remote,
			    "listen on all addresses of this machine, with TLS and a passphrase"),
		ut_opt_flag(0, "enable-server-profiling", &o->profiling,
			    "programs may be started from the page, with your rights"),
		ut_opt_flag(0, "reset-passphrase", &o->reset,
			    "forget the passphrase, all who are logged in and all tokens"),
		ut_opt_str(0, "base-url", "URL", &o->base_url,
			   "what browsers call this server, behind a proxy or ssh -L"),
		ut_opt_words(ut_opt_str(0, "tls-cert", "FILE", &o->cert,
					"a certificate of your own (PEM), with its chain"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "tls-key", "FILE", &o->key, "and its key"), "<file>"),
		ut_opt_str(0, "new-token", "NAME", &o->new_token,
			   "make a token for scripts, print it and end"),
		ut_opt_hidden(ut_opt_str(0, "keep", "WHAT", &o->keep,
					 "for ourselves: keep the run in this folder")),
		ut_opt_hidden(ut_opt_flag(0, "usage-statistics-opt-in", &o->statistics,
					  "accepted; there are none")),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = 1;
	signal(number, SIG_DFL); /* the second time is not waited for */
}

/* Where results lie unless somebody says otherwise. */
static const char *usual_folder(struct ut_arena *a)
{
	const char *home = getenv("HOME");

	if (ut_path_is_dir("unitrace-data") || !home || !home[0])
		return ut_path_absolute(a, "unitrace-data");
	return ut_path_join(a, home, "unitrace-data");
}

/* Would `record` take these words? */
static int check_line(int argc, const char *const *argv, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_record_opts o;
	int rc;

	ut_record_opts_init(&o);
	rc = ut_opt_parse(ut_record_table(&arena, &o), argc, argv, err);
	rc = rc < 0 ? rc : ut_record_check(&o, err);
	ut_record_opts_release(&o);
	ut_arena_release(&arena);
	return rc;
}

/* Whoever reads all of it, and may find more that is wrong, is the viewer, in a process of its own.
 */
static int check_trace(int fd, const char *name, struct ut_err *err)
{
	struct ut_source source;
	struct ut_err why = { 0 };
	char path[32];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = ut_source_open_head(&source, path, TRACE_HEAD, &why);
	if (rc) { /* "PATH: what is wrong" */
		size_t own = strncmp(why.text, path, strlen(path)) ? 0 : strlen(path);

		return ut_err_set(err, -EINVAL, "%s%s", name, why.text + own);
	}
	source.path = name;
	if (!ut_importer_of(&source, &why))
		rc = ut_err_set(err, -EINVAL, "%s", why.text);
	else if (source.head_len && source.head[0] == '{' && source.size &&
		 source.size <= TRACE_HEAD &&
		 !ut_importer_sure(ut_importer_of(&source, NULL), &source))
		rc = ut_err_set(err, -EINVAL, "%s: JSON without events; this is no trace", name);
	ut_source_close(&source);
	return rc;
}

static int cmd_serve_check(const struct serve_opts *o, struct ut_err *err)
{
	struct ut_page page;

	if (!o->cert != !o->key)
		return ut_err_set(err, -EINVAL, "--tls-cert and --tls-key belong together");
	if (o->data && !o->data[0])
		return ut_err_set(err, -EINVAL, "--data-directory needs a name that is not empty");
	return ut_page_get_workbench(&page) ? 0 : ut_err_set(err, -ENOTSUP, "%s", ut_page_missing);
}

static void announce(struct ut_site *site, const struct serve_opts *o, const char *data)
{
	char address[UT_SITE_ADDRESS];

	ut_site_address(site, address);
	ut_log(UT_INFO, "serve: results in %s%s", data,
	       o->profiling ? ""
			    : "; looking only: --enable-server-profiling lets it start programs");
	if (ut_site_fingerprint(site)[0])
		ut_log(UT_INFO, "serve: the certificate is %s", ut_site_fingerprint(site));
	ut_log(UT_INFO, "serve: %s%s", address,
	       strstr(address, "token=") ? " (works once; Ctrl-C ends it)" : " (Ctrl-C ends it)");
}

static int serve(const struct serve_opts *o, struct ut_arena *a, struct ut_err *err)
{
	const char *data = o->data ? ut_path_absolute(a, o->data) : usual_folder(a);
	struct sigaction act = { .sa_handler = on_signal };
	char program[PATH_MAX] = "", *real;
	struct ut_site_opts opts = { .port = (uint16_t)o->port,
				     .program = program,
				     .base_url = o->base_url,
				     .cert = o->cert,
				     .key = o->key,
				     .remote = o->remote,
				     .profiling = o->profiling,
				     .reset_passphrase = o->reset,
				     .quota = o->quota,
				     .logger = ut_log_stderr(),
				     .check_line = check_line,
				     .check_trace = check_trace };
	struct ut_site *site;
	struct stat st;
	int rc, fd;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return ut_err_set(err, -errno, "/proc/self/exe: %s", strerror(errno));
	fd = ut_folder_open_top(data, err);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && (st.st_mode & (S_IWGRP | S_IWOTH)))
		ut_log(UT_WARN,
		       "serve: others can write into %s, and change results there; chmod go-w "
		       "takes "
		       "that away",
		       data);
	close(fd);
	real = realpath(data, NULL);
	opts.data_directory = real ? ut_str_fmt(a, "%s", real) : data;
	free(real);
	ut_share_freed();
	rc = ut_site_open(&site, &opts, err);
	if (rc)
		return rc;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	announce(site, o, opts.data_directory);
	ut_site_run(site, &stop);
	ut_site_close(site);
	return 0;
}

static int make_token(const struct serve_opts *o, struct ut_arena *a, struct ut_err *err)
{
	const char *data = o->data ? ut_path_absolute(a, o->data) : usual_folder(a);
	char token[64];
	int rc = ut_site_new_token(data, o->new_token, token, sizeof(token), err);

	if (!rc)
		printf("%s\n", token);
	return rc;
}

static int cmd_serve(int argc, const char *const *argv)
{
	struct serve_opts opts = { .port = USUAL_PORT };
	struct ut_command_line line = { 0 };
	int rc;

	if (ut_command_line_parse(&line, &ut_cmd_serve, cmd_serve_make_table(&line.arena, &opts),
				  &opts.help, argc, argv)) {
		if (opts.keep) {
			line.status = ut_supervisor_run(opts.keep);
			return ut_command_line_end(&line);
		}
		rc = line.words.count ? ut_err_set(&line.err, -EINVAL, "'%s': serve takes no words",
						   line.words.items[0])
				      : cmd_serve_check(&opts, &line.err);
		if (rc == -EINVAL) {
			line.status = ut_cmd_misuse(&ut_cmd_serve, &line.err);
		} else {
			if (!rc)
				rc = opts.new_token ? make_token(&opts, &line.arena, &line.err)
						    : serve(&opts, &line.arena, &line.err);
			line.status = rc ? ut_cmd_fail(&ut_cmd_serve, &line.err) : UT_EXIT_OK;
		}
	}
	return ut_command_line_end(&line);
}

static const struct ut_opt *serve_options(struct ut_arena *a)
{
	return cmd_serve_make_table(a, UT_NEW(a, struct serve_opts));
}

const struct ut_cmd ut_cmd_serve = {
	.name = "serve",
	.usage = "[OPTIONS]",
	.summary = "the page: configure analyses, run them, look at results",
	.description =
		"Serves projects and results to browsers: configure an analysis, run it, watch "
		"it,\n"
		"look at what it recorded, compare runs. A project is a folder in the data\n"
		"directory, a result is a folder in a project: look into them, copy them, put\n"
		"traces there by hand. Runs go on when the server ends, however it ends.\n"
		"\n"
		"Without options it listens on 127.0.0.1 only and shows results. The address it\n"
		"prints works once; set a passphrase in the page to come again. With\n"
		"--allow-remote-access it can be reached from other machines: by TLS, with a\n"
		"certificate of its own unless one is given, and a passphrase must be set first.\n"
		"With --enable-server-profiling whoever is let in can run programs with your\n"
		"rights.",
	.examples = "  look at results, on this machine:\n"
		    "    unitrace serve --data-directory results\n"
		    "  on a server, for a browser at home:\n"
		    "    unitrace serve --web-port=8080 --data-directory ./ --allow-remote-access "
		    "--enable-server-profiling\n"
		    "  a token for scripts:\n"
		    "    unitrace serve --data-directory results --new-token nightly\n",
	.options = serve_options,
	.run = cmd_serve,
};
