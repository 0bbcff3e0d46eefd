#include "sample/folded.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "sample/call_tree.h"
#include "sample/prof.h"
#include "text/out.h"

struct folding {
	struct ut_out *out;
	const struct ut_call_tree *t;
	struct ut_buf line;
	size_t *ends; /* of the line, by depth: how long it is up to there */
	size_t cap;
};

/* What separates frames and lines cannot be in a name. */
static void add_frame(struct ut_buf *b, const struct ut_prof *p, const struct ut_prof_frame *f)
{
	struct ut_str name = ut_prof_text(p, f->function);
	const char *module = ut_path_base(ut_prof_text(p, f->module).ptr);

	if (!f->function) {
		ut_buf_fmt(b, "[%s]", f->module ? module : "unknown");
		return;
	}
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.ptr[i];

		ut_buf_char(b, c == ';' ? ':' : c < ' ' ? ' ' : (char)c);
	}
}

static bool fold(void *ctx, uint32_t node, uint32_t depth)
{
	struct folding *f = ctx;
	const struct ut_tree_node *n = &f->t->nodes[node];

	f->ends = ut_grow(f->ends, depth + 2, &f->cap, sizeof(*f->ends));
	f->line.len = f->ends[depth];
	if (depth)
		ut_buf_char(&f->line, ';');
	add_frame(&f->line, f->t->profile, &f->t->profile->functions[n->function]);
	f->ends[depth + 1] = f->line.len;
	if (n->self) {
		ut_out_write(f->out, f->line.data, f->line.len);
		ut_out_text(f->out, " ");
		ut_out_u64(f->out, n->self);
		ut_out_text(f->out, "\n");
	}
	return true;
}

void ut_folded_write(struct ut_out *out, const struct ut_prof *p)
{
	struct folding f = { .out = out };
	struct ut_call_tree t;

	ut_call_tree_init(&t, p, UT_TREE_STACKS, NULL);
	f.t = &t;
	ut_call_tree_walk(&t, fold, &f);
	if (t.nodes[0].self) {
		ut_out_text(out, "[unknown] ");
		ut_out_u64(out, t.nodes[0].self);
		ut_out_text(out, "\n");
	}
	ut_buf_release(&f.line);
	free(f.ends);
	ut_call_tree_release(&t);
}
