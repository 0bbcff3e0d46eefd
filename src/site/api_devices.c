/* api_devices.c - the devices of this machine, as `unitrace --device-list` finds them: in a process
 * of its own, because drivers are not for a server to load. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "site/site_call.h"
#include "workbench/spawned.h"

#define ANSWER_MS 20000 /* drivers of many devices take their time */
#define DEVICE    "Device #"
#define NOTE      "unitrace: "

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

static char *next_line(char **rest)
{
	char *line = strsep(rest, "\n");

	while (line && !*line)
		line = strsep(rest, "\n");
	return line;
}

static void write_found(struct ut_json_writer *w, char *found, char *said)
{
	char *line;

	ut_write_open(w, NULL, '{');
	ut_write_open(w, "devices", '[');
	while ((line = next_line(&found))) {
		if (!strncmp(line, DEVICE, strlen(DEVICE)))
			write_device(w, line);
	}
	ut_write_close(w, ']');
	ut_write_open(w, "notes", '[');
	while ((line = next_line(&said))) {
		if (!strncmp(line, NOTE, strlen(NOTE)) && is_about_devices(line + strlen(NOTE)))
			ut_write_text(w, NULL, line + strlen(NOTE));
	}
	ut_write_close(w, ']');
	ut_write_close(w, '}');
}

int ut_api_devices(struct ut_call *c, struct ut_err *err)
{
	const char *const words[] = { c->site->opts.program, "--device-list", NULL };
	const char *const settings[] = { NULL };
	struct ut_buf found = { 0 };
	struct ut_spawned p;
	int rc = ut_spawned_start(&p, words, c->site->shelf.own, settings, err);

	if (rc)
		return rc;
	rc = ut_spawned_finish(&p, &found, ANSWER_MS, err);
	if (!rc) {
		ut_buf_char(&found, '\0');
		ut_buf_char(&p.said, '\0');
		write_found(&c->out, found.data, p.said.data);
	}
	ut_buf_release(&found);
	ut_spawned_release(&p);
	return rc;
}
