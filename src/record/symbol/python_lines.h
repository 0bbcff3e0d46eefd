/*
 * python_lines.h - the line of an instruction, as the tables of CPython's code objects tell it.
 */
#ifndef UT_SYMBOL_PYTHON_LINES_H
#define UT_SYMBOL_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* version: 0x0309 and so on. at: bytes from the first instruction; any bytes are safe. */
uint32_t ut_python_line(uint32_t version, const uint8_t *table, size_t len, uint32_t first,
			uint64_t at);

#endif
