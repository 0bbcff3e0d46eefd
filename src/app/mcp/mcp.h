/*
 * mcp.h - a server of the Model Context Protocol: JSON-RPC, a message per line.
 *
 * What a client says is never trusted: messages, answers, traces that are open and the time that
 * SQL may take are bounded, and files are read only below the folders that the user has named.
 * Tools are called one after the other on a thread of their own, so that a client may ping, cancel
 * and ask for more meanwhile.
 */
#ifndef UT_MCP_MCP_H
#define UT_MCP_MCP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define UT_MCP_OUTPUT  (48u << 10) /* bytes of text in an answer */
#define UT_MCP_TIMEOUT 60u         /* s, of SQL */
#define UT_MCP_LINE    (1u << 20)  /* bytes of a message */

struct ut_mcp_options {
	const char *const *folders; /* that traces may be read from: at least one */
	size_t folder_count;
	unsigned int threads; /* 0 = one per core */
	uint64_t output;      /* bytes; 0 = UT_MCP_OUTPUT */
	uint64_t timeout;     /* s; 0 = UT_MCP_TIMEOUT */
};

/* Until the client hangs up; what was asked before is answered. */
int ut_mcp_serve(const struct ut_mcp_options *options, int in, int out,
		 struct ut_err *err) UT_MUST_CHECK;

#endif
