/*
 * levelzero_inject.h - how the backend for Level Zero gets in: in the place of a driver.
 *
 * A loader takes the drivers that ZE_ENABLE_ALT_DRIVERS lists instead of those that it knows. Each
 * driver of GPUs, or each that the user has listed, is replaced by our backend, which hands on to
 * it; the session directory says which one stands for which: levelzero/drivers has lines of a path
 * of ours, a tab and a driver. Where there are several, each has a copy of the backend, because a
 * library is loaded once. Drivers of other devices stay as they are, in their order.
 */
#ifndef UT_LAUNCH_LEVELZERO_INJECT_H
#define UT_LAUNCH_LEVELZERO_INJECT_H

#include <stdbool.h>

struct ut_inject;
struct ut_env;

/* Is there a driver of GPUs, or one that the user has listed? */
bool ut_levelzero_inject_has_driver(void);

/* Sets the variable. backend is the library. */
void ut_levelzero_inject_set_env(const struct ut_inject *d, struct ut_env *env,
				 const char *backend);

#endif
