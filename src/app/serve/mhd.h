/*
 * mhd.h - libmicrohttpd, loaded when a server is wanted.
 *
 * It brings GnuTLS and eight more libraries, which take longer to load than most commands take to
 * run; so the program is not linked with it.
 */
#ifndef UT_SERVE_MHD_H
#define UT_SERVE_MHD_H

#include <microhttpd.h>

#include "base/err.h"

/* What we call of it, without the MHD_ in front. */
#define UT_MHD_FUNCTIONS(X)                                                                        \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(get_connection_info)                                                                     \
	X(lookup_connection_value)                                                                 \
	X(get_connection_values_n)                                                                 \
	X(http_unescape)                                                                           \
	X(create_response_from_buffer)                                                             \
	X(create_response_from_callback)                                                           \
	X(add_response_header)                                                                     \
	X(queue_response)                                                                          \
	X(destroy_response)

struct ut_mhd {
#define UT_MHD_MEMBER(name) __typeof__(&MHD_##name) name;
	UT_MHD_FUNCTIONS(UT_MHD_MEMBER)
#undef UT_MHD_MEMBER
};

extern struct ut_mhd ut_mhd; /* complete once ut_mhd_load() has returned 0 */

/* Loads it, the first time. Otherwise err says what to install. */
int ut_mhd_load(struct ut_err *err) UT_MUST_CHECK;

#endif
