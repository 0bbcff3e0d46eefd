/*
 * head_check.c - heads of requests that two readers could read differently.
 *
 * libmicrohttpd takes the first of several fields, prefers Transfer-Encoding to Content-Length, and
 * takes "Content-Length : 5" for an unknown field. A proxy in front of us may decide otherwise, and
 * then one's body is the other's next request. RFC 9112, 6.3 and 11.2.
 */
#include <string.h>
#include <strings.h>

#include "serve/serve_parts.h"

/* What there is once at most. */
static const char *const single[] = { "Host",      "Content-Length", "Transfer-Encoding",
				      "Origin",    "Authorization",  "Content-Type",
				      "X-Unitrace" };

#define SINGLE (sizeof(single) / sizeof(single[0]))

struct head {
	unsigned int count[SINGLE];
	bool is_bad;
};

/* A letter of a field's name: "token" of RFC 9110. */
static bool is_name_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static enum MHD_Result head_check_look_at(void *ctx, enum MHD_ValueKind kind, const char *name,
					  size_t name_len, const char *value, size_t len)
{
	struct head *h = ctx;

	(void)kind;
	h->is_bad |= !name_len;
	for (size_t i = 0; i < name_len; i++)
		h->is_bad |= !is_name_letter(name[i]);
	for (size_t i = 0; i < len; i++) /* no NUL, no line break */
		h->is_bad |=
			((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f;
	for (size_t i = 0; i < SINGLE; i++) {
		if (name_len != strlen(single[i]) || strncasecmp(name, single[i], name_len) != 0)
			continue;
		h->count[i]++;
		if (i == 2)
			h->is_bad |= len != 7 || strncasecmp(value, "chunked", 7) != 0;
	}
	return MHD_YES;
}

bool ut_head_is_clear(struct MHD_Connection *connection)
{
	struct head h = { 0 };

	ut_mhd.get_connection_values_n(connection, MHD_HEADER_KIND, head_check_look_at, &h);
	for (size_t i = 0; i < SINGLE; i++)
		h.is_bad |= h.count[i] > 1;
	return !h.is_bad && !(h.count[1] && h.count[2]);
}
