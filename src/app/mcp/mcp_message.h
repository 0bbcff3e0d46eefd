/*
 * mcp_message.h - one message of a client, and the answer to it. No files, no threads: mcp.h has
 * those.
 */
#ifndef UT_MCP_MCP_MESSAGE_H
#define UT_MCP_MCP_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "mcp/mcp.h"
#include "mcp/mcp_folders.h"
#include "mcp/mcp_traces.h"

struct ut_doc;
struct ut_mcp_job;

struct ut_mcp_server {
	struct ut_mcp_folders folders;
	struct ut_mcp_traces traces;
	uint64_t output, timeout;
	_Atomic bool greeted; /* the client has said initialize */
};

int ut_mcp_server_init(struct ut_mcp_server *s, const struct ut_mcp_options *options,
		       struct ut_err *err) UT_MUST_CHECK;
void ut_mcp_server_release(struct ut_mcp_server *s);

/* Everything points into the arena; id NULL: a notification, which nobody answers. */
struct ut_mcp_message {
	struct ut_arena arena;
	const struct ut_doc *id, *params;
	const char *method; /* NULL: it is no request but an answer to one, or nothing at all */
	const char *wrong;  /* NULL: it is what it should be */
	int code;           /* of JSON-RPC, if it is not */
};

/* The text need not live on. */
void ut_mcp_message_read(struct ut_mcp_message *m, struct ut_str text);
void ut_mcp_message_release(struct ut_mcp_message *m);

/* Does it take its time, so that others should not wait for it? */
bool ut_mcp_message_is_call(const struct ut_mcp_message *m);

/* The number or text of two ids is the same. */
bool ut_mcp_same_id(const struct ut_doc *a, const struct ut_doc *b);

/* The answer as one line with its end; nothing, if nothing is to be said. job may be NULL. */
void ut_mcp_answer(struct ut_mcp_server *s, const struct ut_mcp_message *m, struct ut_mcp_job *job,
		   struct ut_buf *to);

/* An error as the answer to a message. */
void ut_mcp_refuse(const struct ut_doc *id, int code, const char *why, struct ut_buf *to);

#define UT_MCP_NO_JSON    (-32700)
#define UT_MCP_NO_REQUEST (-32600)
#define UT_MCP_NO_METHOD  (-32601)
#define UT_MCP_NO_PARAMS  (-32602)
#define UT_MCP_BUSY       (-32000)

#endif
