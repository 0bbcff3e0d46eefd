/*
 * frame.c - what stood around the events of the inputs, joined.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/write_output.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/str.h"

static char *acelyzer_frame_copy(const char *s)
{
	char *c = strdup(s);

	if (!c)
		abort();
	return c;
}

static void acelyzer_frame_set(struct ut_ace_frame *f, const char *key, const char *json)
{
	for (size_t i = 0; i < f->meta_count; i++) {
		if (!strcmp(f->meta[i].key, key)) {
			free(f->meta[i].json);
			f->meta[i].json = acelyzer_frame_copy(json);
			return;
		}
	}
	f->meta = ut_grow(f->meta, f->meta_count + 1, &f->meta_cap, sizeof(*f->meta));
	f->meta[f->meta_count].key = acelyzer_frame_copy(key);
	f->meta[f->meta_count++].json = acelyzer_frame_copy(json);
}

/* A list of devices under construction. */
struct devices {
	struct ut_buf text; /* without the brackets */
	struct ut_buf ids;  /* "|0|1|": those that are there */
};

/* The same object with its id replaced by the rank. */
static void acelyzer_frame_put_device(struct devices *d, struct ut_json *j, int64_t rank)
{
	struct ut_str key, value;
	struct ut_buf one = { 0 }, id = { 0 };
	bool any = false;

	ut_buf_char(&one, '{');
	ut_json_enter(j);
	while (ut_json_member(j, &key) && ut_json_skip(j, &value)) {
		bool is_id = ut_str_is(key, "id");

		ut_buf_fmt(&one, "%s\"%.*s\":", any ? "," : "", (int)key.len, key.ptr);
		any = true;
		if (is_id && rank >= 0)
			ut_buf_fmt(&one, "%" PRId64, rank);
		else
			ut_buf_add(&one, value.ptr, value.len);
		if (is_id && rank >= 0)
			ut_buf_fmt(&id, "|%" PRId64 "|", rank);
		else if (is_id)
			ut_buf_fmt(&id, "|%.*s|", (int)value.len, value.ptr);
	}
	ut_buf_char(&one, '}');
	if (!id.len || !d->ids.len || !strstr(d->ids.data, id.data)) {
		ut_buf_fmt(&d->text, "%s%s", d->text.len ? "," : "", one.data);
		if (id.len)
			ut_buf_text(&d->ids, id.data);
	}
	ut_buf_release(&one);
	ut_buf_release(&id);
}

/* Release 1.2 lists the devices of all files; a file without any counts as one that is empty. */
static void add_devices(struct devices *d, const char *json, int64_t rank)
{
	struct ut_json j;

	ut_json_init_text(&j, json, strlen(json));
	if (ut_json_peek(&j) == '[') {
		ut_json_enter(&j);
		while (ut_json_element(&j)) {
			if (*j.at == '{')
				acelyzer_frame_put_device(d, &j, rank);
			else
				ut_json_skip(&j, NULL);
			if (j.trouble)
				break;
		}
	} else if (ut_json_peek(&j) == '{') {
		acelyzer_frame_put_device(d, &j, rank);
	}
	ut_json_release(&j);
}

void ut_ace_frame_join(struct ut_ace_frame *f, const struct ut_ace_part *parts, size_t count,
		       enum ut_ace_release release)
{
	struct devices d = { 0 };
	struct ut_buf all = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct ut_ace_part *p = &parts[i];
		const char *devices = "[{}]";

		if (p->is_log)
			continue;
		for (size_t k = 0; k < p->meta_count; k++) {
			if (release >= UT_ACE_1_2 && !strcmp(p->meta[k].key, "deviceProperties"))
				devices = p->meta[k].json;
			else
				acelyzer_frame_set(f, p->meta[k].key, p->meta[k].json);
		}
		add_devices(&d, devices, p->dialect == UT_ACE_TORCH ? p->reported_rank : -1);
	}
	if (release >= UT_ACE_1_2) {
		ut_buf_fmt(&all, "[%s]", d.text.data ? d.text.data : "");
		acelyzer_frame_set(f, "deviceProperties", all.data);
	}
	ut_buf_release(&all);
	ut_buf_release(&d.text);
	ut_buf_release(&d.ids);
}

void ut_ace_frame_release(struct ut_ace_frame *f)
{
	for (size_t i = 0; i < f->meta_count; i++) {
		free(f->meta[i].key);
		free(f->meta[i].json);
	}
	free(f->meta);
	f->meta = NULL;
	f->meta_count = f->meta_cap = 0;
}
