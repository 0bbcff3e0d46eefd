#!/usr/bin/env python3
"""Our counters beside those of Nsight Compute: bytes of device memory and occupancy of every kernel of two
programs, one of ours (measured.cu) and one of PyTorch's.

    UNITRACE_BUILD=build python3 tests/device/beside_ncu.py [TABLE.csv]
    NCU_TABLES=FOLDER python3 tests/device/beside_ncu.py --nsight    # Nsight Compute's half only, while unitrace builds

NCU_TABLES keeps what Nsight Compute has said; a later run with the same folder takes it from there. PROGRAM="WORDS"
measures that program instead of the two; with its table in NCU_TABLES (program.none.csv), no GPU is needed.
Both tools measure in one run of each kernel, with the clocks as they are. Caches are emptied before each
kernel by both (--cache-control all) if there is a CUPTI of 13.4 or newer (UNITRACE_CUPTI=PATH), else by
neither; then arrays are larger than the caches. Ends with 1 if one of the ten largest differs by more than
2 %; skips aloud (77) without a GPU, nvcc or ncu.
"""
import csv
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

import device
from device import NCU, UNITRACE

READ, WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": 1, "": 1}
CLOSE = 0.02
SLACK = {"bytes": 65536, "occupancy": 0.5}  # of kernels that hardly do anything

TORCH = """
    import torch
    torch.manual_seed(0)
    x = torch.randn(1 << 26, device="cuda")
    y = x + 1.5
    z = torch.nn.functional.gelu(y)
    rows = z.view(16384, 4096)
    rows.softmax(-1)
    torch.nn.functional.layer_norm(rows, (4096,))
    z.sum()
    rows.t().contiguous()
    rows.cumsum(-1)
    z[torch.arange(0, 1 << 26, 3, device="cuda")]
    torch.cat([y[: 1 << 25], z[: 1 << 25]])
    a = torch.randn(4096, 4096, device="cuda").bfloat16()
    a @ a
    torch.cuda.synchronize()
"""


class Kernel:
    def __init__(self, name, shape, values):
        self.name, self.shape = name, shape
        self.read, self.write, self.occupancy = (values[m] for m in (READ, WRITE, WARPS))

    bytes = property(lambda self: self.read + self.write)


def numbers(text):
    return tuple(int(n) for n in re.findall(r"\d+", text))


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:8]))}: {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done


def ours(folder, program, caches):
    for old in folder.glob("ours*"):
        old.unlink()
    done = run([UNITRACE, "-q", "-g", "Occupancy", "--cache-control", caches, "--chrome-kernel-logging", "--no-summary",
                "-o", "ours.csv", *program], folder)
    for line in done.stderr.splitlines():
        if "warning" in line or "cannot do it" in line:
            print("  unitrace:", line[:200], flush=True)
    path, = folder.glob("ours.metrics.*.csv")
    found = []
    for row in device.metric_rows(path):
        name, shape = re.fullmatch(r"(.*)\[SIMD32 (\{.*\})\]", row["Kernel"]).groups()
        values = {m: float(next(v for k, v in row.items() if k.startswith(m + "["))) for m in (READ, WRITE, WARPS)}
        found.append((int(row["GlobalInstanceId"]), Kernel(name, numbers(shape), values)))
    return [kernel for _, kernel in sorted(found, key=lambda f: f[0])]


def said_by_ncu(name, folder, program, caches):
    """What Nsight Compute prints; once for each program, if there is a folder to keep it."""
    kept = pathlib.Path(os.environ["NCU_TABLES"]) / f"{name}.{caches}.csv" if "NCU_TABLES" in os.environ else None
    if kept and kept.exists():
        return kept.read_text()
    done = run([NCU, "--csv", "--print-units", "base", "--cache-control", caches, "--clock-control", "none", "--metrics",
                ",".join((READ, WRITE, WARPS)), *program], folder)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(done.stdout)
    return done.stdout


def theirs(text):
    kernels = {}
    for row in device.ncu_rows(text):
        known = kernels.setdefault(int(row["ID"]), [row["Kernel Name"], numbers(row["Grid Size"]) + numbers(row["Block Size"]), {}])
        known[2][row["Metric Name"]] = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
    return [Kernel(name, shape, values) for _, (name, shape, values) in sorted(kernels.items())]


def pairs(a, b):
    """Kernels of the same size at the same place of the program."""
    match = difflib.SequenceMatcher(None, [k.shape for k in a], [k.shape for k in b], autojunk=False)
    for block in match.get_matching_blocks():
        for i in range(block.size):
            yield a[block.a + i], b[block.b + i]


def off(mine, his, slack):
    return max(0.0, abs(mine - his) - slack) / his if his else float(mine > slack)


def compare(name, folder, program, caches, rows):
    print(f"{name}: with unitrace ...", flush=True)
    a = ours(folder, program, caches)
    print(f"{name}: with ncu ...", flush=True)
    b = theirs(said_by_ncu(name, folder, program, caches))
    for mine, his in pairs(a, b):
        rows.append({"program": name, "kernel": mine.name, "nsight_kernel": his.name, "caches": caches,
                     "read": int(mine.read), "nsight_read": int(his.read), "write": int(mine.write),
                     "nsight_write": int(his.write), "occupancy": mine.occupancy, "nsight_occupancy": his.occupancy,
                     "off_bytes": off(mine.bytes, his.bytes, SLACK["bytes"]),
                     "off_read": off(mine.read, his.read, SLACK["bytes"]),
                     "off_occupancy": off(mine.occupancy, his.occupancy, SLACK["occupancy"])})
    print(f"{name}: {len(a)} kernels of ours, {len(b)} of ncu's, {len(rows)} pairs so far", flush=True)


def programs(folder, caches):
    """What is measured: {name: words}."""
    if "PROGRAM" in os.environ:
        return {"program": shlex.split(os.environ["PROGRAM"])}
    device.need(nvcc=True, ncu=True)
    device.compile_cuda("measured.cu", folder / "measured", "-lineinfo", "-gencode", "arch=compute_90,code=sm_90")
    (folder / "ten.py").write_text(textwrap.dedent(TORCH))
    os.environ.setdefault("MEASURED_SIZE", "1024" if caches == "all" else "8192")
    return {"own": [folder / "measured"], "PyTorch": [sys.executable, "ten.py"]}


def main():
    caches = "all" if "UNITRACE_CUPTI" in os.environ and "PROGRAM" not in os.environ else "none"
    rows, only_ncu = [], "--nsight" in sys.argv
    with tempfile.TemporaryDirectory(prefix="unitrace-ncu-") as name:
        folder = pathlib.Path(name)
        for whose, program in programs(folder, caches).items():
            if only_ncu:
                print(f"{whose}: {len(theirs(said_by_ncu(whose, folder, program, caches)))} kernels of ncu's", flush=True)
            else:
                compare(whose, folder, program, caches, rows)
    if only_ncu:
        return 0
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", newline="") as f:
            table = csv.DictWriter(f, rows[0])
            table.writeheader()
            table.writerows(rows)
    print(f"caches: {caches}; clocks: none\n{'kernel':44} {'DRAM bytes':>14} {'ncu':>14} {'off':>7} {'occupancy':>9} {'ncu':>7} {'off':>7}")
    for r in rows:
        print(f"{r['kernel'][:44]:44} {r['read'] + r['write']:14,} {r['nsight_read'] + r['nsight_write']:14,} "
              f"{100 * r['off_bytes']:6.2f}% {r['occupancy']:9.2f} {r['nsight_occupancy']:7.2f} {100 * r['off_occupancy']:6.2f}%")
    far = [r for r in rows if r["off_bytes"] > CLOSE or r["off_occupancy"] > CLOSE]
    print(f"{len(rows) - len(far)} of {len(rows)} kernels within {100 * CLOSE:.0f} %", flush=True)
    return 0 if len(rows) - len(far) >= 10 and not far else 1


if __name__ == "__main__":
    sys.exit(main())
