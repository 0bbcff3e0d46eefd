/*
 * answers.h - the answers to the viewer's questions, one function each. Nobody outside of this room
 * includes it: ut_view_ask() knows which is which.
 *
 * All return 0, or -EINVAL with a sentence for whoever asked; out is theirs to fill.
 */
#ifndef UT_VIEW_ANSWERS_H
#define UT_VIEW_ANSWERS_H

#include <stdint.h>

#include "base/err.h"

struct ut_ask;
struct ut_out;
struct ut_view;
struct ut_view_row;

/* view_header.c */
int ut_answer_info(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err);
int ut_answer_places(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err);
int ut_answer_types(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err);
int ut_answer_words(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err);

/* lane_items.c */
int ut_answer_window(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err);

/* single.c */
int ut_answer_detail(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err);
int ut_answer_at(struct ut_view *v, const struct ut_ask *a, struct ut_out *out, struct ut_err *err);
int ut_answer_step(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err);

/* arrow_list.c */
int ut_answer_flows(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err);

/* matches.c */
int ut_answer_search(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err);
int ut_answer_find(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err);

/* area.c */
int ut_answer_aggregate(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
			struct ut_err *err);

/* slice_list.c */
int ut_answer_list(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err);

/* findings.c */
int ut_answer_findings(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		       struct ut_err *err);

/* spread.c, calls.c */
int ut_answer_distribution(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
			   struct ut_err *err);
int ut_answer_tree(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err);

/* ask_sql.c, note_file.c */
int ut_answer_sql(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		  struct ut_err *err);
int ut_answer_notes(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err);
int ut_answer_note(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err);

/* attached.c */
int ut_answer_sheet(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err);

/* sample_stacks.c, annotated.c */
int ut_answer_stacks(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err);
int ut_answer_annotate(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		       struct ut_err *err);

/* kernel_code.c */
int ut_answer_stalls(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err);

/* {"id":..., "name":..., ...}: what a list says of an event; the brace stays open if asked. */
void ut_put_ref(struct ut_out *out, const struct ut_view *v, const struct ut_view_row *row,
		int open);

#endif
