#include "site/routes.h"

#include <string.h>

#include "base/arena.h"

#define GET    UT_METHOD_GET
#define POST   UT_METHOD_POST
#define PUT    UT_METHOD_PUT
#define PATCH  UT_METHOD_PATCH
#define DELETE UT_METHOD_DELETE

#define PROJECT "/api/v1/projects/{project}"
#define RESULT  PROJECT "/results/{result}"

const struct ut_route ut_routes[] = {
	/* who may come in */
	{ GET, UT_ROUTE_OPEN, "/api/v1/server", ut_api_server },
	{ GET, UT_ROUTE_OPEN, "/api/v1/openapi.json", ut_api_description },
	{ POST, UT_ROUTE_OPEN, "/api/v1/login", ut_api_login },
	{ POST, UT_ROUTE_BARE, "/api/v1/logout", ut_api_logout },
	{ PUT, UT_ROUTE_BARE, "/api/v1/passphrase", ut_api_passphrase },
	{ GET, 0, "/api/v1/tokens", ut_api_tokens },
	{ POST, 0, "/api/v1/tokens", ut_api_new_token },
	{ DELETE, 0, "/api/v1/tokens/{name}", ut_api_drop_token },

	/* projects and results */
	{ GET, 0, "/api/v1/projects", ut_api_tree },
	{ POST, 0, "/api/v1/projects", ut_api_new_project },
	{ PATCH, 0, PROJECT, ut_api_change_project },
	{ DELETE, 0, PROJECT, ut_api_drop_project },
	{ POST, UT_ROUTE_UPLOAD, PROJECT "/results", ut_api_import },
	{ GET, 0, RESULT, ut_api_result },
	{ PATCH, 0, RESULT, ut_api_change_result },
	{ DELETE, 0, RESULT, ut_api_drop_result },
	{ GET, 0, RESULT "/files/{file}", ut_api_file },
	{ GET, 0, RESULT "/download", ut_api_download },
	{ GET, 0, RESULT "/log", ut_api_log },
	{ GET, 0, RESULT "/output", ut_api_output },
	{ GET, 0, "/api/v1/trash", ut_api_trash },
	{ POST, 0, "/api/v1/trash/{id}", ut_api_restore },
	{ DELETE, 0, "/api/v1/trash", ut_api_empty_trash },

	/* runs */
	{ GET, 0, "/api/v1/analyses", ut_api_analyses },
	{ POST, 0, "/api/v1/analyses", ut_api_new_analysis },
	{ PUT, 0, "/api/v1/analyses/{title}", ut_api_change_analysis },
	{ DELETE, 0, "/api/v1/analyses/{title}", ut_api_drop_analysis },
	{ POST, 0, "/api/v1/command", ut_api_command },
	{ POST, UT_ROUTE_RUNS, PROJECT "/runs", ut_api_run },
	{ POST, UT_ROUTE_RUNS, RESULT "/control", ut_api_control },
	{ GET, UT_ROUTE_RUNS, "/api/v1/processes", ut_api_processes },
	{ GET, UT_ROUTE_RUNS, "/api/v1/folder", ut_api_folder },
	{ GET, UT_ROUTE_RUNS, "/api/v1/devices", ut_api_devices },

	/* other machines */
	{ GET, UT_ROUTE_RUNS, "/api/v1/machines", ut_api_machines },
	{ POST, UT_ROUTE_RUNS, "/api/v1/machines", ut_api_new_machine },
	{ PUT, UT_ROUTE_RUNS, "/api/v1/machines/{name}", ut_api_change_machine },
	{ DELETE, UT_ROUTE_RUNS, "/api/v1/machines/{name}", ut_api_drop_machine },
	{ POST, UT_ROUTE_RUNS, "/api/v1/machines/{name}/test", ut_api_test_machine },
	{ POST, UT_ROUTE_RUNS, "/api/v1/machines/{name}/processes", ut_api_remote_processes },
	{ POST, UT_ROUTE_RUNS, "/api/v1/machines/{name}/devices", ut_api_remote_devices },
	{ PUT, UT_ROUTE_RUNS, "/api/v1/machines/{name}/key", ut_api_accept_key },
	{ DELETE, UT_ROUTE_RUNS, "/api/v1/machines/{name}/key", ut_api_forget_key },

	/* what happens */
	{ GET, 0, "/api/v1/events", ut_api_events },

	/* looking: the viewer's own questions, see web/src/source/contract.ts */
	{ POST, 0, RESULT "/view/*", ut_api_view },
	{ GET, 0, RESULT "/view/*", ut_api_view },
	{ POST, 0, "/api/v1/compare/{project}/{result}/{beforeProject}/{beforeResult}/*",
	  ut_api_compare },
	{ GET, 0, "/api/v1/compare/{project}/{result}/{beforeProject}/{beforeResult}/*",
	  ut_api_compare },

	/* pages: all of them are one, which asks for the rest */
	{ GET, UT_ROUTE_OPEN | UT_ROUTE_PAGE, "/", ut_pages_shell },
	{ GET, UT_ROUTE_OPEN | UT_ROUTE_PAGE, "/configure", ut_pages_shell },
	{ GET, UT_ROUTE_OPEN | UT_ROUTE_PAGE, "/machines", ut_pages_shell },
	{ GET, UT_ROUTE_OPEN | UT_ROUTE_PAGE, "/settings", ut_pages_shell },
	{ GET, UT_ROUTE_OPEN | UT_ROUTE_PAGE, "/r/{project}/{result}/", ut_pages_shell },
	{ GET, UT_ROUTE_OPEN | UT_ROUTE_PAGE,
	  "/compare/{project}/{result}/{beforeProject}/{beforeResult}/", ut_pages_shell },
	{ GET, UT_ROUTE_OPEN | UT_ROUTE_PAGE, "/assets/{file}", ut_pages_asset },
};

const size_t ut_route_count = sizeof(ut_routes) / sizeof(ut_routes[0]);

/* Does the path fit? What stands for names is put into args. */
static bool routes_fits(const char *route, const char *path, struct ut_arena *a,
			const char *args[UT_CALL_ARGS], const char **rest)
{
	size_t count = 0;

	*rest = "";
	while (*route && *path) {
		if (*route == '{') {
			size_t len = strcspn(path, "/");

			if (!len || count == UT_CALL_ARGS)
				return false;
			args[count++] = ut_arena_copy(a, path, len);
			path += len;
			route = strchr(route, '}') + 1;
		} else if (*route == '*') {
			*rest = path;
			return true;
		} else if (*route++ != *path++) {
			return false;
		}
	}
	return !*route && !*path;
}

const struct ut_route *ut_route_find(enum ut_method method, const char *path, struct ut_arena *a,
				     const char *args[UT_CALL_ARGS], const char **rest, bool *known)
{
	*known = false;
	for (size_t i = 0; i < ut_route_count; i++) {
		if (!routes_fits(ut_routes[i].path, path, a, args, rest))
			continue;
		if (ut_routes[i].method == method)
			return &ut_routes[i];
		*known = true;
	}
	return NULL;
}
