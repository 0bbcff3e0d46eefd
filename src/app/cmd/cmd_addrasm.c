/*
 * cmd_addrasm.c - `unitrace addrasm`: a shader dump with the address of each instruction.
 */
#include "cmd/cmd.h"

#include <errno.h>

#include "base/arena.h"
#include "base/opt.h"
#include "cmd/command_line.h"
#include "metrics/stall_report.h"

struct addrasm_opts {
	const char *output;
	bool help;
};

static const struct ut_opt *addrasm_make_table(struct ut_arena *a, struct addrasm_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->output,
					"where to write it (standard output)"),
			     "<file>"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int cmd_addrasm(int argc, const char *const *argv)
{
	struct addrasm_opts opts = { 0 };
	struct ut_command_line line = { 0 };

	if (ut_command_line_parse(&line, &ut_cmd_addrasm, addrasm_make_table(&line.arena, &opts),
				  &opts.help, argc, argv)) {
		if (line.words.count != 1) {
			ut_err_set(&line.err, -EINVAL, "one shader dump (.asm), please");
			line.status = ut_cmd_misuse(&ut_cmd_addrasm, &line.err);
		} else if (ut_stall_addresses(line.words.items[0], opts.output ? opts.output : "-",
					      &line.err)) {
			line.status = ut_cmd_fail(&ut_cmd_addrasm, &line.err);
		}
	}
	return ut_command_line_end(&line);
}

static const struct ut_opt *addrasm_options(struct ut_arena *a)
{
	return addrasm_make_table(a, UT_NEW(a, struct addrasm_opts));
}

const struct ut_cmd ut_cmd_addrasm = {
	.name = "addrasm",
	.usage = "[-o FILE] DUMP.asm",
	.summary = "write a shader dump of Intel's compiler with the address of each instruction",
	.description =
		"A dump (IGC_ShaderDumpEnable=1) has no addresses, samples of stalls have nothing\n"
		"else. Instructions marked Compacted have 8 bytes, all others 16. What stalls and\n"
		"why is told by unitrace metrics -s, which needs no dump with addresses.",
	.examples =
		"  unitrace addrasm -o kernel.asm.ip dump/OCL_asm05aa3c52_simd32_entry_0001.asm\n",
	.options = addrasm_options,
	.run = cmd_addrasm,
};
