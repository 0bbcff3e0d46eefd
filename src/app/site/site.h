/*
 * site.h - the way into this room: a server of projects and results.
 *
 *     ut_site_open(&site, &opts, &err)     the data directory, secrets, the socket
 *     ut_site_run(site, &stop)             until somebody has had enough
 *     ut_site_close(site)
 *
 * Runs that were started go on when it ends, in whatever way: they have supervisors of their own.
 */
#ifndef UT_SITE_SITE_H
#define UT_SITE_SITE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/logger.h"

struct ut_site;

/* Texts outlive the site. */
struct ut_site_opts {
	uint16_t port;              /* 0 = any that is free */
	const char *data_directory; /* absolute */
	const char *program;        /* our own executable */
	const char *base_url;   /* what browsers call us, behind a proxy; NULL = as they find us */
	const char *cert, *key; /* files; NULL = one of our own, where one is needed */
	bool remote;            /* from other machines, by TLS, too */
	bool profiling;         /* programs may be started */
	bool reset_passphrase;
	uint64_t quota; /* bytes of the data directory; 0 = half of its file system, UINT64_MAX =
			   none */
	const struct ut_logger *logger;
	/* Is this a command line that `record` takes? Words without the program's own name. */
	int (*check_line)(int argc, const char *const *argv, struct ut_err *err);
	/* Is this file, called name in errors, a trace? Looks at its beginning. */
	int (*check_trace)(int fd, const char *name, struct ut_err *err);
};

int ut_site_open(struct ut_site **site, const struct ut_site_opts *opts,
		 struct ut_err *err) UT_MUST_CHECK;
void ut_site_close(struct ut_site *site); /* NULL is fine */

#define UT_SITE_ADDRESS 512

/* Where to look: with a token that works once, as long as there is no passphrase. */
void ut_site_address(struct ut_site *site, char to[UT_SITE_ADDRESS]);

/* Of the certificate, as browsers show it; "" = there is none. */
const char *ut_site_fingerprint(const struct ut_site *site);

void ut_site_run(struct ut_site *site, const volatile sig_atomic_t *stop);

/* A token for scripts, made without a server: it is told once. */
int ut_site_new_token(const char *data_directory, const char *name, char *to, size_t size,
		      struct ut_err *err) UT_MUST_CHECK;

#endif
