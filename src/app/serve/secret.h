/*
 * secret.h - what must not be guessed, and what is kept of it: random texts, digests, passphrases.
 *
 * All are lower-case hexadecimal digits. Any thread.
 */
#ifndef UT_SERVE_SECRET_H
#define UT_SERVE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define UT_SECRET     33 /* 128 bits: 32 digits and a NUL */
#define UT_DIGEST     65 /* 256 bits */
#define UT_KDF_ROUNDS 600000u

/* False if there are no random numbers to be had. */
bool ut_secret_make(char to[UT_SECRET]);

/* Are these two texts of digits the same? How long that takes says nothing about where they differ.
 * NULL is none. */
bool ut_secret_same(const char *secret, const char *given);

/* SHA-256, for what is random itself: nobody can go through all of it. Needs GnuTLS. */
int ut_secret_digest(const char *secret, char to[UT_DIGEST], struct ut_err *err) UT_MUST_CHECK;

/* PBKDF2 with HMAC-SHA-256, for what people think of; takes a good part of a second on purpose. */
int ut_secret_stretch(const char *passphrase, const char *salt, unsigned int rounds,
		      char to[UT_DIGEST], struct ut_err *err) UT_MUST_CHECK;

#endif
