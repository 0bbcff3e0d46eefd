#include "workbench/devices.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"
#include "workbench/machines.h"
#include "workbench/spawned.h"

#define ANSWER_MS   20000 /* drivers of many devices take their time */
#define DEVICE      "Device #"
#define NOTE        "unitrace: "
#define NUMBER_MOST (1u << 16)
#define TIME_MOST   (1ull << 40)

/* ---- of this machine ------------------------------------------------------------------------ */

/* "Device #0: [CUDA] NVIDIA H200" */
static void write_device(struct ut_json_writer *w, char *line)
{
	char *end;
	unsigned long number = strtoul(line + strlen(DEVICE), &end, 10);

	if (*end != ':')
		return;
	ut_write_open(w, NULL, '{');
	ut_write_u64(w, "number", number);
	ut_write_text(w, "name", end + 1 + strspn(end + 1, " "));
	ut_write_close(w, '}');
}

/* Why a kind of device is not there. Not all that can be loaded has devices. */
static bool is_about_devices(const char *note)
{
	static const char *const kinds[] = { "cuda:", "levelzero:", "opencl:" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strncmp(note, kinds[i], strlen(kinds[i])))
			return true;
	}
	return false;
}

static char *devices_next_line(char **rest)
{
	char *line = strsep(rest, "\n");

	while (line && !*line)
		line = strsep(rest, "\n");
	return line;
}

static void write_found(struct ut_json_writer *w, const char *key, char *found, char *said)
{
	char *line;

	ut_write_open(w, key, '{');
	ut_write_open(w, "devices", '[');
	while ((line = devices_next_line(&found))) {
		if (!strncmp(line, DEVICE, strlen(DEVICE)))
			write_device(w, line);
	}
	ut_write_close(w, ']');
	ut_write_open(w, "notes", '[');
	while ((line = devices_next_line(&said))) {
		if (!strncmp(line, NOTE, strlen(NOTE)) && is_about_devices(line + strlen(NOTE)))
			ut_write_text(w, NULL, line + strlen(NOTE));
	}
	ut_write_close(w, ']');
	ut_write_close(w, '}');
}

int ut_devices_find(const char *program, int at, struct ut_json_writer *w, const char *key,
		    struct ut_err *err)
{
	const char *const words[] = { program, "--device-list", NULL };
	const char *const settings[] = { NULL };
	struct ut_buf found = { 0 };
	struct ut_spawned p;
	int rc = ut_spawned_start(&p, words, at, settings, err);

	if (rc)
		return rc;
	rc = ut_spawned_finish(&p, &found, ANSWER_MS, err);
	if (!rc) {
		ut_buf_char(&found, '\0');
		ut_buf_char(&p.said, '\0');
		write_found(w, key, found.data, p.said.data);
	}
	ut_buf_release(&found);
	ut_spawned_release(&p);
	return rc;
}

/* ---- of another one ------------------------------------------------------------------------- */

/* One line of text, of a bounded length. The writer sees to what is no UTF-8. */
static void write_reported(struct ut_json_writer *w, const char *key, struct ut_str text)
{
	char line[UT_DEVICE_TEXT_MOST];
	size_t len = text.len < sizeof(line) ? text.len : sizeof(line);

	/* no letter is cut: what follows the cut is not within one */
	while (len && len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
		len--;
	for (size_t i = 0; i < len; i++)
		line[i] =
			(unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f ? ' ' : text.ptr[i];
	ut_write_bytes(w, key, line, len);
}

static const struct ut_doc *devices_first_of(const struct ut_doc *t, const char *key)
{
	const struct ut_doc *list = ut_doc_get(t, key);

	return list && list->kind == UT_DOC_LIST ? list->first : NULL;
}

/* 1: there were more than we take, which is worth a note. */
static size_t write_reported_devices(struct ut_json_writer *w, const struct ut_doc *reported)
{
	size_t count = 0;

	for (const struct ut_doc *d = devices_first_of(reported, "devices"); d; d = d->next) {
		uint64_t number = ut_doc_count(d, "number", NUMBER_MOST, NUMBER_MOST + 1);
		const struct ut_doc *name = ut_doc_get(d, "name");

		if (number > NUMBER_MOST || !name || name->kind != UT_DOC_TEXT)
			continue;
		if (count++ == UT_DEVICES_MOST)
			return 1;
		ut_write_open(w, NULL, '{');
		ut_write_u64(w, "number", number);
		write_reported(w, "name", name->text);
		ut_write_close(w, '}');
	}
	return 0;
}

static void write_members(struct ut_json_writer *w, const struct ut_doc *reported, int64_t asked)
{
	size_t count;

	ut_write_open(w, "devices", '[');
	count = write_reported_devices(w, reported);
	ut_write_close(w, ']');
	ut_write_open(w, "notes", '[');
	if (count)
		ut_write_text(w, NULL, "there are more devices than are listed here");
	for (const struct ut_doc *n = devices_first_of(reported, "notes");
	     n && count < UT_DEVICE_NOTES_MOST; n = n->next) {
		if (n->kind != UT_DOC_TEXT)
			continue;
		write_reported(w, NULL, n->text);
		count++;
	}
	ut_write_close(w, ']');
	ut_write_i64(w, "asked", asked);
}

void ut_devices_write(struct ut_json_writer *w, const char *key, const struct ut_doc *reported,
		      int64_t asked)
{
	ut_write_open(w, key, '{');
	write_members(w, reported, asked);
	ut_write_close(w, '}');
}

/* ---- kept ----------------------------------------------------------------------------------- */

static const char *devices_file_of(struct ut_arena *a, const char *name)
{
	return ut_str_fmt(a, "%s.found", name);
}

/* Which machine it was: who answers at that place, and by which key it is known. */
static const char *devices_place_of(int own, struct ut_arena *a, const struct ut_machine *m)
{
	char at[UT_KEY_NAME];

	ut_machine_key_name(m, at);
	return ut_str_fmt(a, "%s %s %s", at, m->user, ut_machine_key(own, a, m));
}

void ut_devices_keep(int own, const struct ut_machine *m, const struct ut_doc *reported,
		     int64_t asked)
{
	struct ut_arena arena = { 0 };
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	int at = ut_folder_open(own, UT_MACHINES_FOLDER, true, NULL);

	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "of", devices_place_of(own, &arena, m));
	write_members(&w, reported, asked);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	if (at >= 0 && ut_folder_write(at, devices_file_of(&arena, m->name),
				       (struct ut_str){ text.data, text.len }, NULL))
		unlinkat(at, devices_file_of(&arena, m->name),
			 0); /* what it told before is outdated */
	if (at >= 0)
		close(at);
	ut_buf_release(&text);
	ut_arena_release(&arena);
}

void ut_devices_write_kept(int own, const struct ut_machine *m, struct ut_json_writer *w)
{
	struct ut_arena arena = { 0 };
	const struct ut_doc *t = NULL;
	int at = ut_folder_open(own, UT_MACHINES_FOLDER, true, NULL);
	const char *of = NULL;

	if (at >= 0 && !ut_folder_read_doc(at, devices_file_of(&arena, m->name), UT_SMALL_FILE,
					   &arena, &t, NULL))
		of = ut_doc_text(t, "of");
	if (of && !strcmp(of, devices_place_of(own, &arena, m)))
		ut_devices_write(w, "devices", t, (int64_t)ut_doc_count(t, "asked", TIME_MOST, 0));
	if (at >= 0)
		close(at);
	ut_arena_release(&arena);
}

int ut_devices_forget(int own, const char *name, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	int at = ut_folder_open(own, UT_MACHINES_FOLDER, true, err), rc;

	rc = at < 0 ? at : ut_folder_remove(at, devices_file_of(&arena, name), err);
	if (at >= 0)
		close(at);
	ut_arena_release(&arena);
	return rc;
}
