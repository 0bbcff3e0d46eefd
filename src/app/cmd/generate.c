#include "cmd/generate.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "text/out.h"

static const struct {
	const char *kind;
	const char *file;
	void (*write)(struct ut_out *out);
} shells[] = {
	{ "bash", "unitrace", ut_generate_bash },
	{ "zsh", "_unitrace", ut_generate_zsh },
	{ "fish", "unitrace.fish", ut_generate_fish },
};

static struct ut_out *generate_open_file(struct ut_arena *a, const char *dir, const char *name)
{
	return ut_out_open(ut_path_join(a, dir, name), UT_OUT_OVERWRITE | UT_OUT_RENEW);
}

/* A page that is another one under a second name. */
static int write_man_link(struct ut_arena *a, const char *dir, const char *name,
			  const char *command, struct ut_err *err)
{
	struct ut_out *out = generate_open_file(a, dir, ut_str_fmt(a, "%s.1", name));

	ut_out_fmt(out, ".so man1/unitrace-%s.1\n", command);
	return ut_out_commit(out, err);
}

static bool is_link(const char *name)
{
	const struct ut_cmd_link *link = ut_cmd_links;

	while (link->name && strcmp(link->name, name) != 0)
		link++;
	return link->name != NULL;
}

/* NAME.1, and of NAME.py both: people ask with and without the end. */
static int write_man_links(struct ut_arena *a, const char *dir, struct ut_err *err)
{
	int rc = 0;

	for (const struct ut_cmd_link *link = ut_cmd_links; !rc && link->name; link++) {
		const char *plain = ut_str_fmt(a, "%.*s", (int)strlen(link->name) - 3, link->name);

		rc = write_man_link(a, dir, link->name, link->command, err);
		if (!rc && ut_str_ends(link->name, ".py") && !is_link(plain))
			rc = write_man_link(a, dir, plain, link->command, err);
	}
	return rc;
}

static int write_man(struct ut_arena *a, const char *dir, struct ut_err *err)
{
	struct ut_out *out = generate_open_file(a, dir, "unitrace.1");
	int rc;

	ut_generate_man_program(out);
	rc = ut_out_commit(out, err);
	for (size_t i = 0; !rc && ut_cmds[i]; i++) {
		const struct ut_cmd *cmd = ut_cmds[i];

		out = generate_open_file(a, dir, ut_str_fmt(a, "unitrace-%s.1", cmd->name));
		ut_generate_man(out, cmd, cmd->options(a));
		rc = ut_out_commit(out, err);
	}
	return rc ? rc : write_man_links(a, dir, err);
}

static int write_kind(struct ut_arena *a, const char *kind, const char *dir, struct ut_err *err)
{
	int rc = ut_path_mkdirs(dir, err);

	if (rc)
		return rc;
	if (!strcmp(kind, "man"))
		return write_man(a, dir, err);
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		struct ut_out *out;

		if (strcmp(shells[i].kind, kind))
			continue;
		out = generate_open_file(a, dir, shells[i].file);
		shells[i].write(out);
		return ut_out_commit(out, err);
	}
	return ut_err_set(err, -EINVAL, "--generate writes man, bash, zsh or fish, not '%s'", kind);
}

int ut_generate(int argc, const char *const *argv)
{
	struct ut_arena arena = { 0 };
	struct ut_err err = { 0 };
	int rc;

	if (argc == 2)
		rc = write_kind(&arena, argv[0], argv[1], &err);
	else
		rc = ut_err_set(&err, -EINVAL, "usage: unitrace --generate man|bash|zsh|fish DIR");
	ut_arena_release(&arena);
	if (!rc)
		return UT_EXIT_OK;
	ut_log(UT_ERR, "%s", err.text);
	return rc == -EINVAL ? UT_EXIT_MISUSE : UT_EXIT_FAILED;
}
