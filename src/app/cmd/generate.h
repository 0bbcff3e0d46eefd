/*
 * generate.h - man pages and shell completions, written from the same tables as --help.
 *
 * Hidden behind `unitrace --generate man|bash|zsh|fish DIR`, which the build calls.
 */
#ifndef UT_CMD_GENERATE_H
#define UT_CMD_GENERATE_H

struct ut_cmd;
struct ut_opt;
struct ut_out;

/* argv: kind and directory. Returns the exit status. */
int ut_generate(int argc, const char *const *argv);

/* unitrace.1 */
void ut_generate_man_program(struct ut_out *out);
/* unitrace-COMMAND.1 */
void ut_generate_man(struct ut_out *out, const struct ut_cmd *cmd, const struct ut_opt *table);

void ut_generate_bash(struct ut_out *out);
void ut_generate_zsh(struct ut_out *out);
void ut_generate_fish(struct ut_out *out);

#endif
