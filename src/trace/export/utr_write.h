/*
 * utr_write.h - writes a store as a .utr file: docs/formats/utr.md.
 */
#ifndef UT_EXPORT_UTR_WRITE_H
#define UT_EXPORT_UTR_WRITE_H

struct ut_out;
struct ut_store;

/*
 * Writes a whole file, with the pyramid if s has one. Streams: needs no memory to speak of. Errors
 * stick to out.
 */
void ut_utr_write(const struct ut_store *s, struct ut_out *out);

#endif
