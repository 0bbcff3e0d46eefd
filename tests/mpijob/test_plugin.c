/*
 * test_plugin.c - tests src/trace/mpijob/mpijob.h over every plugin that was built, with real
 * ranks.
 *
 * Started by ctest it starts itself, four times, under the mpiexec of each MPI: "unit_mpijob plugin
 * FILE" is one rank, which checks what it gets and ends with 1 at the first surprise.
 */
#include "mpijob/load_plugin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "mpijob/mpijob.h"
#include "mpijob/plugin.h"
#include "support/unit.h"

#define RANKS 4

static int failures;

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "rank %d, line %d: not so: %s\n", s->rank, __LINE__,       \
				#what);                                                            \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

static void numbers_are_combined(struct ut_mpijob *s)
{
	uint64_t before = ut_mpijob_before(s, (uint64_t)s->rank + (UINT64_C(1) << 40));

	CHECK(ut_mpijob_max(s, -5 - s->rank) == -5);
	CHECK(before ==
	      (uint64_t)s->rank * (UINT64_C(1) << 40) + (uint64_t)(s->rank * (s->rank - 1) / 2));
	ut_mpijob_barrier(s);
}

static void everybody_hears_rank_0(struct ut_mpijob *s)
{
	size_t len = s->rank ? 77 : 6;
	char *text = ut_mpijob_bcast(s, s->rank ? NULL : "hello", &len);

	CHECK(len == 6 && !strcmp(text, "hello"));
	free(text);
	len = 0;
	text = ut_mpijob_bcast(s, NULL, &len);
	CHECK(len == 0);
	free(text);
}

/* Rank 2 gives nothing, rank 3 a lot. */
static void rank_0_hears_everybody_in_order(struct ut_mpijob *s)
{
	static const size_t lens[RANKS] = { 3, 1, 0, 3000000 };
	char *mine = ut_make(lens[3]);
	struct ut_gathered all;

	memset(mine, 'a' + s->rank, lens[3]);
	ut_mpijob_gather(s, mine, lens[s->rank], &all);
	CHECK(all.count == (s->rank ? 0 : RANKS));
	for (size_t r = 0; r < all.count; r++) {
		CHECK(all.starts[r + 1] - all.starts[r] == lens[r]);
		for (uint64_t i = all.starts[r]; i < all.starts[r + 1]; i++)
			if (all.data[i] != 'a' + (int)r)
				failures++;
	}
	ut_gathered_release(&all);
	free(mine);
}

static void everybody_hears_everybody(struct ut_mpijob *s)
{
	static const char *const said[RANKS] = { "one", "", "three", "4" };
	size_t len = 0;
	char *all = ut_mpijob_share(s, said[s->rank], strlen(said[s->rank]), &len);

	CHECK(len == 9 && !memcmp(all, "onethree4", 9));
	free(all);
}

static void one_failure_is_everybodys(struct ut_mpijob *s)
{
	struct ut_err err = { 0 };
	int rc = 0;

	CHECK(ut_mpijob_agree(s, 0, &err) == 0);
	if (s->rank >= 2)
		rc = ut_err_set(&err, -ENOSPC, "rank %d: disk full", s->rank);
	rc = ut_mpijob_agree(s, rc, &err);
	CHECK(rc == -ENOSPC && !strcmp(err.text, "rank 2: disk full"));
	err = (struct ut_err){ 0 };
	CHECK(ut_mpijob_agree(s, s->rank == 0 ? -EIO : 0, &err) == -EIO);
	CHECK(!strcmp(err.text, strerror(EIO)));
}

static void different_words_are_noticed(struct ut_mpijob *s)
{
	const char *words[] = { "-o", "x", s->rank == 3 ? "b" : "a" };
	struct ut_err err = { 0 };

	CHECK(ut_mpijob_same(s, 2, words, &err) == 0);
	CHECK(ut_mpijob_same(s, 3, words, &err) == -EINVAL && strstr(err.text, "different"));
}

static void pack_text(void *ctx, char **data, size_t *len)
{
	*len = strlen(ctx);
	*data = strdup(ctx);
}

/* Appending is associative, but not commutative: the order shows. */
static int append(void *ctx, const char *data, size_t len, struct ut_err *err)
{
	if (len == 1 && *data == 'x')
		return ut_err_set(err, -EPROTO, "unwanted");
	strncat(ctx, data, len);
	return 0;
}

static void results_are_folded_in_the_order_of_ranks(struct ut_mpijob *s)
{
	char text[64];
	struct ut_fold fold = { .pack = pack_text, .fold = append, .ctx = text };
	struct ut_err err = { 0 };

	snprintf(text, sizeof(text), "<%d>", s->rank);
	CHECK(ut_mpijob_reduce(s, &fold, &err) == 0);
	if (!s->rank)
		CHECK(!strcmp(text, "<0><1><2><3>"));
	strcpy(text, s->rank == 3 ? "x" : "y");
	CHECK(ut_mpijob_reduce(s, &fold, &err) == -EPROTO && !strcmp(err.text, "unwanted"));
}

static int be_a_rank(const char *path)
{
	struct ut_mpijob spread = { .ranks = 1 }, *s = &spread;
	struct ut_err err = { 0 };

	if (ut_mpijob_open(path, &s->mpi, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	CHECK(s->mpi->start(&s->rank, &s->ranks) == 0);
	CHECK(s->ranks == RANKS);
	if (s->ranks == RANKS) {
		numbers_are_combined(s);
		everybody_hears_rank_0(s);
		everybody_hears_everybody(s);
		rank_0_hears_everybody_in_order(s);
		one_failure_is_everybodys(s);
		different_words_are_noticed(s);
		results_are_folded_in_the_order_of_ranks(s);
	}
	ut_mpijob_stop(s);
	return failures != 0;
}

/* The same claims for one process without MPI. */
static void be_alone(void)
{
	struct ut_mpijob spread = { .ranks = 1 }, *s = &spread;
	struct ut_gathered all;
	struct ut_err err = { 0 };
	size_t len = 3;
	char *copy = ut_mpijob_bcast(s, "abc", &len);

	CHECK(len == 3 && !memcmp(copy, "abc", 3));
	free(copy);
	CHECK(ut_mpijob_max(s, -3) == -3 && ut_mpijob_before(s, 9) == 0);
	CHECK(ut_mpijob_agree(s, -EIO, &err) == -EIO && ut_mpijob_agree(s, 0, &err) == 0);
	ut_mpijob_gather(s, "xy", 2, &all);
	CHECK(all.count == 1 && all.starts[1] == 2 && !memcmp(all.data, "xy", 2));
	ut_gathered_release(&all);
	ut_mpijob_stop(s);
}

/* For runs as root, on few cores, and with a leak checker: MPI libraries do not tidy up. */
static void set_environment(void)
{
	const char *asan = getenv("ASAN_OPTIONS");
	char options[1024];

	snprintf(options, sizeof(options), "%s:detect_leaks=0", asan ? asan : "");
	setenv("ASAN_OPTIONS", options, 1);
	setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
	setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
	setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
}

/* -1: there is no such plugin or no such mpiexec. */
static int run_ranks(const char *self, const char *name)
{
	const char *build = getenv("UNITRACE_BUILD");
	char plugin[4096], command[128];
	int status = 1;
	pid_t pid;

	snprintf(plugin, sizeof(plugin), "%s/lib/unitrace/mpi/%s.so", build ? build : "build",
		 name);
	if (access(plugin, R_OK))
		return -1;
	snprintf(command, sizeof(command), "mpiexec.%s", name);
	pid = fork();
	if (!pid) {
		set_environment();
		execlp(command, command, "-n", "4", self, "plugin", plugin, (char *)NULL);
		_exit(77);
	}
	waitpid(pid, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	return status == 77 ? -1 : status;
}

UT_TESTS(plugin)
{
	static const char *const names[] = { "openmpi", "mpich" };
	int ran = 0;

	if (argc > 1)
		return be_a_rank(argv[1]);
	be_alone();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int status = run_ranks(argv[0], names[i]);

		printf("%s: %s\n", names[i],
		       status < 0 ? "SKIP: no plugin or no mpiexec"
		       : status   ? "failed"
				  : "ok");
		ran += status >= 0;
		failures += status > 0;
	}
	return failures ? 1 : ran ? 0 : 77;
}
