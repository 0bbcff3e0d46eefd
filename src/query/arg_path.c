#include "query/arg_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

static const char *skip_space(const char *s, const char *end)
{
	while (s < end && isspace((unsigned char)*s))
		s++;
	return s;
}

/* Behind a string; s is on its first quote. */
static const char *skip_string(const char *s, const char *end)
{
	for (s++; s < end && *s != '"'; s++)
		s += *s == '\\' && s + 1 < end;
	return s < end ? s + 1 : s;
}

/* Behind a value of any kind: brackets count, what is in strings does not. */
static const char *skip_value(const char *s, const char *end)
{
	size_t depth = 0;

	while (s < end) {
		if (*s == '"') {
			s = skip_string(s, end);
			continue;
		}
		if (!depth && (*s == ',' || *s == ']' || *s == '}'))
			break;
		depth += *s == '{' || *s == '[';
		depth -= *s == '}' || *s == ']';
		s++;
	}
	return s;
}

static bool find(const char *s, const char *end, const char *path, unsigned int depth,
		 struct ut_str *value);

static bool find_in_array(const char *s, const char *end, const char *path, unsigned int depth,
			  struct ut_str *value)
{
	size_t index;

	if (!ut_arg_path_index(&path, &index))
		return false;
	for (size_t i = 0; s < end && *s != ']'; i++) {
		const char *next = skip_value(s, end);

		if (i == index)
			return find(s, next, path, depth, value);
		s = next < end && *next == ',' ? next + 1 : next;
	}
	return false;
}

static bool find_in_object(const char *s, const char *end, const char *path, unsigned int depth,
			   struct ut_str *value)
{
	path += *path == '.';
	while ((s = skip_space(s, end)) < end && *s == '"') {
		const char *name = s + 1, *behind, *next;

		s = skip_string(s, end);
		if (s - name < 1)
			return false;
		behind = ut_arg_path_behind(path, (struct ut_str){ name, (size_t)(s - name) - 1 });
		s = skip_space(s, end);
		if (s >= end || *s != ':')
			return false;
		next = skip_value(s + 1, end);
		if (behind && find(s + 1, next, behind, depth, value))
			return true;
		s = next < end && *next == ',' ? next + 1 : next;
	}
	return false;
}

static bool find(const char *s, const char *end, const char *path, unsigned int depth,
		 struct ut_str *value)
{
	s = skip_space(s, end);
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
	return find(json.ptr, json.ptr + json.len, path, 0, value);
}
