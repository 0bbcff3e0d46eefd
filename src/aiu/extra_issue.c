#include "aiu/extra_issue.h"

#include "aiu/read.h"

void ut_aiu_issues_read(uint64_t issues[UT_AIU_ISSUES], const struct ut_aiu_part *part)
{
	issues[UT_AIU_ISSUE_CUT_FILE] += part->cut_at != 0;
	issues[UT_AIU_ISSUE_REPAIRED_FILE] += part->repairs != NULL;
	issues[UT_AIU_ISSUE_PROCESSED_FILE] += part->processed;
	issues[UT_AIU_ISSUE_UNREAD_FILE] += part->is_log;
	issues[UT_AIU_ISSUE_NOT_EVENT] += part->not_events;
	issues[UT_AIU_ISSUE_STRAY_END] += part->stray_ends;
	issues[UT_AIU_ISSUE_OPEN_BEGIN] += part->open_begins;
	issues[UT_AIU_ISSUE_NEGATIVE] += part->negative;
	issues[UT_AIU_ISSUE_NO_LENGTH] += part->no_length;
	issues[UT_AIU_ISSUE_ZERO] += part->zero;
	issues[UT_AIU_ISSUE_ZERO_BUSY] += part->zero_busy;
	issues[UT_AIU_ISSUE_BAD_STAMPS] += part->bad_stamps;
}
