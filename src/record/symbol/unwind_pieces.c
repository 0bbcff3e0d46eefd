/*
 * unwind_pieces.c - functions that a compiler has taken apart: what runs often in one place, what
 * runs seldom in another, each with a description of its own. Where the names of the other pieces
 * are stripped, jumps tell: nobody jumps into the middle of a function but the function itself.
 *
 * Nothing here allocates: it works in somebody else's process, too.
 */
#include "symbol/unwind.h"

#include <string.h>

#define TRIED 32u /* places that were jumped to */
#define CHUNK 1024u
#define LONG  6u /* bytes of the longest jump */
#define SURE  2u /* so many places of a piece */

struct search {
	const struct ut_unwind *u;
	struct ut_unwind_piece *pieces;
	size_t count, most;
	struct {
		uint64_t start, target;
	} tried[TRIED];
	size_t tried_count;
};

static bool unwind_pieces_is_known(const struct search *s, uint64_t offset)
{
	for (size_t i = 0; i < s->count; i++) {
		if (offset - s->pieces[i].start < s->pieces[i].size)
			return true;
	}
	return false;
}

/* How many places of the function have been jumped to, this one among them. */
static size_t unwind_pieces_note(struct search *s, uint64_t start, uint64_t target)
{
	size_t places = 0;
	bool known = false;

	for (size_t i = 0; i < s->tried_count; i++) {
		if (s->tried[i].start == start) {
			places++;
			known |= s->tried[i].target == target;
		}
	}
	if (known || s->tried_count == TRIED)
		return places;
	s->tried[s->tried_count].start = start;
	s->tried[s->tried_count++].target = target;
	return places + 1;
}

static void jumps_to(struct search *s, uint64_t target)
{
	uint64_t start, size;

	if (s->count < s->most && !unwind_pieces_is_known(s, target) &&
	    ut_unwind_function(s->u, target, &start, &size) && start != target &&
	    unwind_pieces_note(s, start, target) >= SURE)
		s->pieces[s->count++] = (struct ut_unwind_piece){ start, size };
}

/* Jumps of four bytes that lie in this code; what only looks like one leads nowhere. */
static void unwind_pieces_look_at(struct search *s, const uint8_t *code, size_t len,
				  uint64_t offset)
{
	for (size_t i = 0; i + LONG <= len; i++) {
		bool when = code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80;
		size_t bytes = when ? 6 : 5;
		int32_t away;

		if (!when && code[i] != 0xe9)
			continue;
		memcpy(&away, code + i + bytes - sizeof(away), sizeof(away));
		jumps_to(s, offset + i + bytes + (uint64_t)(int64_t)away);
	}
}

static void unwind_pieces_look_into(struct search *s, const struct ut_unwind_piece *piece)
{
	uint8_t code[CHUNK];

	for (uint64_t at = 0; at + LONG <= piece->size; at += CHUNK - LONG) {
		size_t len = piece->size - at < CHUNK ? (size_t)(piece->size - at) : CHUNK;

		if (ut_unwind_read(s->u, piece->start + at, code, len) != len)
			return;
		unwind_pieces_look_at(s, code, len, piece->start + at);
	}
}

size_t ut_unwind_pieces(const struct ut_unwind *u, uint64_t offset, struct ut_unwind_piece *pieces,
			size_t most)
{
	struct search s = { .u = u, .pieces = pieces, .most = most };
	struct ut_unwind_piece first;

	if (!most || !ut_unwind_function(u, offset, &first.start, &first.size))
		return 0;
	pieces[s.count++] = first;
	for (size_t i = 0; i < s.count; i++)
		unwind_pieces_look_into(&s, &pieces[i]);
	return s.count;
}
