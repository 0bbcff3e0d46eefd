/*
 * guess.h - what is meant by a first word that is no command of ours.
 *
 * Nearly always it is the program to record. It is not when it is all but the name of a command and
 * a trace follows (`unitrace stat run.json` would record stat(1), `unitrace convert run.json`
 * ImageMagick), when later versions have a command of that name (`view` would start an editor), or
 * when it is a trace itself. A program that is given by its path, behind "--" or behind "record" is
 * never doubted.
 */
#ifndef UT_CMD_GUESS_H
#define UT_CMD_GUESS_H

#include <stdbool.h>

struct ut_cmd;

/* The command that name was probably meant to be; NULL if none is near. */
const struct ut_cmd *ut_guess_command(const char *name);

/* Is it a trace that an importer of ours reads, or a directory? */
bool ut_guess_is_trace(const char *path);

/* Says that there is no command of this name, and what is near; the exit status. */
int ut_guess_unknown(const char *name);

/*
 * argv[0] is a plain word that is no command. -1: record it as a program. Otherwise the exit
 * status, after the user was told or asked.
 */
int ut_guess_first_word(int argc, const char *const *argv);

#endif
