"""Random Chrome traces: legal ones in every shape that the format allows, and ways to break them.

Everything comes from one random.Random, so a seed names a file for ever. As a program:

    trace_gen.py SEED [EVENTS]      writes one legal trace to standard output
"""
import json
import random
import sys

NAMES = ["aten::linear", "cudaLaunchKernel", "a", "", "kernel<float, 4>(int*)", "naïve café", "雪",
         "tab\there", "quote\"and\\slash", "emoji 😀", "x" * 300, "line\nbreak", "\x01control",
         "/path/to/file.py:12", "λ", "name with spaces", "\u2028", "0", "null"]
DIGITS = ["0", "7", "4711", "007", "-1", "1.5", "12345678", "9999999999999999999",
          "18446744073709551616", "0x0", "0x1f", "0X1F", "0x01", "0xffffffffffffffff",
          "0x1ffffffffffffffff", "12a", "1 "]
CATS = ["cpu_op", "kernel", "ac2g", "fwdbwd", "", "a;b", "unicode é", "cuda_runtime"]
KEYS = ["External id", "correlation", "Input Dims", "x", "key \"q\"", "", "grid", "ключ", "data",
        "bytes", "device", "stream", "a.b", "long key " * 8]


class Gen:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.pids = self._ids("process")
        self.tids = self._ids("thread")
        self.negative = self.r.random() < 0.1
        self.base = self.r.choice([0, 0, 1000, 1.7e9, 1.7e12, 1.7e15])

    def _ids(self, word):
        kind = self.r.random()
        count = self.r.randint(1, 5)
        if kind < 0.6:
            return [self.r.choice([i, 100 + i, 2 ** 31 + i, 2 ** 53 + 2 * i, 2 ** 64 - 1 - i])
                    for i in range(count)]
        if kind < 0.8:
            return [f"{word} {i}" for i in range(count)]
        return [self.r.choice([-1 - i, i, f"{word}/{i}", "é" * (i + 1)]) for i in range(count)]

    # values

    def number(self):
        r = self.r
        return r.choice([
            lambda: r.randint(0, 9), lambda: r.randint(-5, 5), lambda: r.randint(0, 2 ** 64 - 1),
            lambda: -r.randint(0, 2 ** 63), lambda: r.random(), lambda: r.random() * 1e9,
            lambda: round(r.random() * 1000, 3), lambda: 10.0 ** r.randint(-300, 300),
            lambda: 0.1, lambda: 1e22, lambda: 5e-324, lambda: -0.0, lambda: 2 ** 80,
            lambda: float(r.randint(0, 2 ** 60)), lambda: 123456789.123456789,
            lambda: r.uniform(-1, 1) * 10.0 ** r.randint(-320, 308)])()

    def text(self):
        r = self.r
        if r.random() < 0.6:
            return r.choice(NAMES)
        if r.random() < 0.3:
            return r.choice(DIGITS)
        return "".join(chr(r.choice([r.randint(0x20, 0x7e), r.randint(0x20, 0x7e),
                                     r.randint(0xa0, 0x2ff), r.randint(0x4e00, 0x4eff),
                                     r.randint(0x1f600, 0x1f64f), r.randint(1, 0x1f)]))
                       for _ in range(r.randint(0, 40)))

    def value(self, depth=0):
        r = self.r
        kind = r.random()
        if kind < 0.45:
            return self.number()
        if kind < 0.65:
            return self.text()
        if kind < 0.75:
            return r.choice([True, False, None])
        if depth > 3:
            return []
        if kind < 0.9:
            return [self.value(depth + 1) for _ in range(r.choice([0, 1, 2, 3, 3, 3, 20]))]
        return {self.key(): self.value(depth + 1) for _ in range(r.randint(0, 4))}

    def key(self):
        return self.r.choice(KEYS) if self.r.random() < 0.9 else self.text()

    def args(self):
        return {self.key(): self.value() for _ in range(self.r.choice([0, 1, 2, 3, 5, 12]))}

    def time(self):
        r = self.r
        ts = self.base + r.randint(0, 10 ** 6) / 1000
        if self.negative and r.random() < 0.3:
            ts = -ts
        return ts

    # events

    def place(self):
        return {"pid": self.r.choice(self.pids), "tid": self.r.choice(self.tids)}

    def common(self, ph):
        r = self.r
        e = {"ph": ph, "name": r.choice(NAMES), "ts": self.time(), **self.place()}
        if r.random() < 0.8:
            e["cat"] = r.choice(CATS)
        if r.random() < 0.5:
            e["args"] = self.args()
        if r.random() < 0.1:
            e[r.choice(["tts", "cname", "sf", "custom", "tdur"])] = self.value()
        return e

    def ident(self):
        r = self.r
        return r.choice([r.randint(0, 9), f"0x{r.randint(0, 255):x}", str(r.randint(0, 9)),
                         f"id {r.randint(0, 5)}", r.randint(2 ** 48, 2 ** 64 - 1)])

    def spans(self):
        r = self.r
        e = self.common("X")
        e["dur"] = r.choice([0, r.randint(0, 1000), r.randint(0, 10 ** 6) / 1000, r.random() * 5])
        if r.random() < 0.1:
            e[r.choice(["id", "scope", "bind_id"])] = self.ident()
        if r.random() < 0.05:
            e.update(r.choice([{"s": "t"}, {"bp": "e"}, {"id2": {"local": 5}}]))
        return [e]

    def pairs(self):
        """B and E, properly nested on a track of their own, so that any order of tracks is one."""
        r = self.r
        place = {"pid": r.choice(self.pids), "tid": f"nested {r.randint(0, 10 ** 9)}"}
        ts, out, open_ = self.base, [], 0
        for _ in range(r.randint(1, 8)):
            ts += r.randint(1, 5000)
            if open_ and r.random() < 0.5:
                out.append({"ph": "E", "ts": ts, **place})
                open_ -= 1
            else:
                out.append({**self.common("B"), "ts": ts, **place})
                open_ += 1
        for _ in range(open_):
            ts += 1
            out.append({"ph": "E", "ts": ts, **place})
        return out

    def instants(self):
        e = self.common(self.r.choice("iIR"))
        if self.r.random() < 0.7:
            e["s"] = self.r.choice("tpg")
        return [e]

    def counters(self):
        r = self.r
        e = self.common("C")
        e["args"] = {r.choice(["value", "a", "b", "W", "é"]): self.number()
                     for _ in range(r.randint(1, 3))}
        for extra in ("tts", "cname", "sf", "custom", "tdur"):
            e.pop(extra, None)
        if r.random() < 0.2:
            e["id"] = self.ident()
        if r.random() < 0.5:
            e.pop("tid", None)
        return [e]

    def flows(self):
        r = self.r
        ident, name, cat = self.ident(), r.choice(NAMES), r.choice(CATS)
        out = []
        for ph in r.choice(["sf", "stf", "s", "f", "st"]):
            e = {**self.common(ph), "id": ident, "name": name, "cat": cat}
            if ph == "f" and r.random() < 0.7:
                e["bp"] = "e"
            out.append(e)
        return out

    def asyncs(self):
        r = self.r
        name, cat = r.choice(NAMES), r.choice(CATS)
        ident = {"id": self.ident()} if r.random() < 0.7 else {"id2": r.choice(
            [{"local": self.ident()}, {"global": self.ident()}])}
        if r.random() < 0.2:
            ident["scope"] = r.choice(["s1", "é"])
        return [{**self.common(ph), **ident, "name": name, "cat": cat}
                for ph in r.choice(["be", "bne", "b", "SF", "STpF", "nne"])]

    def objects(self):
        ident, name = self.ident(), self.r.choice(NAMES)
        return [{**self.common(ph), "id": ident, "name": name} for ph in self.r.choice(["NOD", "O"])]

    def metadata(self):
        r = self.r
        kind = r.choice(["process_name", "thread_name", "process_sort_index", "thread_sort_index",
                         "process_labels", "custom_metadata"])
        args = {"process_name": {"name": r.choice(NAMES)}, "thread_name": {"name": r.choice(NAMES)},
                "process_sort_index": {"sort_index": r.randint(-5, 5)},
                "thread_sort_index": {"sort_index": r.randint(-5, 5)},
                "process_labels": {"labels": r.choice(NAMES)},
                "custom_metadata": self.args()}[kind]
        return [{"ph": "M", "name": kind, "args": args, **self.place()}]

    def samples(self):
        e = self.common("P")
        e["sf"] = self.r.randint(0, 5)
        return [e]

    def events(self, count):
        kinds = [self.spans] * 6 + [self.pairs, self.instants, self.counters, self.flows,
                                    self.asyncs, self.objects, self.metadata, self.samples]
        out = []
        while len(out) < count:
            out += self.r.choice(kinds)()
        if self.r.random() < 0.3:
            self.r.shuffle(out)
        return out

    # files

    def dump(self, value):
        """JSON in one of the spellings that writers use."""
        r = self.r
        return json.dumps(value, ensure_ascii=r.random() < 0.5,
                          separators=r.choice([(",", ":"), (", ", ": "), (" , ", " : ")]))

    def file(self, count):
        r = self.r
        events = self.events(count)
        shape = r.choice(["array", "object", "object", "lines", "indent"])
        texts = [self.dump(self.shuffled(e)) for e in events]
        if shape == "array":
            return "[" + r.choice([",", ",\n", "\n,\n"]).join(texts) + "]" + r.choice(["", "\n"])
        if shape == "lines":
            return "\n".join(texts) + r.choice(["", "\n"])
        members = {"displayTimeUnit": r.choice(["ms", "ns"]), "otherData": self.args(),
                   "stackFrames": {str(i): {"name": r.choice(NAMES)} for i in range(3)},
                   "schemaVersion": 1, "traceName": self.text()}
        chosen = r.sample(sorted(members), r.randint(0, len(members)))
        if shape == "indent":
            whole = {k: members[k] for k in chosen}
            whole["traceEvents"] = events
            return json.dumps(whole, indent=r.choice([1, 2, "\t"]))
        parts = [f"{json.dumps(k)}:{self.dump(members[k])}" for k in chosen]
        parts.insert(r.randint(0, len(parts)), '"traceEvents":[' + ",\n".join(texts) + "]")
        return "{" + r.choice([",", ", ", ",\n"]).join(parts) + "}\n"

    def shuffled(self, event):
        if self.r.random() < 0.7:
            return event
        items = list(event.items())
        self.r.shuffle(items)
        return dict(items)


def mutate(r, data):
    """Bytes that are broken in one of the ways in which files get broken."""
    data = bytearray(data)
    at = r.randrange(len(data)) if data else 0
    kind = r.randrange(10)
    if kind == 0:
        return bytes(data[:at])
    if kind == 1 and data:
        data[at] = r.randrange(256)
    elif kind == 2:
        del data[at:at + r.randint(1, 20)]
    elif kind == 3:
        data[at:at] = bytes(r.randrange(256) for _ in range(r.randint(1, 8)))
    elif kind == 4:
        data[at:at] = r.choice([b",", b'"', b"{", b"}", b"[", b"]", b"\\", b":", b"\0", b"NaN"])
    elif kind == 5:
        end = min(len(data), at + r.randint(1, 200))
        data[at:at] = data[at:end]
    elif kind == 6:
        return bytes(data).rstrip(b" \n\r\t]}")
    elif kind == 7:
        return bytes(data) + r.choice([b"\0" * 50, b",", b"garbage", b"{}", b"]", b"\n[]"])
    elif kind == 8:
        return b"\xef\xbb\xbf" + bytes(data)
    else:
        for _ in range(3):
            data = bytearray(mutate(r, bytes(data)))
    return bytes(data)


def trace(seed, count=40):
    return Gen(seed).file(count)


if __name__ == "__main__":
    sys.stdout.write(trace(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40))
