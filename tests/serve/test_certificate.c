/* test_certificate.c - tests src/app/serve/certificate.h and secret.h: made here, checked here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/certificate.h"
#include "serve/secret.h"
#include "support/unit.h"

/* Without the library there is nothing to test. */
static bool is_there(void)
{
	char digest[UT_DIGEST];

	return !ut_secret_digest("", digest, NULL);
}

static void a_certificate_is_good_for_its_names_alone(void **state)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "::1", "node-a.example" };
	static const char *const other[] = { "node-b.example" };
	struct ut_certificate c, again;

	(void)state;
	if (!is_there())
		skip();
	assert_int_equal(ut_certificate_make(&c, names, 4, NULL), 0);
	assert_non_null(strstr(c.cert.data, "BEGIN CERTIFICATE"));
	assert_non_null(strstr(c.key.data, "PRIVATE KEY"));
	assert_int_equal(strlen(c.fingerprint), 32 * 3 - 1);
	assert_int_equal(ut_certificate_check(&c, names, 4, NULL), 0);
	assert_int_equal(ut_certificate_check(&c, other, 1, NULL), -EKEYREJECTED);
	assert_int_equal(ut_certificate_make(&again, names, 4, NULL), 0);
	assert_string_not_equal(c.fingerprint, again.fingerprint);
	ut_certificate_release(&again);
	c.cert.data[60] = '!';
	assert_int_equal(ut_certificate_check(&c, names, 4, NULL), -EINVAL);
	ut_certificate_release(&c);
}

static void digests_are_those_that_everybody_has(void **state)
{
	char digest[UT_DIGEST];

	(void)state;
	if (!is_there())
		skip();
	assert_int_equal(ut_secret_digest("abc", digest, NULL), 0);
	assert_string_equal(digest,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	/* RFC 7914, section 11 */
	assert_int_equal(ut_secret_stretch("passwd", "salt", 1, digest, NULL), 0);
	assert_string_equal(digest,
			    "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
}

static void secrets_are_compared_as_a_whole(void **state)
{
	char a[UT_SECRET], b[UT_SECRET];

	(void)state;
	assert_true(ut_secret_make(a));
	assert_true(ut_secret_make(b));
	assert_true(ut_secret_same(a, a));
	assert_false(ut_secret_same(a, b));
	assert_false(ut_secret_same(a, NULL));
	assert_false(ut_secret_same(a, ""));
	assert_false(ut_secret_same("", ""));
	memcpy(b, a, sizeof(b));
	b[31] = b[31] == '0' ? '1' : '0';
	assert_false(ut_secret_same(a, b));
}

UT_TESTS(certificate)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_certificate_is_good_for_its_names_alone),
		cmocka_unit_test(digests_are_those_that_everybody_has),
		cmocka_unit_test(secrets_are_compared_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
