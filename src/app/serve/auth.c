#include "serve/auth.h"

#include <string.h>
#include <strings.h>

bool ut_auth_init(struct ut_auth *g)
{
	*g = (struct ut_auth){ 0 };
	pthread_mutex_init(&g->lock, NULL);
	return ut_secret_make(g->cookie);
}

void ut_auth_release(struct ut_auth *g)
{
	pthread_mutex_destroy(&g->lock);
	explicit_bzero(g->cookie, sizeof(g->cookie));
	explicit_bzero(g->tokens, sizeof(g->tokens));
	explicit_bzero(&g->last, sizeof(g->last));
}

void ut_auth_add_token(struct ut_auth *g, char to[UT_SECRET])
{
	if (!ut_secret_make(to)) {
		to[0] = '\0';
		return;
	}
	pthread_mutex_lock(&g->lock);
	memmove(g->tokens[1], g->tokens[0], (UT_TOKENS_MOST - 1) * sizeof(g->tokens[0]));
	memcpy(g->tokens[0], to, UT_SECRET);
	pthread_mutex_unlock(&g->lock);
}

bool ut_auth_use_token(struct ut_auth *g, const char *token)
{
	bool found = false;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < UT_TOKENS_MOST; i++) {
		if (!g->tokens[i][0] || !ut_secret_same(g->tokens[i], token))
			continue;
		explicit_bzero(g->tokens[i], sizeof(g->tokens[i]));
		found = true;
	}
	pthread_mutex_unlock(&g->lock);
	return found;
}

static bool auth_is_name(const char *browser)
{
	return browser && strlen(browser) == UT_SECRET - 1 &&
	       strspn(browser, "0123456789abcdef") == UT_SECRET - 1;
}

bool ut_auth_exchange_token(struct ut_auth *g, const char *token, const char *browser, int64_t now)
{
	bool named = auth_is_name(browser), again;

	if (!token)
		return false;
	pthread_mutex_lock(&g->lock);
	again = named && now < g->last.until && ut_secret_same(g->last.token, token) &&
		ut_secret_same(g->last.browser, browser);
	pthread_mutex_unlock(&g->lock);
	if (again || !ut_auth_use_token(g, token))
		return again;
	if (named) { /* only one who has just had it: the minute is not renewed */
		pthread_mutex_lock(&g->lock);
		g->last = (struct ut_exchange){ .until = now + UT_EXCHANGE_S };
		memcpy(g->last.token, token, UT_SECRET);
		memcpy(g->last.browser, browser, UT_SECRET);
		pthread_mutex_unlock(&g->lock);
	}
	return true;
}

bool ut_auth_has_cookie(struct ut_auth *g, const char *cookie)
{
	return ut_secret_same(g->cookie, cookie);
}

bool ut_auth_is_local_host(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; host && i < 3; i++) {
		size_t len = strlen(names[i]);

		if (strncasecmp(host, names[i], len) != 0)
			continue;
		if (!host[len])
			return true;
		if (host[len] == ':' &&
		    strspn(host + len + 1, "0123456789") == strlen(host + len + 1))
			return true;
	}
	return false;
}

bool ut_auth_is_same_origin(const char *origin, const char *host, bool is_tls)
{
	const char *scheme = is_tls ? "https://" : "http://";
	size_t len = strlen(scheme);

	return !origin ||
	       (host && !strncasecmp(origin, scheme, len) && !strcasecmp(origin + len, host));
}
