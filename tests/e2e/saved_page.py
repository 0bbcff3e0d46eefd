"""What lies in a page that holds its trace (docs/formats/html.md), read without the page: head() and images(), and
Trace, an image of a .utr file (docs/formats/utr.md) with its strings, tracks and rows."""
import base64
import collections
import json
import re
import struct
import zlib

BLOCK = 16384
KINDS = (None, "string", "unsigned", "signed", "double", "unsigned", "bool", "json")  # of arguments
ELEMENT = 1  # flag of an argument: of an array
COLUMNS = (("Q", True), ("Q", False), ("I", False), ("I", True))  # of a block; whether numbers are differences


def unpack(text, element="trace"):
    packed = re.search(rf'<script type="application/octet-stream" id="{element}">([^<]*)', text)[1]
    return zlib.decompress(base64.b64decode(packed))


def sections(image):
    at, count = struct.unpack_from("<QI", image, 24)
    found = (struct.unpack_from("<IIQQ", image, at + 32 * i) for i in range(count))
    return {number: (offset, size) for number, _, offset, size in found}


def joined(image):
    """An image with its rows in order, as a .utr file has them."""
    known = sections(image)
    tracks, out, at = known[6], bytearray(image), known[12][0]
    for track in range(tracks[0], sum(tracks), 64):
        left = struct.unpack_from("<Q", image, track)[0]
        while left:
            n = min(left, BLOCK)
            for form, steps in COLUMNS:
                size = struct.calcsize(form)
                planes = image[at:at + n * size]
                values = [int.from_bytes(planes[i::n], "little") for i in range(n)]
                if steps:
                    values = [v % 2 ** (8 * size) for v in running(values)]
                struct.pack_into(f"<{n}{form}", out, at, *values)
                at += n * size
            left -= n
    return bytes(out)


def running(values):
    total = 0
    for value in values:
        total += value
        yield total


def read(text, element="trace"):
    """The head of a page's trace, and the image of each of its files."""
    data = unpack(text, element)
    size = int.from_bytes(data[4:8], "little")
    if data[:4] != b"UTI2":
        raise ValueError("not the trace of a page")
    head, at, images = json.loads(data[8:8 + size]), 8 + size, []
    for trace in head["traces"]:
        images.append(joined(data[at:at + trace["bytes"]]))
        at += trace["bytes"]
    return head, images


Row = collections.namedtuple("Row", "start val name cat kind args")


class Trace:
    """Names and rows of an image."""

    def __init__(self, image):
        self.image, self.known = image, sections(image)
        starts = self.column(3, "Q")
        text = self.bytes(2)
        self.strings = [""] + [text[a:b - 1].decode(errors="replace") for a, b in zip(starts, starts[1:])]
        self.types = [(self.strings[n], self.strings[c], k) for n, c, k, _, _ in self.items(4, "IIBBH")]
        self.processes = [self.strings[p[2]] for p in self.items(5, "QIIIIiiII")]
        titles = [self.strings[p[-1]] for p in self.items(20, "BBBBIIiiI")]
        self.processes = [title or name for title, name in zip(titles, self.processes)]
        self.shapes, self.shape_args = self.items(9, "III"), self.items(10, "IBBH")
        self.words = self.column(11, "I")
        self.first = struct.unpack_from("<Q", self.bytes(1), 32)[0]
        self.tracks = [(self.processes[t[4]], self.strings[t[5]]) for t in self.items(6, "QQQQIIIIIiII")]
        self.rows = list(self.all_rows())

    def bytes(self, section):
        offset, size = self.known[section]
        return self.image[offset:offset + size]

    def items(self, section, form):
        return list(struct.iter_unpack("<" + form, self.bytes(section)))

    def column(self, section, form):
        return [value for value, in self.items(section, form)]

    def all_rows(self):
        """Of each track, its rows."""
        data, at = self.bytes(12), 0
        for track in self.items(6, "QQQQIIIIIiII"):
            rows, left = [], track[0]
            while left:
                n = min(left, BLOCK)
                columns = []
                for form, _ in COLUMNS:
                    columns.append(struct.unpack_from(f"<{n}{form}", data, at))
                    at += struct.calcsize(f"<{n}{form}")
                rows += [Row(ts - self.first, val, *self.types[kind], self.args(args))
                         for ts, val, kind, args in zip(*columns)]
                left -= n
            yield rows

    def args(self, at):
        """A list of arguments, as an object."""
        if not at:
            return {}
        first, count, _ = self.shapes[self.words[at]]
        found, at = {}, at + 1
        for key, form, flags, _ in self.shape_args[first:first + count]:
            value, at = self.value(form, at)
            if flags & ELEMENT:
                found.setdefault(self.strings[key], []).append(value)
            else:
                found[self.strings[key]] = value
        return found

    def value(self, form, at):
        raw = self.words[at] | (self.words[at + 1] << 32 if at + 1 < len(self.words) else 0)
        kind = KINDS[form & 15]
        if form & 16 or kind in ("string", "json", "bool"):
            raw, width = self.words[at], 1
        else:
            width = 2
        if kind == "string":
            return self.strings[raw], at + width
        if kind == "json":
            return json.loads(self.strings[raw]), at + width
        if kind == "double":
            return struct.unpack("<d", raw.to_bytes(8, "little"))[0], at + width
        if kind == "signed":
            bits = 32 * width
            return raw - (1 << bits) if raw >> (bits - 1) else raw, at + width
        return (bool(raw) if kind == "bool" else raw), at + width
