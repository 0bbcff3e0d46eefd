/* unit.c - main() of the unit tests of a module; see unit.h */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SKIPPED = 77
};

static int run_in_child(const struct ut_unit_file *file, char *program)
{
	char *argv[] = { program, NULL };
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(file->run(1, argv)); /* not _exit(): leaks are reported at exit */
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror(program);
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int failed = 0, skipped = 0, passed = 0;

	if (argc > 1) {
		for (const struct ut_unit_file *file = ut_unit_files; file->name; file++)
			if (!strcmp(file->name, argv[1])) {
				argv[1] = argv[0];
				return file->run(argc - 1, argv + 1);
			}
		fprintf(stderr, "%s: no file '%s'; there are:", argv[0], argv[1]);
		for (const struct ut_unit_file *file = ut_unit_files; file->name; file++)
			fprintf(stderr, " %s", file->name);
		fputc('\n', stderr);
		return 2;
	}
	for (const struct ut_unit_file *file = ut_unit_files; file->name; file++) {
		int status = run_in_child(file, argv[0]);

		passed += status == 0;
		skipped += status == SKIPPED;
		if (status && status != SKIPPED) {
			fprintf(stderr, "%s failed with status %d\n", file->name, status);
			failed++;
		}
	}
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed != 0;
}
