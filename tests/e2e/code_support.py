"""A trace with samples of a kernel's instructions, and the file of metrics with the same: what the viewer and what
`unitrace metrics -s` say of them can be held against each other."""
import json
import os
import pathlib
import shutil

from common import SOURCE

MODEL = SOURCE / "tests/golden/inputs/kernels/model.json"
CUBIN = SOURCE / "tests/data/cuda/kernels.cubin"
CRC = "00000000b3a1f00d"
# as NVIDIA says it, as the file of metrics does
REASONS = {"selected": "Active", "barrier": "BarrierStall", "drain": "DrainStall", "long_scoreboard": "LongScoreboardStall",
           "not_selected": "NotSelectedStall", "short_scoreboard": "ShortScoreboardStall", "wait": "WaitStall", "misc": "OtherStall"}


def nvdisasm():
    """Its path; None where it is not installed."""
    places = [pathlib.Path(p) for p in [shutil.which("nvdisasm"), os.environ.get("UNITRACE_NVDISASM"), "/usr/local/cuda/bin/nvdisasm"] if p]
    places += sorted((SOURCE / "build/venv").glob("lib/python3*/site-packages/nvidia/cu*/bin/nvdisasm"))
    return next((p for p in places if p.exists()), None)


def write_sampled(folder, kernel, samples, module=CRC):
    """x.json and x.metrics.7.csv there; samples: address -> {reason: count}. The kernel takes the place of chase(int*)."""
    trace = json.loads(MODEL.read_text().replace("chase(int*)", kernel))
    stalls = trace["samples"][0]
    trace["stackFrames"] = {str(a): {"name": kernel, "category": f"{module}.cubin", "address": hex(a)} for a in samples}
    trace["samples"] = [{**stalls, "ts": 3000 + i, "cat": reason, "sf": str(a), "weight": n} for i, (a, reason, n)
                        in enumerate((a, reason, n) for a, counts in samples.items() for reason, n in counts.items())]
    (folder / "x.json").write_text(json.dumps(trace))
    head = ["Kernel", "IP[Address]", *(f"{title}[Events]" for title in REASONS.values())]
    rows = [[f'"{kernel}"', f"{a:08X}", *(str(counts.get(r, 0)) for r in REASONS)] for a, counts in samples.items()]
    (folder / "x.metrics.7.csv").write_text("\n=== Device #0 Metrics ===\n\n" + "".join(", ".join(row) + "\n" for row in [head, *rows]))


def same(report):
    """What of a report both must say; a file of metrics has columns for reasons of which there is no sample, too."""
    return {**report, "reasons": [r for r in report["reasons"] if r["samples"]]}
