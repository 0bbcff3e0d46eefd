/*
 * machines.h - other machines that programs can be run on, and the keys by which they are known.
 *
 *     DATA/.unitrace/machines/NAME.json    one each (NAME.found: see devices.h)
 *     DATA/.unitrace/known_hosts           as ssh has it: "[HOST]:PORT TYPE KEY FINGERPRINT"
 *
 * Passwords are no part of it, and never on disk. What is in a field becomes a word of a command
 * line of ours or nothing at all: names that a shell or ssh could take for something else are
 * refused here, once. Any thread.
 */
#ifndef UT_WORKBENCH_MACHINES_H
#define UT_WORKBENCH_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_arena;
struct ut_doc;
struct ut_json_writer;

#define UT_KNOWN_HOSTS_FILE "known_hosts"
#define UT_MACHINES_FOLDER  "machines"

/* In an arena. */
struct ut_machine {
	const char *name;
	const char *host;     /* a name, an address, or an alias of the user's ssh_config */
	const char *user;     /* "" = as ssh has it */
	const char *identity; /* the file of a key; "" = an agent's, or the usual files */
	const char *folder;   /* there, for our files; "" = .cache/unitrace in the home folder */
	uint64_t port;        /* 0 = as ssh has it */
	bool password;        /* it lets people in by a password */
};

/* own is the server's folder in the data directory, here and below. -EINVAL: which field is wrong,
 * and why. */
int ut_machine_read(struct ut_arena *a, const struct ut_doc *t, struct ut_machine *to,
		    struct ut_err *err) UT_MUST_CHECK;
void ut_machine_write(const struct ut_machine *t, struct ut_json_writer *w); /* members */

/* -ENOENT: there is none of that name. */
int ut_machine_find(int own, struct ut_arena *a, const char *name, struct ut_machine *to,
		    struct ut_err *err) UT_MUST_CHECK;

/* A list; each has its key's fingerprint, too, and its devices if they are known. */
int ut_machines_write(int own, struct ut_json_writer *w, struct ut_err *err) UT_MUST_CHECK;

/* -EEXIST: there is one of that name, unless it is to be replaced (then -ENOENT if there is none).
 */
int ut_machines_save(int own, const struct ut_machine *t, bool replace,
		     struct ut_err *err) UT_MUST_CHECK;
int ut_machines_remove(int own, const char *name, struct ut_err *err) UT_MUST_CHECK;

/* ---- keys ----------------------------------------------------------------------------------- */

#define UT_KEY_NAME 300

/* What a machine's key is filed under: "[HOST]:PORT". */
void ut_machine_key_name(const struct ut_machine *t, char to[UT_KEY_NAME]);

/* The fingerprint of the key that was accepted; "" = none was. In the arena. */
const char *ut_machine_key(int own, struct ut_arena *a, const struct ut_machine *t);

/* key: "TYPE KEY". It replaces any other of this machine; NULL forgets it. */
int ut_machine_set_key(int own, const struct ut_machine *t, const char *key,
		       const char *fingerprint, struct ut_err *err) UT_MUST_CHECK;

#endif
