/*
 * embed.h - a file of web/ as bytes of the program, put there by the assembler.
 */
#ifndef UT_TEXT_EMBED_H
#define UT_TEXT_EMBED_H

/* Declares symbol: the text of the file, closed by a NUL. */
#define UT_EMBED(symbol, file)                                                                     \
	__asm__(".pushsection .rodata\n"                                                           \
		".globl " #symbol "\n" #symbol ":\n"                                               \
		".incbin \"" UT_WEB_DIR "/" file "\"\n"                                            \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char symbol[] __attribute__((visibility("hidden")))

/* The same for any bytes, by its whole path: symbol up to symbol_end. */
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
