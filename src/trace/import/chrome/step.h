/*
 * step.h - from one key to the next, by what followed last time.
 *
 * Events of a file look alike: behind "pid" comes "tid", with the same commas and blanks. A step
 * is the text of a key from the comma in front of it to the value behind it, and what it means.
 * Each step remembers the few that came after it last; if the text is one of them, nothing needs
 * to be scanned or looked up. Inline because it is done for every member of every event.
 */
#ifndef UT_IMPORT_CHROME_STEP_H
#define UT_IMPORT_CHROME_STEP_H

#include <string.h>

#include "base/json_scan.h"
#include "import/chrome/part.h"

/* Scans the key and learns the step. NULL: no more members, or trouble. */
const struct ut_chrome_step *ut_chrome_step_slow(struct ut_chrome *c,
						 const struct ut_chrome_step *from);

/* Is the step what stands at p? Words behind its end fit anything; the window is padded. */
static inline bool ut_chrome_fits(const struct ut_chrome_step *s, const char *p)
{
	uint64_t word;

	for (unsigned int i = 0; i < UT_STEP_WORDS; i++) {
		memcpy(&word, p + 8 * i, 8);
		if ((word & s->mask[i]) != s->text[i])
			return false;
		if (s->len <= 8 * (i + 1))
			return true;
	}
	return true;
}

/* To the value of the next member, as ut_json_member(). from: the step of the member before. */
static inline const struct ut_chrome_step *ut_chrome_step(struct ut_chrome *c,
							  const struct ut_chrome_step *from)
{
	struct ut_json *j = &c->json;
	const struct ut_chrome_step *s = &c->steps[from->next[0]];
	const char *value;

	for (unsigned int way = 1; !ut_chrome_fits(s, j->at); way++) {
		if (way == UT_STEP_WAYS)
			return ut_chrome_step_slow(c, from);
		s = &c->steps[from->next[way]];
	}
	value = j->at + s->len;
	if (j->fresh != s->fresh || !ut_json_starts(*value) || value >= j->end)
		return ut_chrome_step_slow(c, from);
	j->fresh = false;
	j->at = value;
	return s;
}

#endif
