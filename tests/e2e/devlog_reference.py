"""A second, slow implementation of what `unitrace devlog` computes, written from the rules and not from
the C code, and logs made at random for both: what they disagree about is a fault of one of them."""
import collections
import statistics

ANY = None  # every RISC
OLD_RULES = [
    ("T0 -> BRISC FW start", "core", "adjacent", ("BRISC", 0), ("BRISC", 1)),
    ("TRISC0 kernel start -> TRISC0 kernel end", "core", "adjacent", ("TRISC_0", 2), ("TRISC_0", 3)),
    ("TRISC1 kernel start -> TRISC1 kernel end", "core", "adjacent", ("TRISC_1", 2), ("TRISC_1", 3)),
    ("TRISC2 kernel start -> TRISC2 kernel end", "core", "adjacent", ("TRISC_2", 2), ("TRISC_2", 3)),
    ("BRISC kernel start -> BRISC kernel end", "core", "adjacent", ("BRISC", 2), ("BRISC", 3)),
    ("NCRISC kernel start -> NCRISC kernel end", "core", "adjacent", ("NCRISC", 2), ("NCRISC", 3)),
    ("ANY RISC FW start -> ANY RISC FW end", "core", "launch", (ANY, 1), (ANY, 4)),
    ("ANY RISC FW end -> BRISC FW start", "core", "adjacent", (ANY, 4), ("BRISC", 1)),
    ("T0 -> ANY RISC FW end", "core", "session", ("BRISC", 0), (ANY, 4)),
    ("BRISC FW start -> ANY RISC FW end", "core", "session", (ANY, 1), (ANY, 4)),
    ("T0 -> ANY CORE ANY RISC FW end", "device", "session", (ANY, 1), (ANY, 4)),
]
# by the name of a setup; its rules come before the others
OLD_SETUPS = {
    "test_full_buffer": [("Marker Repeat", "core", "adjacent", (ANY, 5), (ANY, 5))],
    "test_matmul_multi_core_multi_dram": [
        ("Compute~", "core", "adjacent", ("NCRISC", 6), ("BRISC", 5))],
    "test_matmul_multi_core_multi_dram_in0_mcast": [
        (f"NCRISC start {who} -> BRISC kernel end", "core", "adjacent", ("NCRISC", n), ("BRISC", 3))
        for who, n in (("sender", 10), ("reciever", 7))],
    "test_matmul_multi_core_multi_dram_in1_mcast": [
        (f"NCRISC start {who} -> BRISC kernel end", "core", "adjacent", ("NCRISC", n), ("BRISC", 3))
        for who, n in (("sender", 20), ("reciever", 16))],
    "test_matmul_multi_core_multi_dram_in0_mcast_in1_mcast": [
        (f"NC_in0_{a}_in1_{b} -> B_end", "core", "adjacent", ("NCRISC", n), ("BRISC", 3))
        for a, b, n in (("s", "r", 24), ("s", "s", 29), ("r", "r", 34), ("r", "s", 39))],
}

Marker = collections.namedtuple("Marker", "id ts risc core")


def is_one(marker, what):
    return marker.id == what[1] and what[0] in (ANY, marker.risc)


# ---- durations ----------------------------------------------------------------------------------

def adjacent(series, starts, ends):
    found, pending = [], None
    for m in series:
        if pending is not None and ends(m):
            found.append(m.ts - pending.ts)
            pending = None
        elif starts(m):
            pending = m
    return found


def first_last(series, starts, ends):
    first = next((i for i, m in enumerate(series) if starts(m)), None)
    if first is None:
        return []
    last = next((i for i in range(len(series) - 1, first, -1) if ends(series[i])), None)
    return [] if last is None else [series[last].ts - series[first].ts]


def launches(series):
    found = []
    for m in series:
        if m.risc == "BRISC" and m.id == 1:
            found.append([])
        if found:
            found[-1].append(m)
    return found


def durations(kind, series, starts, ends):
    if kind == "adjacent":
        return adjacent(series, starts, ends)
    if kind == "session":
        return first_last(series, starts, ends)
    return [d for part in launches(series) for d in first_last(part, starts, ends)]


def summary(groups):
    """Of a chip, from the durations of its cores (or ops): the median is that of their medians."""
    every = [d for group in groups for d in group]
    return {"Count": len(every), "Average": sum(every) / len(every), "Max": max(every),
            "Median": statistics.median(statistics.median(group) for group in groups),
            "Min": min(every), "Sum": sum(every), "Range": max(every) - min(every)}


# ---- logs of timer numbers ----------------------------------------------------------------------

def read_old(rows):
    """chip -> core -> TENSIX series, T0 in front of every RISC's part; chip -> device series."""
    chips = {}
    for chip, x, y, risc, number, ts in rows:
        chips.setdefault(chip, {}).setdefault((x, y), {}).setdefault(risc, []).append((number, ts))
    cores, devices, t0 = {}, {}, None
    for chip, grid in chips.items():
        for riscs in grid.values():
            for markers in riscs.values():
                markers.sort(key=lambda m: m[1])
                t0 = markers[0][1] if t0 is None else min(t0, markers[0][1])
        cores[chip] = {
            core: sorted((Marker(n, ts, risc, core) for risc, markers in riscs.items()
                          for n, ts in [(0, t0), *markers]), key=lambda m: m.ts)
            for core, riscs in grid.items()}
        devices[chip] = sorted((m for series in cores[chip].values() for m in series),
                               key=lambda m: m.ts)
    return cores, devices


def analyse_old(rows, setup=None):
    """chip -> rule -> (summary, {core: durations}); rules in order, only those with durations."""
    cores, devices = read_old(rows)
    results = {}
    for chip in cores:
        results[chip] = {}
        for name, across, kind, start, end in OLD_SETUPS.get(setup, []) + OLD_RULES:
            match = kind, lambda m, w=start: is_one(m, w), lambda m, w=end: is_one(m, w)
            if across == "device":
                groups = {None: durations(match[0], devices[chip], *match[1:])}
            else:
                groups = {core: durations(match[0], series, *match[1:])
                          for core, series in cores[chip].items()}
            groups = {core: found for core, found in groups.items() if found}
            if groups:
                results[chip][name] = summary(list(groups.values())), groups
    return results


def grid(groups):
    lines = []
    for row in range(-3, 11):
        y = row - 1 if row > 5 else row
        line = "%2d|| " % y if 0 <= row and row != 5 else " " * 5
        line += "   " if row < 0 else {1: "ARC", 3: "PCI"}.get(row, "---")
        for x in range(12):
            if row == -3:
                cell = str(x)
            elif row == -2:
                cell = "=" * 17
            elif row in (-1, 5):
                cell = f"DRAM{x // 3 + (4 if row == 5 else 0)}" if x % 3 == 0 else "---"
            elif (x, y) not in groups:
                cell = "X"
            else:
                found = groups[x, y]
                cell = f"{statistics.median(found):,.0f}"
                if len(found) > 1:
                    cell += f"\u00b1{(max(found) - min(found)) // 2:,}"
            line += f"{cell:>17}"
        lines.append(line + "\n")
    return "".join(lines)


def stats_old(rows, setup=None):
    text = ""
    for results in analyse_old(rows, setup).values():
        for name, (stats, groups) in results.items():
            text += f"\n=================== {name} ===================\n"
            if stats["Count"] > 1:
                for key in ("Count", "Average", "Max", "Median", "Min"):
                    text += f"{key:>12} [cycles] = {stats[key]:>10,.0f}\n"
            else:
                text += f"    Duration [cycles] = {stats['Max']:>10,.0f}\n"
            text += "\n"
            if None not in groups:
                text += grid(groups) + "\n\n\n"
    return text


def rearranged_old(rows, mhz):
    """device_rearranged_timestamps.csv."""
    lines = []
    cores, _ = read_old(rows)
    for chip, series in cores.items():
        lines += [f"Clock Frequency [MHz],{mhz}", f"PCIe slot,{chip}", "core x,core y," + ",".join(
            f"{risc} {what}" for risc in ("BRISC", "NCRISC")
            for what in ("Firmware Start", "Kernel start", "Kernel End", "Firmware End"))]
        for core in sorted(series, key=lambda c: c[0] + 100 * c[1]):
            cells = [" ".join(str(m.ts) for m in series[core] if m.risc == risc and m.id == n)
                     for risc in ("BRISC", "NCRISC") for n in range(1, 5)]
            lines.append(",".join([str(core[0]), str(core[1]), *cells]))
    return "".join(line + "\r\n" for line in lines)


def random_old(rng):
    """Rows of a log: launches with and without all markers, ties, user markers, any order."""
    rows, base = [], rng.choice((0, 1000, 619831471164341, 2 ** 63))
    riscs = ["BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2", "ERISC"]
    for chip in rng.sample(range(9), rng.choice((1, 1, 1, 2, 3))):
        for core in rng.sample([(x, y) for x in range(14) for y in range(12)], rng.randint(1, 6)):
            for risc in rng.sample(riscs, rng.randint(1, 6)):
                time = base + rng.randint(0, 50) + chip * rng.choice((0, 7, 10 ** 6))
                for _ in range(rng.randint(1, 4)):
                    numbers = [1, 2, *rng.choices((5, 6, 7, 10, 16, 20, 24, 29, 34, 39), k=rng.randint(0, 3)),
                               3, 4]
                    if rng.random() < 0.3:
                        numbers = rng.choices(range(8), k=rng.randint(1, 6))
                    for number in numbers:
                        time += rng.choice((0, 0, 1, 30, rng.randint(0, 5000)))
                        rows.append((chip, *core, risc, number, time))
    if rng.random() < 0.3:
        rng.shuffle(rows)
    return rows


# ---- logs of zones ------------------------------------------------------------------------------

KINDS = ("BRISC", "NCRISC", "TRISC", "ERISC", "TENSIX_RISC_AGG", "DM")
KERNELS, FIRMWARE = {f"{kind}-KERNEL" for kind in KINDS}, {f"{kind}-FW" for kind in KINDS}
MASTERS = {"BRISC": "BRISC-FW", "ERISC": "ERISC-FW", "TENSIX_RISC_AGG": "TRACE-FW"}

Zone = collections.namedtuple("Zone", "ts zone phase risc core host data")


def zone_is(zones, phase=None, risc=ANY):
    return lambda m: (m.zone in zones and risc in (ANY, m.risc) and
                      (phase is None or m.phase == phase))


def per_core(series, starts, ends):
    cores = {}
    for m in series:
        cores.setdefault(m.core, []).append(m)
    return [d for part in cores.values() for d in first_last(part, starts, ends)]


def total(series, starts, _):
    found = sum(m.data for m in series if starts(m))
    return [found] if found else []


def both(across, name, kind, match):
    return name, across, kind, match, match


ZONE_RULES = [
    both("ops", "trace_fw_duration", first_last, zone_is({"TRACE-FW"}, risc="TENSIX_RISC_AGG")),
    both("ops", "trace_kernel_duration", first_last, zone_is({"TRACE-KERNEL"}, risc="TENSIX_RISC_AGG")),
    ("trace2trace - FW", "device", adjacent, zone_is({"TRACE-FW"}, "ZONE_END"),
     zone_is({"TRACE-FW"}, "ZONE_START")),
    ("trace2trace - kernel", "device", adjacent, zone_is({"TRACE-KERNEL"}, "ZONE_END"),
     zone_is({"TRACE-KERNEL"}, "ZONE_START")),
    ("op2op", "core", adjacent, zone_is(KERNELS, "ZONE_END"),
     zone_is({"BRISC-KERNEL", "NCRISC-KERNEL"}, "ZONE_START")),
    both("ops", "device_kernel_first_to_last_start", first_last, zone_is(KERNELS, "ZONE_START")),
    both("ops", "device_kernel_duration_per_core", per_core, zone_is(KERNELS)),
    both("ops", "device_fw_duration", first_last, zone_is(FIRMWARE)),
    both("ops", "device_kernel_duration", first_last, zone_is(KERNELS)),
    ("device_kernel_duration_dm_start", "ops", first_last,
     zone_is({"BRISC-KERNEL", "NCRISC-KERNEL", "ERISC-KERNEL"}), zone_is(KERNELS)),
    *(both("ops", f"device_{name}_kernel_duration", first_last, zone_is({zone + "-KERNEL"}, risc=risc))
      for name, zone, risc in (("brisc", "BRISC", "BRISC"), ("ncrisc", "NCRISC", "NCRISC"),
                               ("trisc0", "TRISC", "TRISC_0"), ("trisc1", "TRISC", "TRISC_1"),
                               ("trisc2", "TRISC", "TRISC_2"), ("erisc", "ERISC", "ERISC"))),
    both("ops", "device_compute_cb_wait_front", total,
         zone_is({"CB-COMPUTE-WAIT-FRONT"}, risc="TRISC_0")),
    both("ops", "device_compute_cb_reserve_back", total,
         zone_is({"CB-COMPUTE-RESERVE-BACK"}, risc="TRISC_2")),
]


def read_zones(rows):
    """chip -> core -> series, chip -> device series; rows as devlog_support.zone_rows() has them."""
    chips = {}
    for row in rows:
        chip, x, y, risc, _, ts, data, host, _, _, zone, phase = row[:12]
        chips.setdefault(chip, {}).setdefault((x, y), {}).setdefault(risc, []).append(
            Zone(ts, zone, phase, risc, (x, y), host, data))
    cores = {chip: {core: sorted((m for lane in riscs.values() for m in sorted(lane, key=lambda m: m.ts)),
                                 key=lambda m: m.ts)
                    for core, riscs in grid.items()} for chip, grid in chips.items()}
    return cores, {chip: sorted((m for series in grid.values() for m in series), key=lambda m: m.ts)
                   for chip, grid in cores.items()}


def find_ops(series):
    """An op ends when every core of its group has seen its firmware start and end; what is left of a
    group becomes part of the next one, as it always has."""
    groups = {}
    for m in series:
        if m.host:
            groups.setdefault(m.host, []).append(m)
    ops, op = [], []
    for group in groups.values():
        cores, state = {m.core for m in group}, {}
        for m in group:
            op.append(m)
            if MASTERS.get(m.risc) != m.zone or m.phase not in ("ZONE_START", "ZONE_END"):
                continue
            if m.phase == "ZONE_START":
                state[m.core] = "open"
            elif state.get(m.core) == "open":
                state[m.core] = "done"
            if len(state) == len(cores) and set(state.values()) == {"done"} and m.phase == "ZONE_END":
                ops.append(op)
                op, state = [], {}
    return ops


def stats_zones(rows):
    text = ""
    cores, devices = read_zones(rows)
    for chip, grid_of in cores.items():
        scopes = {"core": list(grid_of.values()), "device": [devices[chip]],
                  "ops": find_ops(devices[chip])}
        for name, across, kind, starts, ends in ZONE_RULES:
            groups = [found for found in (kind(s, starts, ends) for s in scopes[across]) if found]
            if not groups:
                continue
            stats = summary(groups)
            text += f"\n=================== {name} ===================\n"
            if stats["Count"] > 1:
                text += f"{'Count':>12}          = {stats['Count']:>10,.0f}\n"
                for key in ("Average", "Max", "Median", "Min", "Sum", "Range"):
                    text += f"{key:>12} [cycles] = {stats[key]:>10,.0f}\n"
            else:
                text += f"    Duration [cycles] = {stats['Max']:>10,.0f}\n"
            text += "\n"
    return text


def random_zones(rng):
    """Ops on some cores of some chips, replayed, with zones of the user; some markers are lost."""
    rows, lose = [], rng.choice((0, 0, 0.05))
    riscs = [("BRISC", "BRISC"), ("NCRISC", "NCRISC"), ("TRISC_0", "TRISC"), ("TRISC_1", "TRISC"),
             ("TRISC_2", "TRISC")]
    for chip in rng.sample(range(5), rng.choice((1, 1, 2))):
        base = rng.randint(0, 10 ** 12)
        cores = rng.sample([(x, y) for x in range(9) for y in range(9)], rng.randint(1, 5))
        for x, y in cores:
            eth = rng.random() < 0.1
            for risc, kind in [("ERISC", "ERISC")] if eth else riscs[:rng.randint(1, 5)]:
                for op in range(rng.randint(1, 4)):
                    host = rng.choice((0, (op + 1) << 10 | chip, 1 << 10 | chip))
                    time = base + op * 20000 + rng.randint(0, 40)

                    def add(late, zone, phase, data=0):
                        if rng.random() >= lose:
                            rows.append((chip, x, y, risc, 7, time + late, data, host, "", "", zone, phase,
                                         3, "a.cc", ""))
                    add(0, f"{kind}-FW", "ZONE_START")
                    add(rng.choice((0, 100)), f"{kind}-KERNEL", "ZONE_START")
                    if rng.random() < 0.3:
                        add(150, "MINE", "ZONE_START")
                        add(150 + rng.randint(0, 90), "MINE", "ZONE_END")
                    if risc == "TRISC_0":
                        add(300, "CB-COMPUTE-WAIT-FRONT", "ZONE_TOTAL", rng.randint(0, 500))
                    if risc == "TRISC_2":
                        add(300, "CB-COMPUTE-RESERVE-BACK", "ZONE_TOTAL", rng.randint(0, 500))
                    add(1000 + rng.randint(0, 300), f"{kind}-KERNEL", "ZONE_END")
                    add(1300 + rng.randint(0, 50), f"{kind}-FW", "ZONE_END")
        if rng.random() < 0.3:
            for op in range(rng.randint(1, 3)):
                for zone in ("FW", "KERNEL"):
                    for late, phase in ((0, "ZONE_START"), (rng.randint(1, 99), "ZONE_END")):
                        rows.append((chip, 0, 20, "TENSIX_RISC_AGG", 9, base + op * 500 + late, 0,
                                     (op + 50) << 10, "", "", f"TRACE-{zone}", phase, 3, "a.cc", ""))
    if rng.random() < 0.3:
        rng.shuffle(rows)
    return rows
