#include "acelyzer/extra_issue.h"

#include "acelyzer/read_input.h"

const struct ut_ace_issue_kind ut_ace_issue_kinds[UT_ACE_ISSUES] = {
#define KIND(issue, key, severity, base, text, remedy)                                             \
	{ key, text, remedy, UT_ACE_##severity, UT_ACE_OF_##base },
	UT_ACE_ISSUE_LIST(KIND)
#undef KIND
};

const char *const ut_ace_severities[] = { "info", "warning", "error" };
const char *const ut_ace_bases[] = { "", "events", "device spans", "kernels", "files" };

_Static_assert(sizeof(ut_ace_bases) / sizeof(ut_ace_bases[0]) == UT_ACE_BASES,
	       "every base has a word");

void ut_ace_issues_read(uint64_t issues[UT_ACE_ISSUES], const struct ut_ace_part *part)
{
	issues[UT_ACE_ISSUE_CUT_FILE] += part->cut_at != 0;
	issues[UT_ACE_ISSUE_REPAIRED_FILE] += part->repairs != NULL;
	issues[UT_ACE_ISSUE_PROCESSED_FILE] += part->processed;
	issues[UT_ACE_ISSUE_UNREAD_FILE] += part->is_log;
	issues[UT_ACE_ISSUE_NOT_EVENT] += part->not_events;
	issues[UT_ACE_ISSUE_STRAY_END] += part->stray_ends;
	issues[UT_ACE_ISSUE_OPEN_BEGIN] += part->open_begins;
	issues[UT_ACE_ISSUE_NEGATIVE] += part->negative;
	issues[UT_ACE_ISSUE_NO_LENGTH] += part->no_length;
	issues[UT_ACE_ISSUE_ZERO] += part->zero;
	issues[UT_ACE_ISSUE_ZERO_BUSY] += part->zero_busy;
	issues[UT_ACE_ISSUE_BAD_STAMPS] += part->bad_stamps;
}
