"""Device logs for the tests of `unitrace devlog`: small ones made here, with known results, and the
real ones with what the original made of them, where ../shared is beside the repository."""
import base64
import collections
import json
import os
import pathlib

from common import SOURCE

SHARED = pathlib.Path(os.environ.get("UNITRACE_SHARED", SOURCE.parent / "shared"))
DATA = SHARED / "data" / "ttmetal"
GOLDEN = DATA / "golden_seed_2023-10" / "outputs"

FIRST = "ARCH: grayskull, CHIP_FREQ[MHz]: 1000\n"
SIX = "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]"
ZONES = (SIX + ", data, run host ID, trace id, trace id counter, zone name, type, source line, "
         "source file, meta data")

# two launches on core (1, 0), one on core (0, 2); T0 is 1000
OLD_ROWS = [
    (0, 1, 0, "BRISC", 1, 1000), (0, 1, 0, "BRISC", 2, 1100), (0, 1, 0, "BRISC", 5, 1150),
    (0, 1, 0, "BRISC", 3, 1300), (0, 1, 0, "BRISC", 4, 1400), (0, 1, 0, "NCRISC", 1, 1050),
    (0, 1, 0, "NCRISC", 2, 1120), (0, 1, 0, "NCRISC", 3, 1220), (0, 1, 0, "NCRISC", 4, 1500),
    (0, 1, 0, "BRISC", 1, 5000), (0, 1, 0, "BRISC", 2, 5100), (0, 1, 0, "BRISC", 3, 5401),
    (0, 1, 0, "BRISC", 4, 5500), (0, 0, 2, "BRISC", 1, 1010), (0, 0, 2, "BRISC", 2, 1111),
    (0, 0, 2, "BRISC", 3, 1333), (0, 0, 2, "BRISC", 4, 1444),
]


def old_log(rows=None, first=FIRST, header=True):
    lines = [", ".join(map(str, row)) for row in (OLD_ROWS if rows is None else rows)]
    return first + (SIX + "\n" if header else "") + "".join(line + "\n" for line in lines)


def zone_rows(chip=0, ops=2, cores=((1, 1), (2, 1)), shift=0):
    """Per op and core: firmware around a kernel on BRISC and NCRISC, a zone of the user inside."""
    for x, y in cores:
        for op in range(1, ops + 1):
            t = 10000 * op + 10 * x + shift
            host = op << 10 | chip
            for risc, late in (("BRISC", 0), ("NCRISC", 20)):
                def row(timer, cycles, zone, kind, data=0, meta=""):
                    return (chip, x, y, risc, timer, t + cycles, data, host, "", "", zone, kind, 7,
                            "k.cc", meta)
                yield row(1, late, f"{risc}-FW", "ZONE_START")
                yield row(2, late + 100, f"{risc}-KERNEL", "ZONE_START")
                yield row(3, late + 150, "MINE", "ZONE_START")
                yield row(3, late + 250, "MINE", "ZONE_END")
                yield row(4, late + 260, "NOTE", "TS_DATA", 42)
                yield row(2, 1000 - late, f"{risc}-KERNEL", "ZONE_END")
                yield row(1, 1100 - late, f"{risc}-FW", "ZONE_END")


def zone_log(rows=None, first="ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"):
    rows = zone_rows() if rows is None else rows
    return first + ZONES + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def drawn_bars(path):
    """Bars of the original's plot: (core, risc) -> [(cycles, label)] in order, those with a width."""
    text = path.read_text()
    traces, _ = json.JSONDecoder().raw_decode(text, text.index("[{"))
    bars = collections.defaultdict(list)
    for trace in traces:
        for core, risc, width, label in zip(*trace["y"], trace["x"], trace.get("customdata", ())):
            if width:
                bars[tuple(core), risc].append((width, label))
    return bars


def page_data(path):
    text = path.read_text()
    return json.JSONDecoder().raw_decode(text, text.index("{", text.index('id="data"')))[0]


def page_lanes(path):
    """Per lane of a page without bars that are drawn together: chip, core, risc, bars as in its data."""
    data = page_data(path)
    numbers = varints(base64.b64decode(data["bars"]))
    for chip in data["chips"]:
        for core, risc, count, *_ in chip["lanes"]:
            yield (chip["id"], tuple(chip["cores"][core]), data["riscs"][risc],
                   [tuple(next(numbers) for _ in range(5)) for _ in range(count)])


def page_bars(path):
    """Bars that a page of ours draws, read from its data: the same shape, for the first chip."""
    data, bars = page_data(path), {}
    for chip, core, risc, lane in page_lanes(path):
        if chip == data["chips"][0]["id"]:
            bars[core, risc] = [(cycles, data["labels"][label // 2][0])
                                for _, cycles, label, _, _ in lane if cycles]
    return {key: value for key, value in bars.items() if value}


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
