#!/usr/bin/env python3
"""Writes files of hardware metrics as docs/formats/metrics.md describes them.

    tests/gen/metrics_gen.py LAYOUT FILE [--devices N] [--instances N] [--samples N] [--no-banner]

LAYOUT is query, time, stall or old. Five kernels with names as compilers make them and the twenty
metrics of ComputeBasic; a run of the same arguments gives the same bytes. Courses are those of
kernels: a ramp at the start, phases of memory and of arithmetic, noise, a peak here and there.
"""
import argparse
import math
import random

KERNELS = [
    "main::{lambda(auto:1)#4}[SIMD32 {4096; 1; 1} {256; 1; 1}]",
    "void gemm<float, 128, 64>(float const*, float const*, float*, int)[SIMD32 {64; 64; 1} {16; 16; 1}]",
    'say("hi", 1)[SIMD16 {1; 1; 1} {32; 1; 1}]',
    "softmax_kernel[SIMD32 {512; 1; 1} {128; 1; 1}]",
    "sycl::_V1::detail::reduction::main_krn::Reduce<int, std::plus<void>>[SIMD32 {2048; 1; 1} {512; 1; 1}]",
]
METRICS = [
    "GpuTime[ns]", "GpuCoreClocks[cycles]", "AvgGpuCoreFrequencyMHz[MHz]", "L3_BYTE_READ[bytes]",
    "L3_BYTE_WRITE[bytes]", "GPU_MEMORY_BYTE_READ[bytes]", "GPU_MEMORY_BYTE_WRITE[bytes]",
    "XVE_ACTIVE[%]", "XVE_STALL[%]", "XVE_THREADS_OCCUPANCY_ALL[%]",
    "XVE_ATOMIC_ACCESS_COUNT[messages]", "XVE_INST_EXECUTED_ALU0_ALL[events]",
    "XVE_INST_EXECUTED_XMX_ALL[events]", "XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION[%]",
    "XVE_INST_EXECUTED_ALU1_ALL_UTILIZATION[%]", "XVE_INST_EXECUTED_SEND_ALL_UTILIZATION[%]",
    "XVE_INST_EXECUTED_CONTROL_ALL_UTILIZATION[%]", "XVE_INST_EXECUTED_XMX_ALL_UTILIZATION[%]",
    "QueryBeginTime[ns]", "StreamMarker",
]
STALLS = ["Active", "ControlStall", "PipeStall", "SendStall", "DistStall", "SbidStall", "SyncStall",
          "InstrFetchStall", "OtherStall"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def course(rng, kernel, at):
    """The metrics of one sample: at goes from 0 to 1 through the kernel."""
    ramp = min(1.0, at * 12)
    phase = 0.5 + 0.5 * math.sin((kernel + 2) * math.pi * at + kernel)
    busy = ramp * (0.35 + 0.5 * phase) + rng.gauss(0, 0.03)
    busy = max(0.0, min(1.0, busy + (0.3 if rng.random() < 0.003 else 0)))
    stall = max(0.0, min(1.0, 0.95 - busy + rng.gauss(0, 0.02)))
    ns, mhz = 50000, 1550 + int(20 * math.sin(at * 9)) + rng.randint(-3, 3)
    read = int(ns * 900 * stall * ramp)
    percent = lambda share: f"{100 * max(0.0, min(1.0, share)):.6f}"
    return [ns, ns * mhz // 1000, mhz, read * 3, int(read * 0.8), read, int(read * 0.31),
            percent(busy), percent(stall), percent(0.6 + 0.3 * phase), rng.randint(0, 50),
            int(busy * 4e6), int(busy * 9e5), percent(busy * 0.7), percent(busy * 0.45 + 0.02),
            percent(stall * 0.3), percent(0.05 + 0.02 * phase), percent(busy * 0.9)]


def banner(out, device, args):
    if not args.no_banner:
        out.write(f"\n=== Device #{device} Metrics ===\n\n")


def write_time(out, args, rng):
    for device in range(args.devices):
        clock, instance = 5_000_000_000, 0
        banner(out, device, args)
        out.write(", ".join(["Kernel", "GlobalInstanceId"] + METRICS) + "\n")
        for turn in range(args.instances):
            for k, name in enumerate(KERNELS):
                instance += 1
                for i in range(args.samples):
                    values = course(rng, k, i / args.samples) + [clock, 0]
                    clock += 50000
                    out.write(", ".join([quoted(name), str(instance)] + [str(v) for v in values]))
                    out.write("\n")
                out.write("\n")


def write_query(out, args, rng):
    for device in range(args.devices):
        instance = 0
        banner(out, device, args)
        out.write(",".join(["Kernel", "GlobalInstanceId", "SubDeviceId"] + METRICS) + "\n")
        for turn in range(args.instances):
            for k, name in enumerate(KERNELS):
                instance += 1
                values = course(rng, k, 0.5) + [5_000_000_000 + instance, 0]
                out.write(",".join([quoted(name), str(instance), "0"] + [str(v) for v in values]))
                out.write("\n\n")


def write_old(out, args, rng):
    out.write("\n=== Device Timing Summary ===\n\n                 Kernel,       Calls,   Time (ns)\n"
              "  gemm,    1,   200\n\n\n== Kernel Metrics ==\n\n\n")
    for turn in range(args.instances):
        for k, name in enumerate(KERNELS):
            out.write(",".join(["Kernel", "Device", "SubDeviceId"] + METRICS) + ",\n")
            values = course(rng, k, 0.5) + [5_000_000_000, 0]
            out.write(",".join([name, "0", "0"] + [str(v) for v in values]) + ",\n\n")


def write_stall(out, args, rng):
    titles = ["IP[Address]"] + [s + "[Events]" for s in STALLS]
    for device in range(args.devices):
        banner(out, device, args)
        out.write("Kernel".rjust(60) + ", " + ", ".join(titles) + "\n")
        for k, name in enumerate(KERNELS):
            address = 0
            for i in range(args.samples):
                hot = rng.random() < 0.05
                counts = [rng.randint(0, 400 if hot and s in ("SbidStall", "SendStall") else 4)
                          for s in STALLS]
                out.write(quoted(name.split("[")[0]).rjust(60) + f", {address:11x}, ")
                out.write(", ".join(str(c).rjust(len(t)) for c, t in zip(counts, titles[1:])) + "\n")
                address += rng.choice((8, 16, 16))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("layout", choices=("query", "time", "stall", "old"))
    parser.add_argument("file")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--no-banner", action="store_true")
    args = parser.parse_args()
    with open(args.file, "w") as out:
        globals()[f"write_{args.layout}"](out, args, random.Random(7))


if __name__ == "__main__":
    main()
