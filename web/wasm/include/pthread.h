/*
 * pthread.h - for a module of one thread: locks are free, and threads cannot be had.
 */
#ifndef UT_WASM_PTHREAD_H
#define UT_WASM_PTHREAD_H

#define __NEED_pthread_t
#define __NEED_pthread_attr_t
#define __NEED_pthread_mutex_t
#define __NEED_pthread_cond_t
#define __NEED_pthread_condattr_t
#define __NEED_pthread_once_t

#include <bits/alltypes.h>
#include <errno.h>

#define PTHREAD_MUTEX_INITIALIZER                                                                  \
	{                                                                                          \
		0                                                                                  \
	}
#define PTHREAD_COND_INITIALIZER                                                                   \
	{                                                                                          \
		0                                                                                  \
	}
#define PTHREAD_ONCE_INIT 0

#define pthread_mutex_init(lock, attr) ((void)(lock), 0)
#define pthread_mutex_lock(lock)       ((void)(lock), 0)
#define pthread_mutex_unlock(lock)     ((void)(lock), 0)
#define pthread_mutex_destroy(lock)    ((void)(lock), 0)
#define pthread_cond_init(cond, attr)  ((void)(cond), 0)
#define pthread_cond_signal(cond)      ((void)(cond), 0)
#define pthread_cond_broadcast(cond)   ((void)(cond), 0)
#define pthread_cond_wait(cond, lock)  ((void)(cond), 0)
#define pthread_cond_destroy(cond)     ((void)(cond), 0)
#define pthread_join(id, result)       ((void)(id), 0)

static inline int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
				 void *ctx)
{
	(void)id;
	(void)attr;
	(void)run;
	(void)ctx;
	return EAGAIN;
}

static inline int pthread_once(pthread_once_t *once, void (*run)(void))
{
	if (!*once) {
		*once = 1;
		run();
	}
	return 0;
}

#endif
