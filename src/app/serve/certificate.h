/*
 * certificate.h - the certificate of a server: one that is given, or one of our own that names this
 * machine, signed by itself, which browsers ask about once.
 */
#ifndef UT_SERVE_CERTIFICATE_H
#define UT_SERVE_CERTIFICATE_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* PEM texts, NUL-terminated. Owner: whoever releases it. */
struct ut_certificate {
	struct ut_buf cert, key;
	char fingerprint[96]; /* SHA-256, as browsers show it: AB:CD:... */
};

/* A new one for these names and addresses; good for a year and a little more. */
int ut_certificate_make(struct ut_certificate *c, const char *const *names, size_t count,
			struct ut_err *err) UT_MUST_CHECK;

/* Is the one in c.cert good for another month, and for all of these names? fills fingerprint. */
int ut_certificate_check(struct ut_certificate *c, const char *const *names, size_t count,
			 struct ut_err *err) UT_MUST_CHECK;

void ut_certificate_release(struct ut_certificate *c);

#endif
