/*
 * profile.h - which stages may run: a JSON file {"stages": [{"NAME": true|false}, ...]}.
 *
 * The entries follow the master order; stages that are not listed are off; {} lists all. Names
 * that occur several times in the master order: release 1.0 takes an entry for the next
 * occurrence; release 1.2 matches them one by one if all are listed, otherwise an entry stands
 * for all of them and NAME#2 for the second.
 */
#ifndef UT_ACELYZER_PROFILE_H
#define UT_ACELYZER_PROFILE_H

#include <stdbool.h>

#include "acelyzer/message.h"
#include "acelyzer/options.h"
#include "base/err.h"

#define UT_ACE_MOST_STAGES 80

struct ut_ace_profile {
	bool on[UT_ACE_MOST_STAGES]; /* by place in ut_ace_stages */
};

/* How a profile is read. */
struct ut_ace_profile_rules {
	enum ut_ace_release release; /* as release 1.2 does */
	struct ut_ace_messages *messages;
};

/* All stages, but for those that only verify. */
void ut_ace_profile_all(struct ut_ace_profile *p, enum ut_ace_release release);

/*
 * From a file, or one of the names default.json, everything.json, torch_minimal.json,
 * verification.json if there is no such file.
 */
int ut_ace_profile_read(struct ut_ace_profile *p, const struct ut_ace_profile_rules *r,
			const char *path, struct ut_err *err) UT_MUST_CHECK;

/* From text; name is for messages. */
int ut_ace_profile_text(struct ut_ace_profile *p, const struct ut_ace_profile_rules *r,
			const char *name, const char *text, size_t len,
			struct ut_err *err) UT_MUST_CHECK;

#endif
