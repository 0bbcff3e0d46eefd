/* backend_options.c - see backend_options.h. */
#include "wire/backend_options.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* "BACKEND.KEY=": both of letters, digits, '-' and '_', the key perhaps with further dots. */
static bool is_option(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";
	const char *p = text + strspn(text, letters);

	if (p == text || *p != '.')
		return false;
	while (*p == '.') {
		size_t len = strspn(p + 1, letters);

		if (!len)
			return false;
		p += 1 + len;
	}
	return *p == '=';
}

int ut_backend_option_add(char list[UT_OPTION_BYTES], const char *text)
{
	size_t len = strlen(text) + 1;
	char *p = list;

	if (!is_option(text))
		return -EINVAL;
	while (*p)
		p += strlen(p) + 1;
	if ((size_t)(p - list) + len + 1 > UT_OPTION_BYTES)
		return -ENOSPC;
	memcpy(p, text, len);
	return 0;
}

const char *ut_backend_option(const char list[UT_OPTION_BYTES], const char *key)
{
	const char *found = NULL, *end = list + UT_OPTION_BYTES;
	size_t len = key ? strlen(key) : 0;

	for (const char *p = list; len && p < end && *p; p += strnlen(p, (size_t)(end - p)) + 1) {
		if (!strncmp(p, key, len) && p[len] == '=')
			found = p + len + 1;
	}
	return found;
}
