"""Device logs for the tests of `unitrace devlog`: small ones made here, with known results, and the
real ones with what the original made of them, where ../shared is beside the repository."""
import base64
import collections
import json
import os
import pathlib
import re
import zlib

import saved_page
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


class Page:
    """What lies in a page of the viewer, read without it: info, tracks with their rows, the sheets of the tool."""

    def __init__(self, path):
        text = path.read_text()
        head, (image,) = saved_page.read(text)
        self.info, self.groups = head["info"], dict(head["traces"][0]["groups"])
        self.trace = saved_page.Trace(image)
        self.rows = self.trace.rows
        self.sheets = {name: json.loads(unpack(sheet)) for name, sheet in
                       re.findall(r'data-tool="devlog" data-name="([^"]*)">([^<]*)', text)}

    def lanes(self):
        """(chip, core, risc) -> [(start, length, name, category, arguments)]"""
        for number, core in self.groups.items():
            process, name = self.trace.tracks[number]
            at = tuple(map(int, re.fullmatch(r"core \((-?\d+), (-?\d+)\)", core).groups()))
            if self.rows[number]:
                yield ((int(process.removeprefix("Chip ")), at, name.partition(") ")[2]),
                       [(row.start, row.val, row.name, row.cat, row.args) for row in self.rows[number]])

    def table(self, sheet, name):
        """The rows of a table, as objects."""
        table = self.sheets[sheet][name]
        keys = [column["key"] for column in table["columns"]]
        return [dict(zip(keys, row)) for row in zip(*table["data"])]


def unpack(text):
    return zlib.decompress(base64.b64decode(text))


def page_bars(page):
    """What a page says of each lane of the first chip, by what its bars are called: cycles in all."""
    mhz, lanes = page.sheets["cores"]["mhz"], page.table("cores", "lanes")
    labels = {row["label"]: row["zone"] for row in page.table("zones", "zones")}
    sums = collections.defaultdict(dict)
    for row in page.table("zones", "lanes"):
        lane = lanes[row["lane"]]
        if lane["chip"] == lanes[0]["chip"] and row["total"]:
            sums[(lane["x"], lane["y"]), lane["risc"]][labels[row["label"]]] = \
                round(row["total"] * mhz / 1000)
    return sums


def summed(bars):
    """Bars of the original's plot in the same shape."""
    sums = collections.defaultdict(lambda: collections.defaultdict(int))
    for lane, items in bars.items():
        for cycles, label in items:
            sums[lane][label] += cycles
    return sums
