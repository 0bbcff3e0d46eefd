/*
 * hash.h - the one hash function of the program, for tables in memory.
 *
 * Made for short strings (names, domains): up to 16 bytes cost two loads and two multiplications.
 * The value may differ between versions and byte orders: never write it to a file. It does not
 * defend against input that was made to collide.
 */
#ifndef UT_BASE_HASH_H
#define UT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t ut_hash_bytes(const void *data, size_t len);

#endif
