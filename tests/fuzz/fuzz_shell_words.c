/* fuzz_shell_words.c - libFuzzer target: any bytes as a file of options. */
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "bytes.h"
#include "text/shell_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_arena a = { 0 };
	struct ut_err err = { 0 };
	const char **words;
	size_t count, line = 0, lines = 1, letters = 0;
	int rc = ut_shell_words(&a, (struct ut_str){ (const char *)data, size }, &words, &count,
				&line, &err);

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	need(!rc || (line >= 1 && line <= lines), "an error is on a line of the text");
	for (size_t i = 0; i < count; i++)
		letters += strlen(words[i]);
	need(letters <= size && !words[count], "words are made of the text");
	ut_arena_release(&a);
	return 0;
}
