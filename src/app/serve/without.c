/* without.c - stands in for the server where libmicrohttpd is missing. */
#include "serve/serve.h"

#include <errno.h>
#include <string.h>

#include "serve/certificate.h"

int ut_serve_check(struct ut_err *err)
{
	return ut_err_set(err, -ENOTSUP,
			  "built without a server: libmicrohttpd is missing (Debian: "
			  "libmicrohttpd-dev)");
}

int ut_serve_open(struct ut_serve **s, const struct ut_serve_opts *opts, struct ut_err *err)
{
	(void)opts;
	*s = NULL;
	return ut_serve_check(err);
}

void ut_serve_close(struct ut_serve *s)
{
	(void)s;
}

uint16_t ut_serve_port(const struct ut_serve *s)
{
	(void)s;
	return 0;
}

void ut_serve_address(struct ut_serve *s, char to[UT_SERVE_ADDRESS])
{
	(void)s;
	memset(to, 0, UT_SERVE_ADDRESS);
}

void ut_serve_run(struct ut_serve *s, const volatile sig_atomic_t *stop)
{
	(void)s;
	(void)stop;
}

void ut_serve_stop(struct ut_serve *s)
{
	(void)s;
}

void ut_serve_notify(struct ut_serve *s, const char *event, const char *data, size_t len)
{
	(void)s;
	(void)event;
	(void)data;
	(void)len;
}

void ut_request_who(const struct ut_request *r, char to[UT_WHO])
{
	(void)r;
	memset(to, 0, UT_WHO);
}

void ut_request_is_known(const struct ut_request *r)
{
	(void)r;
}

bool ut_serve_is_stopping(const struct ut_serve *s)
{
	(void)s;
	return true;
}

const char *ut_request_header(const struct ut_request *r, const char *name)
{
	(void)r;
	(void)name;
	return NULL;
}

const char *ut_request_cookie(const struct ut_request *r, const char *name)
{
	(void)r;
	(void)name;
	return NULL;
}

const char *ut_request_argument(const struct ut_request *r, const char *name)
{
	(void)r;
	(void)name;
	return NULL;
}

int ut_certificate_make(struct ut_certificate *c, const char *const *names, size_t count,
			struct ut_err *err)
{
	(void)c;
	(void)names;
	(void)count;
	return ut_serve_check(err);
}

int ut_certificate_check(struct ut_certificate *c, const char *const *names, size_t count,
			 struct ut_err *err)
{
	return ut_certificate_make(c, names, count, err);
}

void ut_certificate_release(struct ut_certificate *c)
{
	(void)c;
}
