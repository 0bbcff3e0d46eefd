#!/usr/bin/env python3
"""The metric groups of share/metrics/nvidia.ini against CUPTI itself, which knows chips without one
being there: every metric exists on GH100, groups of other chips have most of theirs, samples take
one pass, and the default group of -q three. Needs the library of the PyPI package nvidia-cuda-cupti:

    pip download --no-deps nvidia-cuda-cupti==13.0.85; unzip it; UNITRACE_CUPTI_WHEEL=FOLDER

Without it, it skips aloud (77).
"""
import ctypes
import os
import pathlib
import sys

import device
from device import SOURCE

MOST_PASSES = {"ComputeBasic": 3, "Occupancy": 1, "ComputeExtended": 2, "Memory": 5, "Warps": 6,
               "Tensor": 7, "Roofline": 7}
CHIPS = ("GA100", "GA102", "AD102", "GB100", "GB202")


class Struct(ctypes.Structure):
    """Parameters of CUPTI: they begin with their size, which ends with the last member."""
    last = None

    def __init__(self, **members):
        field = getattr(type(self), self.last)
        super().__init__(size=field.offset + field.size, **members)


def struct(name, last, *members):
    fields = [("size", ctypes.c_size_t), ("priv", ctypes.c_void_p), *members]
    return type(name, (Struct,), {"_fields_": fields, "last": last})


P, S, N, I = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32
Init = struct("Init", "host", ("type", I), ("chip", S), ("availability", P), ("host", P))
End = struct("End", "host", ("host", P))
Metric = struct("Metric", "type", ("host", P), ("name", S), ("about", S), ("hardware", S), ("unit", S),
                ("type", I))
Add = struct("Add", "count", ("host", P), ("names", P), ("count", N))
Size = struct("Size", "bytes", ("host", P), ("bytes", N))
Image = struct("Image", "image", ("host", P), ("bytes", N), ("image", P))
Passes = struct("Passes", "passes", ("bytes", N), ("image", P), ("passes", N))


class Chip:
    def __init__(self, library, name, sampling):
        self.call = lambda function, p: getattr(library, "cuptiProfilerHost" + function)(ctypes.byref(p))
        self.init = Init(type=int(sampling), chip=name.encode())
        if self.call("Initialize", self.init):
            raise LookupError(name)

    def has(self, metric):
        return not self.call("GetMetricProperties", Metric(host=self.init.host, name=metric.encode()))

    def passes(self, metrics):
        names = (ctypes.c_char_p * len(metrics))(*(m.encode() for m in metrics))
        size = Size(host=self.init.host)
        done = self.call("ConfigAddMetrics", Add(host=self.init.host, count=len(metrics),
                                                 names=ctypes.cast(names, ctypes.c_void_p)))
        done = done or self.call("GetConfigImageSize", size)
        image = ctypes.create_string_buffer(max(1, size.bytes))
        where = ctypes.cast(image, ctypes.c_void_p)
        done = done or self.call("GetConfigImage", Image(host=self.init.host, bytes=size.bytes, image=where))
        passes = Passes(bytes=size.bytes, image=where)
        done = done or self.call("GetNumOfPasses", passes)
        return None if done else passes.passes


def groups():
    found, lines = {}, None
    for line in (SOURCE / "share/metrics/nvidia.ini").read_text().splitlines():
        if line.startswith("["):
            lines = found.setdefault(tuple(line.strip("[]").split()), [])
        elif line and not line.startswith(("#", "about =", "like =")):
            lines.append(line.split(" = ")[0].split("|"))
    return found


def check(library, chip, name, mode, metrics):
    sampling = mode == "sampling"
    c = Chip(library, chip, sampling)
    have = [next((m for m in names if c.has(m)), None) for names in metrics]
    missing = [names[0] for names, m in zip(metrics, have) if not m and names[-1] != "-"]
    chosen = [m for m in have if m] + ([] if sampling else ["gpu__time_duration.sum"])
    passes = Chip(library, chip, sampling).passes(chosen)
    print(f"{chip} {name} {mode}: {len(chosen)} metrics, {passes} passes"
          + (f", without {', '.join(missing)}" if missing else ""))
    wrong = []
    if chip == "GH100" and missing:
        wrong.append(f"GH100 lacks {missing} of {name} {mode}")
    most = 1 if sampling else max(MOST_PASSES[name], 1 if chip == "GH100" else 2)
    if chip != "GH100" and name == "ComputeBasic":
        most = 3 if sampling else 5  # of samples, the backend takes what fits into one
    if passes is None or passes > most:
        wrong.append(f"{chip} {name} {mode}: {passes} passes")
    if len(missing) * 2 > len(metrics):
        wrong.append(f"{chip} has less than half of {name} {mode}")
    return wrong


def main():
    folder = os.environ.get("UNITRACE_CUPTI_WHEEL")
    files = sorted(pathlib.Path(folder).rglob("libcupti.so.1[23]")) if folder else []
    if not files:
        device.skip("no CUPTI (UNITRACE_CUPTI_WHEEL=FOLDER of the package nvidia-cuda-cupti)")
    library, wrong = ctypes.CDLL(str(files[0])), []
    for chip in ("GH100", *CHIPS):
        for (name, *mode), metrics in groups().items():
            for one in mode or ("query", "sampling"):
                wrong += check(library, chip, name, one, metrics)
    print("\n".join(wrong) if wrong else "all groups are sound")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
