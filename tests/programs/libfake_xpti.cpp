// libfake_xpti.cpp - a pretended framework of XPTI, for tests without Intel's packages.
//
// It loads the subscribers that XPTI_SUBSCRIBERS names and has the functions that they use, with
// the data in the shape of the real one: metadata is a std::unordered_map, and objects are returned
// by value. Programs of ours (fake_xpti.h) make it tell what a SYCL runtime would.
#include "fake_xpti.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

struct payload {
	const char *name, *stack_trace, *file;
	uint32_t line, column;
	const void *code;
	uint64_t internal, flags, uid[3];
};

struct object {
	size_t size;
	const char *data;
	uint8_t type;
};

struct fake_event {
	uint64_t id, data, instance;
	uint16_t type, activity;
	uint32_t unused;
	uint64_t source, target;
	payload *place;
	std::unordered_map<uint32_t, int32_t> metadata;
	void *user;
	uint64_t flags;
};

typedef void callback(uint16_t, fake_event *, fake_event *, uint64_t, const void *);
typedef void init_fn(unsigned int, unsigned int, const char *, const char *);
typedef void fini_fn(const char *);

// Never destroyed: threads may tell until the end.
struct state {
	std::mutex lock;
	std::deque<std::string> strings;
	std::map<std::string, uint32_t> numbers;
	std::deque<std::string> bytes;
	std::deque<object> objects;
	std::map<std::string, uint8_t> streams;
	std::map<std::pair<uint8_t, uint16_t>, std::vector<callback *>> callbacks;
	std::vector<void *> subscribers;
	bool loaded = false;
};

static state &all()
{
	static state *one = new state;
	return *one;
}

template <typename F> static F *function(void *library, const char *name)
{
	F *found = nullptr;
	void *symbol = dlsym(library, name);
	static_assert(sizeof(found) == sizeof(symbol), "");
	memcpy(&found, &symbol, sizeof(found));
	return found;
}

static uint32_t number_of(const char *text)
{
	state &s = all();
	auto known = s.numbers.find(text);

	if (known != s.numbers.end())
		return known->second;
	s.strings.push_back(text);
	return s.numbers[text] = static_cast<uint32_t>(s.strings.size());
}

// ---- what subscribers call -------------------------------------------------------------------

EXPORT uint8_t xptiRegisterStream(const char *name)
{
	state &s = all();
	auto known = s.streams.find(name);

	if (known == s.streams.end())
		known = s.streams.emplace(name, static_cast<uint8_t>(s.streams.size() + 1)).first;
	return known->second;
}

EXPORT int32_t xptiRegisterCallback(uint8_t stream, uint16_t point, callback *to)
{
	std::vector<callback *> &list = all().callbacks[{ stream, point }];

	for (callback *c : list) {
		if (c == to)
			return -1;
	}
	list.push_back(to);
	return 0;
}

EXPORT const char *xptiLookupString(uint32_t number)
{
	std::lock_guard<std::mutex> guard(all().lock);

	return number && number <= all().strings.size() ? all().strings[number - 1].c_str()
							: nullptr;
}

EXPORT object xptiLookupObject(int32_t number)
{
	std::lock_guard<std::mutex> guard(all().lock);

	return all().objects.at(static_cast<size_t>(number));
}

EXPORT const payload *xptiQueryPayload(fake_event *event)
{
	return event->place;
}

EXPORT std::unordered_map<uint32_t, int32_t> *xptiQueryMetadata(fake_event *event)
{
	return &event->metadata;
}

// ---- what programs call ----------------------------------------------------------------------

static void load(state &s)
{
	const char *enabled = getenv("XPTI_TRACE_ENABLE"), *list = getenv("XPTI_SUBSCRIBERS");
	std::string words = enabled && !strcmp(enabled, "1") && list ? list : "";

	s.loaded = true;
	while (!words.empty()) {
		size_t comma = words.find(',');
		void *library = dlopen(words.substr(0, comma).c_str(), RTLD_LAZY);

		if (library)
			s.subscribers.push_back(library);
		words = comma == std::string::npos ? "" : words.substr(comma + 1);
	}
}

EXPORT void fake_begin(const char *stream)
{
	state &s = all();

	if (!s.loaded)
		load(s);
	for (void *library : s.subscribers)
		function<init_fn>(library, "xptiTraceInit")(9, 0, "fake 9.0", stream);
}

EXPORT void fake_end(const char *stream)
{
	for (void *library : all().subscribers)
		function<fini_fn>(library, "xptiTraceFinish")(stream);
}

EXPORT fake_event *fake_make(const char *name, const char *file, uint32_t line, uint32_t column)
{
	fake_event *e = new fake_event();

	e->id = reinterpret_cast<uint64_t>(e);
	e->place = new payload();
	e->place->name = strdup(name);
	e->place->file = file ? strdup(file) : "<unknown-file>";
	e->place->line = line;
	e->place->column = column;
	return e;
}

EXPORT void fake_edge(fake_event *edge, const fake_event *from, const fake_event *to)
{
	edge->source = from->id;
	edge->target = to->id;
}

EXPORT void fake_say(fake_event *event, const char *key, int type, const void *data, size_t size)
{
	std::lock_guard<std::mutex> guard(all().lock);
	state &s = all();

	s.bytes.push_back(std::string(static_cast<const char *>(data), size));
	s.objects.push_back(object{ size, s.bytes.back().data(), static_cast<uint8_t>(type) });
	event->metadata[number_of(key)] = static_cast<int32_t>(s.objects.size() - 1);
}

EXPORT void fake_tell(const char *stream, uint16_t point, fake_event *parent, fake_event *event,
		      uint64_t instance, const void *data)
{
	auto known = all().callbacks.find({ all().streams[stream], point });

	if (known == all().callbacks.end())
		return;
	for (callback *c : known->second)
		c(point, parent, event, instance, data);
}
