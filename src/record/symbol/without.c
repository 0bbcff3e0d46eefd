/* without.c - in a build without capstone's headers: no assembly. */
#include "symbol/disassemble.h"

#include <errno.h>

int ut_disassemble_check(struct ut_err *err)
{
	return ut_err_set(err, -ENOTSUP,
			  "assembly: this build has no capstone (Debian: libcapstone-dev)");
}

int ut_disassemble(const struct ut_machine_code *code,
		   void (*each)(void *ctx, const struct ut_instruction *i), void *ctx,
		   struct ut_err *err)
{
	(void)code;
	(void)each;
	(void)ctx;
	return ut_disassemble_check(err);
}
