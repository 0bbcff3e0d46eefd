#include "symbol/python_frames.h"

#define OF_C_STACK 3u /* owner of a frame: what entered the loop */
#define ALIGNED    (~UINT64_C(7))

uint64_t ut_python_innermost(const struct ut_python_layout *l, const struct ut_python_memory *m,
			     uint64_t thread)
{
	uint64_t frame = 0;

	if (!ut_python_u64(m, thread + l->frame, &frame))
		return 0;
	if (l->frame_indirect && !ut_python_u64(m, frame + l->frame_in, &frame))
		return 0;
	return frame;
}

static uint64_t instruction(const struct ut_python_layout *l, const struct ut_python_memory *m,
			    uint64_t frame, uint64_t code)
{
	uint64_t at = 0;
	uint32_t number = 0;

	if (l->bytecode) {
		if (!ut_python_u64(m, frame + l->instr, &at))
			return UINT64_MAX;
		at -= code + l->bytecode;
	} else {
		if (!ut_python_bytes(m, frame + l->instr, &number, sizeof(number)))
			return UINT64_MAX;
		at = l->version < 0x030a ? number : 2 * (uint64_t)number;
	}
	return at <= INT32_MAX ? at : UINT64_MAX; /* not begun, or it runs a copy of its code */
}

bool ut_python_fingerprint(const struct ut_python_layout *l, const struct ut_python_memory *m,
			   uint64_t code, uint64_t *check)
{
	uint64_t file, name, lines;
	uint32_t first = 0;

	if (!ut_python_u64(m, code + l->file, &file) || !ut_python_u64(m, code + l->name, &name) ||
	    !ut_python_u64(m, code + l->lines, &lines) ||
	    !ut_python_bytes(m, code + l->first_line, &first, sizeof(first)))
		return false;
	*check = (file * 31 + name) * 31 + lines + first;
	return true;
}

bool ut_python_see(const struct ut_python_layout *l, const struct ut_python_memory *m,
		   uint64_t frame, struct ut_python_seen *seen)
{
	uint8_t owner = 0, entry = 0;

	*seen = (struct ut_python_seen){ 0 };
	if (!ut_python_u64(m, frame + l->previous, &seen->previous))
		return false;
	if (l->entry == UT_PYTHON_OWNER &&
	    (!ut_python_bytes(m, frame + l->owner, &owner, 1) || owner >= OF_C_STACK))
		return true;
	if (!ut_python_u64(m, frame + l->code, &seen->code))
		return true;
	seen->code &= ALIGNED;
	seen->at = instruction(l, m, frame, seen->code);
	if (l->entry == UT_PYTHON_FLAG)
		ut_python_bytes(m, frame + l->is_entry, &entry, 1);
	seen->first = l->entry == UT_PYTHON_EACH || entry;
	return true;
}
