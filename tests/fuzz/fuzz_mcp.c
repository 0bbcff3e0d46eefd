/*
 * fuzz_mcp.c - libFuzzer target: any bytes as messages of an assistant, a line each.
 *
 * The server may read one folder with one trace; beside it lies a file that it must never show,
 * with a link to it inside. What comes out must be nothing, or one line of JSON. SQL that could go
 * on forever is left out: nobody is here who would end it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "mcp/mcp_message.h"
#include "text/json_doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* cairo's fonts keep what they have found, which is not ours. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig\n";
}

static char folder[] = "/tmp/ut_fuzz_mcp.XXXXXX";

static void write_trace(const char *path, const char *name)
{
	FILE *to = fopen(path, "we");

	if (!to)
		abort();
	fprintf(to, "[");
	for (int i = 0; i < 40; i++)
		fprintf(to,
			"{\"ph\":\"X\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":%d,"
			"\"name\":\"%s\"},",
			i % 2, i * 10, i == 7 ? 500 : 5, name);
	fprintf(to, "{\"ph\":\"C\",\"pid\":1,\"ts\":3,\"name\":\"n\",\"args\":{\"v\":1}}]");
	fclose(to);
}

static void clean(void)
{
	char path[64];
	static const char *const files[] = { "in/t.json", "in/link.json", "secret.json", "in" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		remove(path);
	}
	rmdir(folder);
}

static struct ut_mcp_server *get_server(void)
{
	static struct ut_mcp_server server;
	static char in[48];
	static const char *const folders[] = { in };
	const struct ut_mcp_options options = {
		.folders = folders, .folder_count = 1, .threads = 1, .output = 4096
	};
	char path[64], secret[64];

	if (in[0])
		return &server;
	if (!mkdtemp(folder))
		abort();
	atexit(clean);
	snprintf(in, sizeof(in), "%s/in", folder);
	mkdir(in, 0700);
	snprintf(path, sizeof(path), "%s/t.json", in);
	write_trace(path, "step");
	snprintf(secret, sizeof(secret), "%s/secret.json", folder);
	write_trace(secret, "SECRET");
	snprintf(path, sizeof(path), "%s/link.json", in);
	if (symlink(secret, path) || ut_mcp_server_init(&server, &options, NULL))
		abort();
	return &server;
}

/* What can take forever, or all of the memory. */
static bool is_endless(const char *text)
{
	static const char *const words[] = { "recursive", "join", "printf", "format", "blob",
					     "replace",   "from", "pad",    "||",     "generate" };

	if (!strcasestr(text, "sql"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasestr(text, words[i]))
			return true;
	}
	return strstr(text, "\\u"); /* one of them, spelled differently */
}

static void check(const struct ut_buf *answer)
{
	struct ut_arena arena = { 0 };
	const struct ut_doc *root;
	const char *newline = answer->len ? memchr(answer->data, '\n', answer->len) : NULL;

	if (!answer->len)
		return;
	if (newline != answer->data + answer->len - 1)
		abort();
	if (ut_doc_read(&arena, (struct ut_str){ answer->data, answer->len - 1 }, &root, NULL) ||
	    root->kind != UT_DOC_OBJECT || memmem(answer->data, answer->len, "SECRET", 6))
		abort();
	ut_arena_release(&arena);
}

static void report(struct ut_mcp_server *s, struct ut_str line)
{
	struct ut_mcp_message m;
	struct ut_buf answer = { 0 };

	ut_mcp_message_read(&m, line);
	ut_mcp_answer(s, &m, NULL, &answer);
	ut_mcp_message_release(&m);
	check(&answer);
	ut_buf_release(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_mcp_server *s = get_server();
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (char *line = text; line < text + size && !is_endless(text);) {
		char *end = memchr(line, '\n', (size_t)(text + size - line));
		size_t len = end ? (size_t)(end - line) : (size_t)(text + size - line);

		if (!memmem(line, len, "SECRET", 6)) /* what is said may come back */
			report(s, (struct ut_str){ line, len });
		line += len + 1;
	}
	free(text);
	return 0;
}
