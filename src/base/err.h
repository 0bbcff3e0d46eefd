/*
 * err.h - what went wrong, in words, beside the negative errno that functions return.
 *
 * The caller owns the struct and passes it last; the first text wins, so that the function
 * closest to the trouble names it. NULL is allowed everywhere: then only the code is returned.
 */
#ifndef UT_BASE_ERR_H
#define UT_BASE_ERR_H

#define UT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define UT_MUST_CHECK        __attribute__((warn_unused_result))

struct ut_err {
	int code; /* negative errno of the first failure, 0 = none */
	char text[1024];
};

/* Remembers the text unless there is one already. Returns code, so that callers can return it. */
int ut_err_set(struct ut_err *err, int code, const char *fmt, ...) UT_PRINTF(3, 4);

#endif
