/*
 * gnutls.h - GnuTLS, loaded when something secret is to be made: libmicrohttpd brings it, too.
 */
#ifndef UT_SERVE_GNUTLS_H
#define UT_SERVE_GNUTLS_H

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "base/err.h"

/* What we call of it, without the gnutls_ in front. */
#define UT_GNUTLS_FUNCTIONS(X)                                                                     \
	X(strerror)                                                                                \
	X(hash_fast)                                                                               \
	X(pbkdf2)                                                                                  \
	X(x509_privkey_init)                                                                       \
	X(x509_privkey_deinit)                                                                     \
	X(x509_privkey_generate)                                                                   \
	X(x509_privkey_export)                                                                     \
	X(x509_crt_init)                                                                           \
	X(x509_crt_deinit)                                                                         \
	X(x509_crt_set_key)                                                                        \
	X(x509_crt_set_version)                                                                    \
	X(x509_crt_set_serial)                                                                     \
	X(x509_crt_set_activation_time)                                                            \
	X(x509_crt_set_expiration_time)                                                            \
	X(x509_crt_get_expiration_time)                                                            \
	X(x509_crt_set_dn_by_oid)                                                                  \
	X(x509_crt_set_subject_alt_name)                                                           \
	X(x509_crt_set_basic_constraints)                                                          \
	X(x509_crt_set_key_usage)                                                                  \
	X(x509_crt_sign2)                                                                          \
	X(x509_crt_export)                                                                         \
	X(x509_crt_import)                                                                         \
	X(x509_crt_check_hostname)                                                                 \
	X(x509_crt_get_fingerprint)

struct ut_gnutls {
#define UT_GNUTLS_MEMBER(name) __typeof__(&gnutls_##name) name;
	UT_GNUTLS_FUNCTIONS(UT_GNUTLS_MEMBER)
#undef UT_GNUTLS_MEMBER
};

extern struct ut_gnutls ut_gnutls; /* complete once ut_gnutls_load() has returned 0 */

/* Loads it, the first time. Otherwise err says what to install. */
int ut_gnutls_load(struct ut_err *err) UT_MUST_CHECK;

#endif
