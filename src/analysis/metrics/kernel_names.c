/*
 * kernel_names.c - under which names tools tell what we want to know of a kernel.
 */
#include "metrics/kernel_facts.h"

#include <string.h>

static const struct {
	const char *name;
	enum ut_kernel_fact fact;
} names[] = {
	/* ours and torch.profiler's */
	{ "registers", UT_FACT_REGISTERS },
	{ "registers per thread", UT_FACT_REGISTERS },
	{ "local memory per thread", UT_FACT_LOCAL },
	{ "shared memory", UT_FACT_SHARED },
	{ "occupancy %", UT_FACT_OCCUPANCY },
	{ "est. achieved occupancy %", UT_FACT_OCCUPANCY }, /* from the launch, not measured */
	/* NVIDIA's counters */
	{ "sm__warps_active.avg.pct_of_peak_sustained_active", UT_FACT_ACHIEVED },
	{ "sm__maximum_warps_per_active_cycle_pct", UT_FACT_OCCUPANCY },
	{ "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", UT_FACT_ACTIVE },
	{ "dram__throughput.avg.pct_of_peak_sustained_elapsed", UT_FACT_DRAM },
	{ "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", UT_FACT_DRAM },
	{ "dramc__throughput.avg.pct_of_peak_sustained_elapsed", UT_FACT_DRAM },
	{ "lts__throughput.avg.pct_of_peak_sustained_elapsed", UT_FACT_L2 },
	{ "l1tex__throughput.avg.pct_of_peak_sustained_active", UT_FACT_L1 },
	{ "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", UT_FACT_L1 },
	{ "sm__throughput.avg.pct_of_peak_sustained_elapsed", UT_FACT_COMPUTE },
	{ "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", UT_FACT_TENSOR },
	{ "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", UT_FACT_TENSOR },
	{ "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
	  UT_FACT_TENSOR },
	{ "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
	  UT_FACT_TENSOR },
	{ "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", UT_FACT_FMA },
	{ "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", UT_FACT_FMA },
	{ "sm__inst_executed_pipe_fmaheavy.avg.pct_of_peak_sustained_active", UT_FACT_FMA_HEAVY },
	{ "sm__inst_executed_pipe_fmaheavy_realtime.avg.pct_of_peak_sustained_elapsed",
	  UT_FACT_FMA_HEAVY },
	{ "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", UT_FACT_FP64 },
	{ "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", UT_FACT_FP64 },
	{ "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", UT_FACT_ALU },
	{ "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", UT_FACT_ALU },
	{ "smsp__issue_active.avg.pct_of_peak_sustained_active", UT_FACT_ISSUE },
	{ "sm__inst_executed.avg.pct_of_peak_sustained_active", UT_FACT_ISSUE },
	{ "sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed", UT_FACT_ISSUE },
	{ "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", UT_FACT_L2 },
	{ "lts__d_sectors.avg.pct_of_peak_sustained_elapsed", UT_FACT_L2 },
	{ "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed", UT_FACT_L2 },
	{ "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed", UT_FACT_L2 },
	{ "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed", UT_FACT_L2 },
	{ "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", UT_FACT_L1 },
	{ "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", UT_FACT_L1 },
	{ "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_active",
	  UT_FACT_SHARED_PATH },
	{ "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
	  UT_FACT_SHARED_PATH },
	{ "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", UT_FACT_SHARED_CYCLES },
	{ "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", UT_FACT_CONFLICT_CYCLES },
	{ "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed", UT_FACT_ATOMICS },
	{ "lts__t_sectors.sum", UT_FACT_L2_SECTORS },
	{ "lts__t_sectors_op_atom.sum", UT_FACT_ATOM_SECTORS },
	{ "lts__t_sectors_op_red.sum", UT_FACT_RED_SECTORS },
	{ "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", UT_FACT_SPECIAL },
	{ "sm__inst_executed_pipe_xu_realtime.avg.pct_of_peak_sustained_elapsed", UT_FACT_SPECIAL },
	{ "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active", UT_FACT_FP16 },
	{ "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed", UT_FACT_FP16 },
	{ "sm__inst_executed_pipe_fp16_realtime.avg.pct_of_peak_sustained_elapsed", UT_FACT_FP16 },
	{ "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active", UT_FACT_FP16 },
	{ "sm__inst_executed_pipe_fma_realtime.avg.pct_of_peak_sustained_elapsed", UT_FACT_FMA },
	{ "sm__inst_executed_pipe_alu_realtime.avg.pct_of_peak_sustained_elapsed", UT_FACT_ALU },
	{ "sm__pipe_fp64_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", UT_FACT_FP64 },
	{ "smsp__thread_inst_executed_per_inst_executed.ratio", UT_FACT_LANES },
	{ "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", UT_FACT_LOAD_BYTES },
	/* Intel's */
	{ "XVE_THREADS_OCCUPANCY_ALL", UT_FACT_ACHIEVED },
	{ "XVE_ACTIVE", UT_FACT_COMPUTE },
	{ "XVE_INST_EXECUTED_XMX_ALL_UTILIZATION", UT_FACT_TENSOR },
	{ "XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION", UT_FACT_FMA },
	{ "XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION", UT_FACT_ALU },
};

/* Some chips offer samples of a counter under the part of the device that takes them. */
static const char *const prefixes[] = { "TPC.TriageCompute.", "SM_A.TriageCompute.",
					"SM_B.TriageCompute.", "SM_C.TriageCompute.",
					"LTS.TriageCompute." };

enum ut_kernel_fact ut_kernel_fact_named(struct ut_str name)
{
	const char *unit = name.len ? memchr(name.ptr, '[', name.len) : NULL;

	if (unit)
		name.len = (size_t)(unit - name.ptr);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (ut_str_has_start(name, prefixes[i])) {
			name.ptr += strlen(prefixes[i]);
			name.len -= strlen(prefixes[i]);
			break;
		}
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ut_str_is(name, names[i].name))
			return names[i].fact;
	}
	return UT_KERNEL_FACTS;
}
