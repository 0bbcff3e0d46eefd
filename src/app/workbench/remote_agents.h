/*
 * remote_agents.h - our own files on another machine, one folder for each version that was there:
 * those that nobody needs any more are taken away.
 */
#ifndef UT_WORKBENCH_REMOTE_AGENTS_H
#define UT_WORKBENCH_REMOTE_AGENTS_H

#define UT_REMOTE_AGENTS    "agents" /* in the folder for our files */
#define UT_REMOTE_KEPT_DAYS 7

/*
 * In the agent, whose current folder is the one for our files; program: its executable. Its own
 * version is marked as used. Others go if they look like ours, no process runs from them or has
 * something of them in its memory, and nobody has used them for a week: two servers of different
 * versions would else copy their files in turns.
 */
void ut_remote_agents_tidy(const char *program);

#endif
