#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int ut_err_set(struct ut_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->text[0])
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}
