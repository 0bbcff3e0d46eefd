"""Inputs of `metrics`: files of hardware metrics in every layout, and a file of options."""
from make_inputs import put

TITLES = ["GpuTime[ns]", "XVE_ACTIVE[%]", "XVE_STALL[%]", "L3_BYTE_READ[bytes]",
          "L3_BYTE_WRITE[bytes]", "StreamMarker"]
COPY = "copy<int, 4>[SIMD32 {16; 1; 1} {256; 1; 1}]"
GEMM = 'gemm("NT")[SIMD16 {8; 8; 1} {32; 1; 1}]'
CONFIG = """-m "XVE_ACTIVE[%],
    XVE_STALL[%]" -y 'Active and "Stall" (%)'
-b L3_BYTE_READ[bytes],L3_BYTE_WRITE[bytes]
-m "XVE_ACTIVE[%],NOT_THERE[%]" -y Share -t Basics -i 0
"""
STALLS = ["ControlStall", "PipeStall", "SendStall", "DistStall", "SbidStall", "SyncStall",
          "InstrFetchStall", "OtherStall"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def values(n):
    """The nth sample: round numbers, so that a chart can be checked by eye."""
    return [50000, f"{10 + 5 * (n % 9):f}", f"{80 - 5 * (n % 9):f}", 1000000 * (n + 1), 500000 * (n + 1), 0]


def row(sep, *cells):
    return sep.join(str(c) for c in cells) + "\n"


def banner(device):
    return f"\n=== Device #{device} Metrics ===\n\n"


def query(device, instances):
    yield banner(device) + row(",", "Kernel", "GlobalInstanceId", "SubDeviceId", *TITLES)
    for n, name in enumerate(instances, 1):
        yield row(",", quoted(name), n, 0, *values(n)) + "\n"


def samples():
    yield banner(0) + row(", ", "Kernel", "GlobalInstanceId", *TITLES)
    at = 0
    for instance, (name, count) in enumerate([(COPY, 4), (GEMM, 6), (COPY, 3)], 1):
        for _ in range(count):
            yield row(", ", quoted(name), instance, *values(at))
            at += 1
        yield "\n" if instance < 3 else ""  # the last instance ends with the file


def old():
    yield "\n=== Device Timing Summary ===\n\n   Kernel,  Calls\n   gemm,  1\n\n\n== Kernel Metrics ==\n\n\n"
    for n, name in enumerate([COPY, COPY], 1):
        yield row(",", "Kernel", "Device", "SubDeviceId", *TITLES, "")
        yield row(",", name, 0, 0, *values(n), "") + "\n"


def stalls():
    for device in (0, 1):
        yield banner(device)
        yield row(", ", "Kernel".rjust(20), "IP[Address]", "Active[Events]",
                  *[s + "[Events]" for s in STALLS])
        for name, count in (("copy<int, 4>", 3), ("main::k", 120 if device else 2)):
            for n in range(count):
                counts = [(n + k) % 4 * (10 if k == 4 and n == 1 else 1) for k in range(len(STALLS))]
                yield row(", ", quoted(name).rjust(20), f"{16 * n:11x}", 7, *counts)
    yield row(", ", '"idle"', f"{0:x}", 5, *[0] * len(STALLS))


def metrics():
    put("metrics/query.csv", "".join([*query(0, [COPY, GEMM, COPY]), *query(1, [GEMM])]))
    put("metrics/time.csv", "".join(samples()))
    put("metrics/metrics_2.csv", "".join(query(0, [GEMM])).split("\n\n", 1)[1])
    put("metrics/old", "".join(old()))
    put("metrics/stall.csv", "".join(stalls()))
    put("metrics/config.txt", CONFIG)
    put("metrics/wrong.csv", "".join(query(0, [COPY])).replace("1000000", "much", 1).replace("2much", "much"))
    put("metrics/empty.csv", "")


SETS = [metrics]
