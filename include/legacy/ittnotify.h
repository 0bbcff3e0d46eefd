/*
 * legacy/ittnotify.h - where older programs look for the older half of the API.
 *
 * Ours is one header; this one only points at it.
 */
#ifndef _LEGACY_ITTNOTIFY_H_
#define _LEGACY_ITTNOTIFY_H_

#include "../ittnotify.h"

#endif
