/*
 * site_call.h - one request on its way through a route, and what routes need of the site.
 */
#ifndef UT_SITE_SITE_CALL_H
#define UT_SITE_SITE_CALL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "serve/auth.h"
#include "serve/certificate.h"
#include "serve/serve.h"
#include "site/accounts.h"
#include "site/site.h"
#include "site/storage.h"
#include "site/viewers.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/data_dir.h"

struct ut_events;
struct ut_evaluator;

struct ut_site {
	struct ut_site_opts opts;
	struct ut_data_dir data_dir;
	struct ut_storage storage;
	struct ut_accounts *accounts;
	struct ut_viewers *viewers;
	struct ut_events *events;
	struct ut_evaluator *evaluator;
	struct ut_serve *server;
	struct ut_certificate certificate;
	struct ut_auth gate; /* its tokens */
	struct ut_arena arena;
	const struct ut_doc *api; /* the description of the interface, in the arena */
	char cookie[64];          /* its name */
	atomic_bool is_open;      /* all of this is there */
	char prefix[256];         /* of paths, behind a proxy: "" or "/unitrace" */
	char origin[256];         /* what browsers call us then; "" = as they find us */
	char host[256];           /* of it */
	char names[4][256];       /* of this machine, where others may come */
	size_t name_count;
};

#define UT_CALL_ARGS 4u

struct ut_call {
	struct ut_site *site;
	const struct ut_request *request;
	struct ut_reply *reply;
	struct ut_arena *arena;         /* lives until the reply is on its way */
	const char *args[UT_CALL_ARGS]; /* what stood in place of the route's names */
	const char *rest;               /* behind a route that ends with a star */
	const struct ut_doc *body;      /* of JSON; NULL = none */
	struct ut_buf text;             /* the answer, unless the reply has one */
	struct ut_json_writer out;      /* to it */
};

/* 0, or why not: the status follows from the errno, and the sentence is sent. */
typedef int (*ut_call_fn)(struct ut_call *c, struct ut_err *err);

/* Shorthands for the body. A text that is missing is -EINVAL. */
int ut_call_text(const struct ut_call *c, const char *key, const char **to,
		 struct ut_err *err) UT_MUST_CHECK;

/* A password in the body ("password"), "" = none: it is taken out of it, so that it is nowhere
 * else. -EINVAL: too long, or with a line break. */
int ut_call_take_secret(struct ut_call *c, char *to, size_t size, struct ut_err *err) UT_MUST_CHECK;

/* Who asks has been let in, by a cookie or a token. */
bool ut_call_is_known(struct ut_site *site, const struct ut_request *request);

/* Lets in whoever asks: the reply gets a new cookie. */
int ut_call_let_in(struct ut_call *c, struct ut_err *err) UT_MUST_CHECK;

/* What the HTTP server calls, ctx is the site: with the head of a request (0, or the status that
 * refuses it), and with all of it. Fuzzing calls them without a connection. */
int ut_site_begin(void *ctx, const struct ut_request *request, struct ut_body *body);
void ut_site_answer(void *ctx, const struct ut_request *request, struct ut_reply *reply);

/* ---- routes, a file for each subject -------------------------------------------------------- */

#define UT_CALL(name) int name(struct ut_call *c, struct ut_err *err)

/* api_access.c */
UT_CALL(ut_api_server);
UT_CALL(ut_api_login);
UT_CALL(ut_api_logout);
UT_CALL(ut_api_passphrase);
UT_CALL(ut_api_tokens);
UT_CALL(ut_api_new_token);
UT_CALL(ut_api_drop_token);
UT_CALL(ut_api_description);

/* api_projects.c */
UT_CALL(ut_api_tree);
UT_CALL(ut_api_new_project);
UT_CALL(ut_api_change_project);
UT_CALL(ut_api_drop_project);
UT_CALL(ut_api_result);
UT_CALL(ut_api_change_result);
UT_CALL(ut_api_drop_result);
UT_CALL(ut_api_trash);
UT_CALL(ut_api_restore);
UT_CALL(ut_api_empty_trash);

/* api_files.c */
UT_CALL(ut_api_import);
UT_CALL(ut_api_file);
UT_CALL(ut_api_download);
UT_CALL(ut_api_log);
UT_CALL(ut_api_output);

/* api_runs.c */
UT_CALL(ut_api_analyses);
UT_CALL(ut_api_new_analysis);
UT_CALL(ut_api_change_analysis);
UT_CALL(ut_api_drop_analysis);
UT_CALL(ut_api_command);
UT_CALL(ut_api_run);
UT_CALL(ut_api_control);
UT_CALL(ut_api_processes);
UT_CALL(ut_api_folder);

/* api_devices.c */
UT_CALL(ut_api_devices);

/* api_machines.c */
UT_CALL(ut_api_machines);
UT_CALL(ut_api_new_machine);
UT_CALL(ut_api_change_machine);
UT_CALL(ut_api_drop_machine);
UT_CALL(ut_api_test_machine);
UT_CALL(ut_api_remote_processes);
UT_CALL(ut_api_remote_devices);
UT_CALL(ut_api_accept_key);
UT_CALL(ut_api_forget_key);

/* api_view.c */
UT_CALL(ut_api_view);
UT_CALL(ut_api_compare);

/* events.c */
UT_CALL(ut_api_events);

/* pages.c */
UT_CALL(ut_pages_shell);
UT_CALL(ut_pages_asset);

#undef UT_CALL

/* Where the body of an upload goes: the status that refuses it, or 0. */
int ut_files_begin_upload(struct ut_site *site, const struct ut_request *request,
			  struct ut_body *body);

#endif
