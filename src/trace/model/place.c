#include "model/place.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "model/trace.h"

static const char *const kinds[UT_PROCESS_KINDS] = {
#define KIND_NAME(kind, name) name,
	UT_PROCESS_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};

static const char *const device_types[UT_DEVICE_TYPES] = {
#define TYPE_NAME(type, name) name,
	UT_DEVICE_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
};

static const char *const roles[UT_ROLES] = {
#define ROLE_NAME(role, name) name,
	UT_ROLE_LIST(ROLE_NAME)
#undef ROLE_NAME
};

static const struct ut_api_traits apis[UT_APIS] = {
#define API_TRAITS(api, name, title, ...) { name, title, __VA_ARGS__ },
	UT_API_LIST(API_TRAITS)
#undef API_TRAITS
};

/* ---- names --------------------------------------------------------------------------------- */

static uint8_t model_place_number_of(const char *const *names, uint8_t count, struct ut_str s)
{
	for (uint8_t i = 0; i < count; i++) {
		if (s.len == strlen(names[i]) && !memcmp(s.ptr, names[i], s.len))
			return i;
	}
	return 0;
}

const char *ut_process_kind_name(uint8_t kind)
{
	return kinds[kind < UT_PROCESS_KINDS ? kind : UT_PROCESS_UNKNOWN];
}

const char *ut_device_type_name(uint8_t type)
{
	return device_types[type < UT_DEVICE_TYPES ? type : UT_DEVICE_TYPE_UNKNOWN];
}

const char *ut_role_name(uint8_t role)
{
	return roles[role < UT_ROLES ? role : UT_ROLE_UNKNOWN];
}

enum ut_process_kind ut_process_kind_called(struct ut_str name)
{
	return (enum ut_process_kind)model_place_number_of(kinds, UT_PROCESS_KINDS, name);
}

enum ut_device_type ut_device_type_called(struct ut_str name)
{
	return (enum ut_device_type)model_place_number_of(device_types, UT_DEVICE_TYPES, name);
}

enum ut_track_role ut_role_called(struct ut_str name)
{
	return (enum ut_track_role)model_place_number_of(roles, UT_ROLES, name);
}

/* ---- apis ---------------------------------------------------------------------------------- */

static bool model_place_is_called(struct ut_str s, const char *text)
{
	return s.len && s.len == strlen(text) && !strncasecmp(s.ptr, text, s.len);
}

struct ut_api_id ut_api_called(struct ut_strtab *strings, struct ut_str name)
{
	struct ut_api_id id = { .api = UT_API_NONE };

	if (!name.len || model_place_is_called(name, apis[UT_API_NONE].name))
		return id;
	for (int i = UT_API_OTHER + 1; i < UT_APIS; i++) {
		if (model_place_is_called(name, apis[i].name) ||
		    model_place_is_called(name, apis[i].title)) {
			id.api = (uint8_t)i;
			return id;
		}
	}
	id.api = UT_API_OTHER;
	id.text = ut_strtab_intern(strings, name.ptr, name.len);
	return id;
}

const struct ut_api_traits *ut_api_traits(unsigned int api)
{
	return &apis[api < UT_APIS ? api : UT_API_NONE];
}

enum ut_api ut_api_titled(struct ut_str title)
{
	for (int i = UT_API_OTHER + 1; i < UT_APIS; i++) {
		if (ut_str_is(title, apis[i].title))
			return (enum ut_api)i;
	}
	return UT_API_NONE;
}

static bool starts_with_word(struct ut_str s, const char *word)
{
	size_t len = strlen(word);

	return s.len >= len && !strncasecmp(s.ptr, word, len) &&
	       (s.len == len || !isalnum((unsigned char)s.ptr[len]));
}

enum ut_api ut_api_starting(struct ut_str text)
{
	for (int i = UT_API_OTHER + 1; i < UT_APIS; i++) {
		if (starts_with_word(text, apis[i].name) || starts_with_word(text, apis[i].title))
			return (enum ut_api)i;
	}
	return UT_API_NONE;
}

static struct ut_str model_place_text_of(const struct ut_strtab *strings, struct ut_api_id api,
					 bool title)
{
	if (api.api == UT_API_OTHER && api.text)
		return ut_strtab_get(strings, api.text);
	if (api.api == UT_API_NONE || api.api >= UT_APIS)
		return (struct ut_str){ "", 0 };
	return ut_str_of(title ? apis[api.api].title : apis[api.api].name);
}

struct ut_str ut_api_name(const struct ut_strtab *strings, struct ut_api_id api)
{
	return model_place_text_of(strings, api, false);
}

struct ut_str ut_api_title(const struct ut_strtab *strings, struct ut_api_id api)
{
	return model_place_text_of(strings, api, true);
}

/* ---- places -------------------------------------------------------------------------------- */

enum ut_track_role ut_track_role(const struct ut_track *track)
{
	static const uint8_t by_type[] = { [UT_TRACK_THREAD] = UT_ROLE_THREAD,
					   [UT_TRACK_LANE] = UT_ROLE_LANE,
					   [UT_TRACK_ASYNC] = UT_ROLE_ASYNC,
					   [UT_TRACK_COUNTER] = UT_ROLE_COUNTER };

	return (enum ut_track_role)(track->role != UT_ROLE_UNKNOWN ? track->role
								   : by_type[track->type]);
}

bool ut_process_is_described(const struct ut_process *process)
{
	return process->kind > UT_PROCESS_PROGRAM && !process->guessed;
}

bool ut_track_is_described(const struct ut_track *track)
{
	return track->role != UT_ROLE_UNKNOWN && !track->guessed;
}

uint32_t ut_process_shown_name(const struct ut_process *process)
{
	return process->title ? process->title : process->name;
}

bool ut_is_device(const struct ut_trace *trace, uint32_t process)
{
	return trace->processes[process].kind == UT_PROCESS_DEVICE;
}
