#include "serve/secret.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static void put_digits(char *to, const unsigned char *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		to[2 * i] = digits[bytes[i] >> 4];
		to[2 * i + 1] = digits[bytes[i] & 15];
	}
	to[2 * count] = '\0';
}

bool ut_secret_make(char to[UT_SECRET])
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	put_digits(to, bytes, sizeof(bytes));
	return true;
}

bool ut_secret_same(const char *secret, const char *given)
{
	size_t len = strlen(secret), has = given ? strlen(given) : 0;
	unsigned int differ = len != has || !len;

	for (size_t i = 0; i < len; i++)
		differ |= (unsigned char)secret[i] ^ (unsigned char)(i < has ? given[i] : 0);
	return !differ;
}

#ifdef UT_GNUTLS_ABI
#include "serve/gnutls.h"

int ut_secret_digest(const char *secret, char to[UT_DIGEST], struct ut_err *err)
{
	unsigned char bytes[32];
	int rc = ut_gnutls_load(err), code;

	if (rc)
		return rc;
	code = ut_gnutls.hash_fast(GNUTLS_DIG_SHA256, secret, strlen(secret), bytes);
	if (code < 0)
		return ut_err_set(err, -EIO, "GnuTLS: %s", ut_gnutls.strerror(code));
	put_digits(to, bytes, sizeof(bytes));
	return 0;
}

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){ .data = (unsigned char *)(size_t)text,
				 .size = (unsigned int)strlen(text) };
}

int ut_secret_stretch(const char *passphrase, const char *salt, unsigned int rounds,
		      char to[UT_DIGEST], struct ut_err *err)
{
	gnutls_datum_t key = datum(passphrase), with = datum(salt);
	unsigned char bytes[32];
	int rc = ut_gnutls_load(err), code;

	if (rc)
		return rc;
	code = ut_gnutls.pbkdf2(GNUTLS_MAC_SHA256, &key, &with, rounds, bytes, sizeof(bytes));
	if (code < 0)
		return ut_err_set(err, -EIO, "GnuTLS: %s", ut_gnutls.strerror(code));
	put_digits(to, bytes, sizeof(bytes));
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}
#else
int ut_secret_digest(const char *secret, char to[UT_DIGEST], struct ut_err *err)
{
	(void)secret;
	to[0] = '\0';
	return ut_err_set(err, -ENOTSUP, "built without GnuTLS");
}

int ut_secret_stretch(const char *passphrase, const char *salt, unsigned int rounds,
		      char to[UT_DIGEST], struct ut_err *err)
{
	(void)salt;
	(void)rounds;
	return ut_secret_digest(passphrase, to, err);
}
#endif
