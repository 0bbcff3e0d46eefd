#include "query/arg_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_piece.h"

#define MOST_DEPTH 64u /* of a path */

const char *ut_arg_path_behind(const char *path, struct ut_str key)
{
	if (strncmp(path, key.ptr, key.len) != 0)
		return NULL;
	path += key.len;
	return !*path || *path == '.' || *path == '[' ? path : NULL;
}

bool ut_arg_path_index(const char **path, size_t *index)
{
	char *end;

	if (**path != '[' || !isdigit((unsigned char)(*path)[1]))
		return false;
	*index = strtoull(*path + 1, &end, 10);
	if (*end != ']')
		return false;
	*path = end + 1;
	return true;
}

static bool arg_path_find(const char *s, const char *end, const char *path, unsigned int depth,
			  struct ut_str *value);

static bool find_in_array(const char *s, const char *end, const char *path, unsigned int depth,
			  struct ut_str *value)
{
	size_t index;

	if (!ut_arg_path_index(&path, &index))
		return false;
	for (size_t i = 0; s < end && *s != ']'; i++) {
		const char *next = ut_json_behind_value(s, end);

		if (i == index)
			return arg_path_find(s, next, path, depth, value);
		s = next < end && *next == ',' ? next + 1 : next;
	}
	return false;
}

static bool find_in_object(const char *s, const char *end, const char *path, unsigned int depth,
			   struct ut_str *value)
{
	path += *path == '.';
	while ((s = ut_json_behind_blanks(s, end)) < end && *s == '"') {
		const char *name = s + 1, *behind, *next;

		s = ut_json_behind_string(s, end);
		if (s - name < 1)
			return false;
		behind = ut_arg_path_behind(path, (struct ut_str){ name, (size_t)(s - name) - 1 });
		s = ut_json_behind_blanks(s, end);
		if (s >= end || *s != ':')
			return false;
		next = ut_json_behind_value(s + 1, end);
		if (behind && arg_path_find(s + 1, next, behind, depth, value))
			return true;
		s = next < end && *next == ',' ? next + 1 : next;
	}
	return false;
}

static bool arg_path_find(const char *s, const char *end, const char *path, unsigned int depth,
			  struct ut_str *value)
{
	s = ut_json_behind_blanks(s, end);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	if (s >= end || depth >= MOST_DEPTH)
		return false;
	if (!*path) {
		*value = (struct ut_str){ s, (size_t)(end - s) };
		return true;
	}
	if (*s == '{')
		return find_in_object(s + 1, end, path, depth + 1, value);
	return *s == '[' && find_in_array(s + 1, end, path, depth + 1, value);
}

bool ut_arg_path_find(struct ut_str json, const char *path, struct ut_str *value)
{
	return arg_path_find(json.ptr, json.ptr + json.len, path, 0, value);
}
