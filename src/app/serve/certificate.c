#include "serve/certificate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "serve/gnutls.h"

#define DAY      86400
#define LASTS    (397 * DAY) /* the most that browsers take */
#define LEAST    (30 * DAY)
#define PEM_ROOM 8192

/* Every call gives its status; the first failure stays. */
struct making {
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t cert;
	int code;
};

static void certificate_step(struct making *m, int code)
{
	if (m->code >= 0)
		m->code = code;
}

static void certificate_add_name(struct making *m, const char *name)
{
	unsigned char address[16];

	if (inet_pton(AF_INET, name, address) == 1)
		certificate_step(
			m, ut_gnutls.x509_crt_set_subject_alt_name(m->cert, GNUTLS_SAN_IPADDRESS,
								   address, 4, GNUTLS_FSAN_APPEND));
	else if (inet_pton(AF_INET6, name, address) == 1)
		certificate_step(
			m, ut_gnutls.x509_crt_set_subject_alt_name(
				   m->cert, GNUTLS_SAN_IPADDRESS, address, 16, GNUTLS_FSAN_APPEND));
	else
		certificate_step(m, ut_gnutls.x509_crt_set_subject_alt_name(
					    m->cert, GNUTLS_SAN_DNSNAME, name,
					    (unsigned int)strlen(name), GNUTLS_FSAN_APPEND));
}

static void certificate_fill(struct making *m, const char *const *names, size_t count)
{
	static const char who[] = "unitrace";
	unsigned char serial[16];
	time_t now = time(NULL);

	if (getrandom(serial, sizeof(serial), 0) != (ssize_t)sizeof(serial))
		certificate_step(m, GNUTLS_E_RANDOM_FAILED);
	serial[0] = (unsigned char)((serial[0] & 0x3f) |
				    0x40); /* positive, and without leading zeros */
	certificate_step(m, ut_gnutls.x509_crt_set_key(m->cert, m->key));
	certificate_step(m, ut_gnutls.x509_crt_set_version(m->cert, 3));
	certificate_step(m, ut_gnutls.x509_crt_set_serial(m->cert, serial, sizeof(serial)));
	certificate_step(m, ut_gnutls.x509_crt_set_activation_time(m->cert, now - DAY));
	certificate_step(m, ut_gnutls.x509_crt_set_expiration_time(m->cert, now + LASTS));
	certificate_step(m, ut_gnutls.x509_crt_set_dn_by_oid(m->cert, GNUTLS_OID_X520_COMMON_NAME,
							     0, who, sizeof(who) - 1));
	certificate_step(m, ut_gnutls.x509_crt_set_basic_constraints(m->cert, 0, -1));
	certificate_step(m,
			 ut_gnutls.x509_crt_set_key_usage(m->cert, GNUTLS_KEY_DIGITAL_SIGNATURE));
	for (size_t i = 0; i < count; i++)
		certificate_add_name(m, names[i]);
	certificate_step(m,
			 ut_gnutls.x509_crt_sign2(m->cert, m->cert, m->key, GNUTLS_DIG_SHA256, 0));
}

static void export(struct making *m, struct ut_certificate *c)
{
	size_t len = PEM_ROOM;
	char text[PEM_ROOM];

	if (m->code < 0)
		return;
	certificate_step(m, ut_gnutls.x509_crt_export(m->cert, GNUTLS_X509_FMT_PEM, text, &len));
	if (m->code >= 0)
		ut_buf_add(&c->cert, text, len);
	len = PEM_ROOM;
	certificate_step(m, ut_gnutls.x509_privkey_export(m->key, GNUTLS_X509_FMT_PEM, text, &len));
	if (m->code >= 0)
		ut_buf_add(&c->key, text, len);
	explicit_bzero(text, sizeof(text));
}

static void put_fingerprint(struct ut_certificate *c, gnutls_x509_crt_t cert)
{
	unsigned char bytes[32];
	size_t len = sizeof(bytes), at = 0;

	c->fingerprint[0] = '\0';
	if (ut_gnutls.x509_crt_get_fingerprint(cert, GNUTLS_DIG_SHA256, bytes, &len) < 0)
		return;
	for (size_t i = 0; i < len; i++)
		at += (size_t)snprintf(c->fingerprint + at, sizeof(c->fingerprint) - at, "%s%02X",
				       i ? ":" : "", bytes[i]);
}

int ut_certificate_make(struct ut_certificate *c, const char *const *names, size_t count,
			struct ut_err *err)
{
	struct making m = { 0 };
	int rc = ut_gnutls_load(err);

	*c = (struct ut_certificate){ 0 };
	if (rc)
		return rc;
	certificate_step(&m, ut_gnutls.x509_privkey_init(&m.key));
	certificate_step(&m, m.code < 0 ? m.code : ut_gnutls.x509_crt_init(&m.cert));
	if (m.code >= 0) {
		certificate_step(&m, ut_gnutls.x509_privkey_generate(
					     m.key, GNUTLS_PK_ECDSA,
					     GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
		certificate_fill(&m, names, count);
		export(&m, c);
		put_fingerprint(c, m.cert);
	}
	if (m.cert)
		ut_gnutls.x509_crt_deinit(m.cert);
	if (m.key)
		ut_gnutls.x509_privkey_deinit(m.key);
	if (m.code >= 0)
		return 0;
	ut_certificate_release(c);
	return ut_err_set(err, -EIO, "no certificate can be made: %s", ut_gnutls.strerror(m.code));
}

int ut_certificate_check(struct ut_certificate *c, const char *const *names, size_t count,
			 struct ut_err *err)
{
	gnutls_datum_t text = { (unsigned char *)c->cert.data, (unsigned int)c->cert.len };
	gnutls_x509_crt_t cert = NULL;
	int rc = ut_gnutls_load(err), code;

	if (rc)
		return rc;
	code = ut_gnutls.x509_crt_init(&cert);
	if (code >= 0)
		code = ut_gnutls.x509_crt_import(cert, &text, GNUTLS_X509_FMT_PEM);
	if (code < 0)
		rc = ut_err_set(err, -EINVAL, "no certificate: %s", ut_gnutls.strerror(code));
	else if (ut_gnutls.x509_crt_get_expiration_time(cert) < time(NULL) + LEAST)
		rc = ut_err_set(err, -EKEYEXPIRED, "the certificate ends soon");
	for (size_t i = 0; !rc && i < count; i++) {
		if (!ut_gnutls.x509_crt_check_hostname(cert, names[i]))
			rc = ut_err_set(err, -EKEYREJECTED, "the certificate is not for %s",
					names[i]);
	}
	if (code >= 0)
		put_fingerprint(c, cert);
	if (cert)
		ut_gnutls.x509_crt_deinit(cert);
	return rc;
}

void ut_certificate_release(struct ut_certificate *c)
{
	if (c->key.data)
		explicit_bzero(c->key.data, c->key.len);
	ut_buf_release(&c->cert);
	ut_buf_release(&c->key);
}
