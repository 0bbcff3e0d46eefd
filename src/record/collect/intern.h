/*
 * intern.h - names: one number for one text, whichever copy of the static part it came from.
 *
 * The number of a string handle or domain is kept in its extra1, which static parts leave at 0.
 * So finding it is one load, also for handles that were made before we came. Nodes are never
 * freed; texts are copied. Any thread, any signal handler; no lock.
 */
#ifndef UT_COLLECT_INTERN_H
#define UT_COLLECT_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "itt/abi.h"
#include "wire/spool.h" /* UT_DOMAIN_UNWANTED */

/* 0 when s is NULL. Without memory all get one number, whose name says so. */
uint32_t ut_intern(const char *s, size_t len);
uint32_t ut_intern_z(const char *s);

/* A number of its own, for something else that begins name: a place (zones.c). */
uint32_t ut_intern_number(void);

/* Never NULL for a name that is not: without memory a spare one is given. */
__itt_string_handle *ut_intern_handle(const char *name);
__itt_domain *ut_intern_domain(const char *name);

/* Numbers a handle or domain that a static part made before we came. */
void ut_intern_adopt_string(__itt_string_handle *handle);
void ut_intern_adopt_domain(__itt_domain *domain);

/* The number of a handle or domain; 0 for NULL. The domain's may be UT_DOMAIN_UNWANTED. */
uint32_t ut_string_id(const __itt_string_handle *handle);
uint32_t ut_domain_id(const __itt_domain *domain);

/* The number of a domain by name; legacy calls have no domain object. */
uint32_t ut_domain_id_by_name(const char *name);

/* A forked child has a spool of its own: defines every name in it again. */
void ut_intern_replay(void);

/* Defines what was named while the spool was not ready yet. */
void ut_intern_catch_up(void);

#endif
