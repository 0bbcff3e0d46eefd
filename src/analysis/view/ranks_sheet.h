/*
 * ranks_sheet.h - what ranks do to each other, for the tab Ranks: the tables of `unitrace ranks`
 * about the same traces, and pictures of them.
 */
#ifndef UT_VIEW_RANKS_SHEET_H
#define UT_VIEW_RANKS_SHEET_H

#define UT_RANKS_TOOL "ranks"

struct ut_view;

/* Attaches the sheet, to be made when it is asked for, if there is more than one rank or there are
 * calls between ranks. */
void ut_view_attach_ranks(struct ut_view *v);

#endif
