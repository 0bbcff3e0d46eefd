/* libittnotify.h - the name of ittnotify.h in its first years, still included by some programs. */
#ifndef _LIBITTNOTIFY_H_
#define _LIBITTNOTIFY_H_

#include "ittnotify.h"

#endif
