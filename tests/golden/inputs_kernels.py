"""Inputs of `kernels` and of stall reports: a recording with counters, samples and Python, a trace of
torch.profiler, and code of two makers. Figures of kernels are those of well-known shapes on an H200."""
from make_inputs import ROW, Submitted, device_meta, ev, host_meta, meta, our_about, put, trace, x

DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed[%]"
FMA = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active[%]"
TENSOR = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active[%]"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active[%]"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum[sectors]"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum[requests]"
READ, WRITE = "dram__bytes_read.sum[bytes]", "dram__bytes_write.sum[bytes]"
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum[instructions]"
HOME = "/home/me/model"
# kernel, grid, block, registers, us, op, line, counters
LAUNCHES = [
    ("copy(float4*)", "1056x1x1", "512x1x1", 16, 132, "aten::copy_", 12,
     {DRAM: 80.9, FMA: 1.2, WARPS: 93.4, READ: 246800000, WRITE: 246100000, FFMA: 0}),
    ("gather(float*)", "2640x1x1", "256x1x1", 20, 300, "aten::index", 14,
     {DRAM: 79.9, FMA: 5.1, SECTORS: 3200, REQUESTS: 100}),
    ("sgemm_128x256_ffma_tn", "264x1x1", "256x1x1", 98, 800, "aten::linear", 20,
     {DRAM: 9.0, FMA: 88.0, TENSOR: 0.0, READ: 301000000, WRITE: 31000000, FFMA: 22900000000}),
    ("chase(int*)", "528x1x1", "64x1x1", 22, 400, "aten::index", 14, {DRAM: 6.0, FMA: 0.1}),
    ("fat<96>(float*)", "1056x1x1", "256x1x1", 103, 120, "aten::softmax", 21,
     {DRAM: 12.0, FMA: 50.0, READ: 33000000, WRITE: 33500000, FFMA: 1950000000}),
    ("add(float*)", "2x1x1", "256x1x1", 16, 40, "aten::add_", 12, {}),
    ("scale(float*)", "1x1x1", "32x1x1", 16, 2, "aten::mul_", 12, {}),
    ("fma_loop(float*)", "1076x1x1", "256x1x1", 16, 217, "aten::linear", 20, {}),
    ("counted(float*)", "10560x1x1", "256x1x1", 16, 500, "aten::sum", 30, {}),
]


def model():
    pid, device, at = 300, ROW + 1, 1000.0
    s, ops, frames, counters = Submitted(pid, device, "CUDA", "step"), [], [], []
    for name, grid, block, registers, us, op, line, values in LAUNCHES:
        for _ in range(2):
            s.add("cudaLaunchKernel", at + 2, 5, name, at + 10, us, grid=grid, block=block,
                  registers=registers, **values)
            ops.append(x(op, at + 1, 7, pid, pid, "PyTorch"))
            frames += [x("forward", at + 0.25, 8, pid, pid, "Python", file=f"{HOME}/net.py", line=line),
                       x("_call_impl", at + 0.5, 7.5, pid, pid, "Python",
                         file="/usr/lib/python3/dist-packages/torch/nn/modules/module.py", line=1700)]
            if name.startswith("counted"):
                counters += [ev("C", DRAM, at + 10 + k * 100, device, device, args={"value": 70 + k})
                             for k in range(6)]
            at += us + 20
    about = our_about({"pid": pid, "name": "python", "host": "box", "command": "./python train.py"},
                      {"pid": device, "os_pid": pid, "name": "DEVICE [NVIDIA H200] cuda:0 #0", "host": "box"})
    rows = host_meta(pid, "python") + [meta("thread_name", pid, ROW + 1, name=f"CUDA calls of thread {pid}")]
    rows += device_meta(device, "DEVICE [NVIDIA H200] cuda:0 #0", pid,
                        {ROW + 2: "Stream 7 (context 1)", ROW + 3: "Stalls"})
    stack = {"1": {"name": "chase(int*)", "category": "b3a1f00d.cubin", "address": "0x1c0",
                   "file": "/src/chase.cu", "line": 12},
             "2": {"name": "chase(int*)", "category": "b3a1f00d.cubin", "address": "0x1d0",
                   "file": "/src/chase.cu", "line": 13}}
    samples = [{"pid": device, "tid": ROW + 3, "ts": 3000 + i, "name": "stall", "cat": cat, "sf": sf, "weight": n}
               for i, (cat, sf, n) in enumerate([("long_scoreboard", "1", 900), ("wait", "2", 60),
                                                 ("selected", "2", 40)])]
    put("kernels/model.json", trace([x("step", 1000, at - 1000, pid, pid, "train"), *frames, *ops, *s.calls,
                                     *s.work, *counters, *rows], stackFrames=stack, samples=samples, **about))


def torch():
    """With stacks of Python, as torch.profiler(with_stack=True) writes them."""
    events = named = []
    for i, (kernel, grid, per_sm, op, line) in enumerate([
            ("void at::native::vectorized_elementwise_kernel<4>(int)", [13200, 1, 1], 100.0, "aten::gelu", 31),
            ("ampere_sgemm_128x64_tn", [160, 1, 1], 1.212121, "aten::mm", 33),
            ("void softmax_warp_forward<float>(float*)", [66, 1, 1], 0.5, "aten::softmax", 35)]):
        t = 1000.0 + 200 * i
        events = events + [
            x(f"train.py({line}): forward", t, 60, 500, 500, "python_function"),
            x("torch/nn/functional.py(12): call", t + 1, 58, 500, 500, "python_function"),
            x(op, t + 5, 50, 500, 500, "cpu_op", **{"External id": 10 + i}),
            x("cudaLaunchKernel", t + 20, 8, 500, 500, "cuda_runtime", correlation=10 + i),
            x(kernel, t + 40, 100, 0, 7, "kernel", correlation=10 + i, device=0, stream=7, grid=grid,
              block=[256, 1, 1], **{"blocks per SM": per_sm, "registers per thread": 40, "External id": 10 + i,
                                    "est. achieved occupancy %": 75})]
    named = [meta("process_name", 500, name="python"), meta("process_labels", 500, labels="CPU"),
             meta("process_name", 0, name="python"), meta("process_labels", 0, labels="GPU 0")]
    put("kernels/torch.json", trace(events + named, schemaVersion=1, deviceProperties=[
        {"id": 0, "name": "NVIDIA H200", "numSms": 132}], displayTimeUnit="ms"))


# Code: what an instruction waits for.

ASM = """//.kernel _ZTSZ4mainEUlvE_
//.platform PVCXT

// B000: Preds:{},  Succs:{B001}
// File: /src/k.cpp

// Line 11:  int i = it;
(W)     mov (16|M0)              r127.0<1>:ud  0x0:ud                                                // $1
// B001: Preds:{B000, B002},  Succs:{B002, B003}

// Line 12:  x = a[i];
        load.ugm.d32.a64 (32|M0)  r18:2         [r14:4]            {I@1,$5} // ex_desc:0x0; desc:0x8200580 // $14
(W)     add (1|M0)               r127.0<1>:ud  r127.0<0;1,0>:ud  0x40:uw              {Compacted,$5.src} // $4

// Line 13:  y = x + b[i];
        sync.nop                             null                             {Compacted,$5.dst}     // $15
        add (32|M0)              r20.0<1>:f    r12.0<1;1,0>:f    r18.0<1;1,0>:f   {Compacted,$4.dst} // $16
// B002: Preds:{B001},  Succs:{B001}
        math.sin (16|M0)         r34.0<1>:f    r5.0<0;1,0>:f                    {$4}                 // $83
// B003: Preds:{B001},  Succs:{}
(W)     sync.bar                             0x0                                 {Compacted}         // $35
(W)     send.gtwy (8|M0)         null     r127    null:0  0x0            0x02000010           {EOT} // wr:1+0, rd:0; end of thread // $20
"""
ASM_STALLS = ["ControlStall", "PipeStall", "SendStall", "DistStall", "SbidStall", "SyncStall",
              "InstrFetchStall", "OtherStall"]
ASM_ROWS = {0x10: dict(SbidStall=3), 0x20: dict(SbidStall=40, PipeStall=2), 0x28: dict(SbidStall=900),
            0x30: dict(SbidStall=300), 0x48: dict(SyncStall=70), 0x60: dict(OtherStall=1)}

# offset, text, waits, writes, reads (scoreboards), source line
SASS = [("S2R R0, SR_TID.X", 0, 0, 7, 9), ("LDC.64 R4, c[0x0][0x210]", 0, 1, 7, 9),
        ("IMAD.WIDE.U32 R6, R0, 0x4, R4", 3, 7, 7, 12), ("LDG.E R7, desc[UR4][R6.64]", 0, 2, 7, 12),
        ("IMAD.WIDE.U32 R8, R7, 0x4, R4", 4, 7, 7, 12), ("LDG.E R0, desc[UR4][R8.64]", 0, 3, 0, 12),
        ("@P0 BRA `(.L_x_1)", 0, 7, 7, 11), ("STS [R9], R0", 8, 7, 1, 13),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", 0, 7, 7, 14), ("LDS R3, [R9+0x4]", 0, 4, 7, 15),
        ("STG.E desc[UR4][R8.64], R3", 16, 7, 7, 15), ("EXIT", 0, 7, 7, 16)]
SASS_STALLS = ["BarrierStall", "DrainStall", "LongScoreboardStall", "NotSelectedStall", "ShortScoreboardStall",
               "WaitStall", "OtherStall"]
SASS_ROWS = {0x20: dict(ShortScoreboardStall=40), 0x30: dict(WaitStall=30),
             0x40: dict(LongScoreboardStall=500, WaitStall=4), 0x70: dict(LongScoreboardStall=250, NotSelectedStall=60),
             0x90: dict(BarrierStall=60), 0xa0: dict(ShortScoreboardStall=50), 0xc0: dict(DrainStall=6)}


def sass():
    yield "\t.section\t.text._Z5chasePiS_,\"ax\",@progbits\n\t.align\t128\n_Z5chasePiS_:\n.text._Z5chasePiS_:\n"
    last = None
    for i, (text, waits, writes, reads, line) in enumerate(SASS):
        if i == 2:
            yield ".L_x_1:\n"
        if line != last:
            yield f'\t//## File "in/chase.cu", line {line}\n'
        last = line
        control = (1 if "BRA" not in text else 5) | 1 << 4 | writes << 5 | reads << 8 | waits << 11
        yield f"        /*{16 * i:04x}*/ {text + ' ;':>50} /* 0x{0x7981 + i:016x} */\n"
        yield f"{'':>68} /* 0x{control << 41:016x} */\n"


def stall_csv(kernel, reasons, rows):
    yield "\n=== Device #0 Metrics ===\n\n"
    yield ", ".join(["Kernel".rjust(24), "IP[Address]", "Active[Events]", *(f"{r}[Events]" for r in reasons)]) + "\n"
    for address, counts in rows.items():
        yield ", ".join([f'"{kernel}"'.rjust(24), f"{address:08X}", "5", *(str(counts.get(r, 0)) for r in reasons)]) + "\n"


SOURCE = "".join(f"{'// line %d' % n if n < 9 or n > 16 else 'statement %d;' % n}\n" for n in range(1, 20))


def stalls():
    put("stalls/dump/OCL_asm05aa3c52_simd32_entry_0001.asm", ASM)
    put("stalls/intel.csv", "".join(stall_csv("main::{lambda()#1}", ASM_STALLS, ASM_ROWS)))
    put("stalls/modules/chase.sass", "".join(sass()))
    put("stalls/nvidia.csv", "".join(stall_csv("chase(int*, int*)", SASS_STALLS, SASS_ROWS)))
    put("stalls/chase.cu", SOURCE)


SETS = [model, torch, stalls]
