#!/usr/bin/env python3
"""What unitrace says of kernels with one known limit each (limited.cu), on a real NVIDIA GPU: right with -q, and
never wrong with -k or --stall-sampling alone, where "not measured" is an answer.

    UNITRACE_BUILD=build python3 tests/device/test_bottlenecks.py

At the end is a table of the verdicts of each way to record, with ! at those that are wrong, and how many are right.
LIMITED=PROGRAM is limited.cu compiled elsewhere (nvcc -O2 -lineinfo -gencode arch=compute_90,code=sm_90, static
runtime); without it, nvcc is needed. VERDICTS=FOLDER keeps verdicts.json (every verdict, what else was found and all
facts), verdicts.txt, the recordings and the chip's counters with their passes; PROBE=1 records more counters than
the default group has, to compare. Skips aloud (77) where it cannot run.
"""
import ctypes
import glob
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import device
from device import UNITRACE

# What may be said of a kernel: with -q; and with less, beside what does not name a limit.
LIMITS = {
    "dram_copy": {"dram"},
    "latency_chase": {"latency"},
    "fp32_chains": {"fma"},
    "fp64_chains": {"fp64"},
    "fp16_chains": {"fp16"},
    "integer_chains": {"alu"},
    "integer_products": {"alu"},
    "issue_slots": {"issue"},
    "special_functions": {"special"},
    "tensor_products": {"tensor"},
    "shared_reads": {"shared"},
    "shared_conflicts": {"bank_conflicts"},
    "shared_atomics": {"shared", "bank_conflicts"},
    "atomics_spread": {"atomics"},
    "atomics_one": {"atomics"},
    "divergent_lanes": {"divergence"},
    "divergent_halves": {"divergence"},
    "l2_reads": {"l2"},
    "l1_reads": {"l1"},
    "low_occupancy": {"occupancy"},
    "lonely_block": {"grid"},
    "tiny_launch": {"launch"},
}
# What -k can see of these is right, too: FP16 may run on the pipe of FP32, and conflicts fill shared memory.
# Divergent branches fill pipes, which is right to say beside what was not measured.
PIPES = {"fma", "alu", "issue"}
NEAR = {"fp16_chains": {"fma"}, "shared_conflicts": {"shared", "l1"}, "shared_reads": {"l1"},
        "shared_atomics": {"l1"}, "divergent_lanes": PIPES, "divergent_halves": PIPES, "tiny_launch": {"grid"}}
NO_LIMIT = {"unknown", "stall", "memory_wait"}
PROBE = """[Probe query]
about = what might tell a limit, to compare
sm__cycles_elapsed.max = [cycles] of the multiprocessors
sm__cycles_active.avg.pct_of_peak_sustained_elapsed = [%] with work
smsp__issue_active.avg.pct_of_peak_sustained_active = [%] issue
sm__throughput.avg.pct_of_peak_sustained_elapsed = [%] all of a multiprocessor
l1tex__throughput.avg.pct_of_peak_sustained_active = [%] all of L1
lts__throughput.avg.pct_of_peak_sustained_elapsed = [%] all of L2
gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed = [%] all of memory
sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active = [%] FP64
sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active = [%] FMA
sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active = [%] ALU
sm__pipe_shared_cycles_active.avg.pct_of_peak_sustained_active = [%] pipe that is shared
sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active = [%] LSU
sm__inst_executed_pipe_cbu.avg.pct_of_peak_sustained_active = [%] branches
sm__inst_executed_pipe_uniform.avg.pct_of_peak_sustained_active = [%] uniform
sm__inst_executed_pipe_fmaheavy.avg.pct_of_peak_sustained_active = [%] heavy half of FMA
sm__inst_executed_pipe_fmalite.avg.pct_of_peak_sustained_active = [%] light half of FMA
smsp__thread_inst_executed_pred_on_per_inst_executed.ratio = [threads] of a warp, with a true predicate
l1tex__lsuin_requests.avg.pct_of_peak_sustained_active = [%] requests to L1
l1tex__f_wavefronts.avg.pct_of_peak_sustained_active = [%] wavefronts of L1
l1tex__m_xbar2l1tex_read_sectors.avg.pct_of_peak_sustained_elapsed = [%] answers of L2
l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed = [%] requests to L2
l1tex__t_bytes.sum = [bytes] through L1
lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed = [%] tags of L2
lts__t_sectors_srcunit_tex.avg.pct_of_peak_sustained_elapsed = [%] sectors for multiprocessors
lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed = [%] requests
lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed = [%] atomics, all slices
lts__t_sectors.max.pct_of_peak_sustained_elapsed = [%] the busiest slice
lts__t_sector_hit_rate.pct = [%] hits in L2
l1tex__t_sector_hit_rate.pct = [%] hits in L1
TPC.TriageCompute.sm__inst_executed_pipe_alu_realtime.avg.pct_of_peak_sustained_elapsed = [%] ALU, as samples tell it
TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.avg.pct_of_peak_sustained_elapsed = [%] FMA, as samples tell it
TPC.TriageCompute.sm__pipe_fp64_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed = [%] FP64, as samples tell it
smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio = [warps] waiting for memory
smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio = [warps] waiting for the queue of memory
smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio = [warps] waiting for the queue of shared memory
smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio = [warps] waiting for shared memory
smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio = [warps] waiting for branches
smsp__average_warps_issue_stalled_wait_per_issue_active.ratio = [warps] waiting for a fixed time
"""


def find_program(folder):
    """limited.cu as a program; None: it cannot be made here."""
    if "LIMITED" in os.environ:
        return pathlib.Path(os.environ["LIMITED"]).resolve()
    if not pathlib.Path(device.NVCC).exists():
        return None
    device.compile_cuda("limited.cu", folder / "limited", "-lineinfo", "-gencode", "arch=compute_90,code=sm_90")
    return folder / "limited"


class Verdicts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        kept = os.environ.get("VERDICTS")
        cls.dir = pathlib.Path(kept or cls.temporary.name).resolve()
        cls.dir.mkdir(parents=True, exist_ok=True)
        cls.program = find_program(cls.dir)
        cls.found, cls.allowed, cls.notes = {}, {}, []

    @classmethod
    def tearDownClass(cls):
        (cls.dir / "verdicts.json").write_text(json.dumps(cls.found, indent=1))
        lines = [f"{mode:8} {name:18} {v['verdict']:15} {v['why']}" for mode, kernels in cls.found.items()
                 for name, v in kernels.items()]
        table = cls.table()
        (cls.dir / "verdicts.txt").write_text("\n".join(table + lines + cls.notes) + "\n")
        print("\n".join(table), flush=True)
        cls.temporary.cleanup()

    @classmethod
    def table(cls):
        """A row for each kernel, a column for each way to record; the sentences of -q below."""
        right = {mode: [cls.is_right(mode, name) for name in LIMITS] for mode in cls.allowed}
        rows = [f"{name:18}" + "".join(f"{('' if cls.is_right(mode, name) else '!') + cls.verdict(mode, name):16}"
                                       for mode in cls.allowed) for name in LIMITS]
        return (["", f"{'kernel':18}" + "".join(f"{mode:16}" for mode in cls.allowed), *rows, ""]
                + [f"{mode}: {sum(r)} of {len(r)} {'right' if mode == 'query' else 'not wrong'}"
                   for mode, r in right.items()] + [""]
                + [f"{name}: {row['why']}" for name, row in cls.found.get("query", {}).items() if name in LIMITS])

    @classmethod
    def verdict(cls, mode, name):
        row = cls.found[mode].get(name)
        return row["verdict"] if row else "is not there"

    @classmethod
    def is_right(cls, mode, name):
        verdict = cls.verdict(mode, name)
        if name.startswith("divergent") and verdict in PIPES and "divergent branches" not in cls.found[mode][name]["why"]:
            return False
        return verdict in cls.allowed[mode](name)

    def record(self, mode, *options, turns=1):
        """Verdicts of all kernels, by name."""
        if self.program is None:
            self.skipTest("no nvcc, and no LIMITED=PROGRAM")
        trace = self.dir / f"{mode}.utr"
        done = subprocess.run([UNITRACE, *options, "--chrome-kernel-logging", "--no-summary", "-o", trace, self.program,
                               str(turns)], cwd=self.dir, capture_output=True, text=True, timeout=300, check=False)
        self.notes.append(f"--- {mode}: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = {}
        for row in device.ask("kernels", "--limit", "0", trace):
            kernels.setdefault(row["name"].split("(")[0], row)
        for name, row in kernels.items():
            row["metrics"] = self.measured(mode, name)
        self.found[mode] = kernels
        return kernels

    def measured(self, mode, name):
        """What the file of metrics has of a kernel: of its instance in the middle, or means of its samples."""
        rows = [r for path in glob.glob(str(self.dir / f"{mode}.metrics.*.csv")) for r in device.metric_rows(path)
                if r.get("Kernel", "").strip('"').split("(")[0] == name]
        if not rows:
            return {}
        if mode == "sampling":
            values = {k: [float(r[k]) for r in rows if r[k].strip()] for k in rows[0] if "[" in k}
            return {"samples": len(rows), **{k: sum(v) / len(v) for k, v in values.items() if v}}
        return rows[len(rows) // 2]

    def check(self, mode, kernels, allowed):
        self.allowed[mode] = allowed
        wrong = []
        for name in LIMITS:
            row = kernels.get(name)
            if not self.is_right(mode, name):
                wrong.append(f"{mode} {name}: " + (f"{row['verdict']}: {row['why']}\n    {row['metrics']}" if row
                                                   else "is not there"))
        self.assertFalse(wrong, "\n".join([f"{len(wrong)} of {len(LIMITS)} are wrong:", *wrong]))

    def test_query_names_every_limit(self):
        self.check("query", self.record("query", "-q"), LIMITS.get)

    def test_counts_of_a_roofline_are_never_wrong(self):
        kernels = self.record("roofline", "-q", "-g", "Roofline")
        self.check("roofline", kernels, lambda name: LIMITS[name] | NEAR.get(name, set()) | {"unknown"})

    def test_samples_of_counters_are_never_wrong(self):
        kernels = self.record("sampling", "-k", turns=3)
        self.check("sampling", kernels, lambda name: LIMITS[name] | NEAR.get(name, set()) | {"unknown"})

    def test_samples_of_stalls_are_never_wrong(self):
        kernels = self.record("stalls", "--stall-sampling", turns=3)
        self.check("stalls", kernels, lambda name: {"grid", "launch", "atomics"} & LIMITS[name] | NO_LIMIT)

    def test_no_counters_name_no_unit(self):
        kernels = self.record("plain")
        self.check("plain", kernels, lambda name: {"grid", "launch"} & LIMITS[name] | {"unknown"})

    @unittest.skipUnless(os.environ.get("PROBE"), "PROBE=1 compares with more counters")
    def test_more_counters(self):
        (self.dir / "probe.ini").write_text(PROBE)
        self.record("probe", "-q", "--metric-file", "probe.ini", "-g", "Probe")

    def test_passes(self):
        """How many times a kernel is run for each group, as this machine's CUPTI has it."""
        import test_metric_groups as groups
        places = ["/usr/local/cuda*/lib64/libcupti.so.1[23]", "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1[23]"]
        found = [p for place in places for p in sorted(glob.glob(place))]
        if not found:
            self.skipTest("no CUPTI below /usr/local/cuda")
        library, wrong = ctypes.CDLL(found[-1]), []
        for (name, *mode), metrics in groups.groups().items():
            for one in mode or ("query", "sampling"):
                wrong += groups.check(library, "GH100", name, one, metrics)
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    device.main(device.missing(nvcc="LIMITED" not in os.environ))
