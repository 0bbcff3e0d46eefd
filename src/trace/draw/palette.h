/*
 * palette.h - the colours of printed charts: on white paper, told apart by every kind of sight, and
 * dark enough for thin lines. Pages have their own, in web/src/style.css.
 */
#ifndef UT_DRAW_PALETTE_H
#define UT_DRAW_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#define UT_INK_TEXT  0x1a1f26ffu
#define UT_INK_MUTED 0x5b6675ffu
#define UT_INK_FRAME 0x7b8592ffu
#define UT_INK_GRID  0xe1e6ebffu
#define UT_INK_BAND  0xf3f5f8ffu

#define UT_PALETTE 8u

/* The nth colour; after UT_PALETTE of them they begin again. */
static inline uint32_t ut_palette(size_t n)
{
	static const uint32_t colours[UT_PALETTE] = {
		0x0072b2ff, /* blue */
		0xd55e00ff, /* vermilion */
		0x009e73ff, /* green */
		0xcc79a7ff, /* purple */
		0xe69f00ff, /* orange */
		0x56b4e9ff, /* sky */
		0x4d4d4dff, /* grey */
		0x8a6d1fff, /* olive */
	};

	return colours[n % UT_PALETTE];
}

/* The same, let through: 0 to 255. */
static inline uint32_t ut_ink_alpha(uint32_t colour, unsigned int alpha)
{
	return (colour & 0xffffff00u) | (alpha & 0xff);
}

#endif
