#include "symbol/disassemble.h"

#include <capstone.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "base/loaded.h"

static struct {
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_free) free;
	__typeof__(&cs_disasm_iter) disasm_iter;
} cs;

static const struct ut_loaded_function functions[] = {
	{ "cs_open", &cs.open, false },
	{ "cs_close", &cs.close, false },
	{ "cs_malloc", &cs.malloc, false },
	{ "cs_free", &cs.free, false },
	{ "cs_disasm_iter", &cs.disasm_iter, false },
};

static const struct ut_loaded library = {
	.name = "capstone",
	.file = "libcapstone.so." UT_CAPSTONE_ABI,
	.absent = "assembly needs capstone, which is not installed (Debian: "
		  "libcapstone" UT_CAPSTONE_ABI ")",
	.functions = functions,
	.count = sizeof(functions) / sizeof(functions[0]),
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ut_err trouble;
static int loaded;

static void capstone_load(void)
{
	loaded = ut_loaded_open(&library, &trouble);
}

int ut_disassemble_check(struct ut_err *err)
{
	pthread_once(&once, capstone_load);
	return loaded ? ut_err_set(err, -ENOTSUP, "%s", trouble.text) : 0;
}

static int open_for(unsigned int machine, csh *handle)
{
	if (machine == EM_X86_64)
		return cs.open(CS_ARCH_X86, CS_MODE_64, handle);
	if (machine == EM_AARCH64)
		return cs.open(CS_ARCH_ARM64, CS_MODE_ARM, handle);
	return CS_ERR_ARCH;
}

int ut_disassemble(const struct ut_machine_code *c,
		   void (*each)(void *ctx, const struct ut_instruction *i), void *ctx,
		   struct ut_err *err)
{
	const uint8_t *code = c->bytes;
	size_t left = c->size;
	uint64_t at = c->at;
	cs_insn *insn;
	char text[sizeof(insn->mnemonic) + sizeof(insn->op_str) + 2];
	csh handle;
	int rc = ut_disassemble_check(err);

	if (rc)
		return rc;
	if (open_for(c->machine, &handle) != CS_ERR_OK)
		return ut_err_set(err, -ENOTSUP, "assembly of machine %u is not known", c->machine);
	insn = cs.malloc(handle);
	while (left) {
		struct ut_instruction i = { .at = at, .size = 1, .text = text };

		if (cs.disasm_iter(handle, &code, &left, &at, insn)) {
			i.size = insn->size;
			snprintf(text, sizeof(text), "%s%s%s", insn->mnemonic,
				 insn->op_str[0] ? " " : "", insn->op_str);
		} else {
			snprintf(text, sizeof(text), ".byte 0x%02x", *code);
			code++;
			left--;
			at++;
		}
		each(ctx, &i);
	}
	cs.free(insn, 1);
	cs.close(&handle);
	return 0;
}
