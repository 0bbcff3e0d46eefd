/*
 * embed.h - a file as bytes of the program, put there by the assembler.
 */
#ifndef UT_TEXT_EMBED_H
#define UT_TEXT_EMBED_H

/* The bytes of the file at this path: symbol up to symbol_end, and a NUL behind them. */
#define UT_EMBED_BYTES(symbol, path)                                                               \
	__asm__(".pushsection .rodata\n"                                                           \
		".globl " #symbol "\n" #symbol ":\n"                                               \
		".incbin \"" path "\"\n"                                                           \
		".globl " #symbol "_end\n" #symbol "_end:\n"                                       \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char symbol[] __attribute__((visibility("hidden")));                          \
	extern const char symbol##_end[] __attribute__((visibility("hidden")))

#endif
