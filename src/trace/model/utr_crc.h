/*
 * utr_crc.h - CRC-32C (Castagnoli), the checksum of .utr files: the processor has an instruction
 * for it, and it finds every error of up to 32 bits in a row. Any thread.
 */
#ifndef UT_MODEL_UTR_CRC_H
#define UT_MODEL_UTR_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what crc stands for (0 = nothing yet) and then these bytes. */
uint32_t ut_utr_crc(uint32_t crc, const void *data, size_t len);

/* The same without the instruction; for processors that lack it, and for the test. */
uint32_t ut_utr_crc_plain(uint32_t crc, const void *data, size_t len);

#endif
