#!/usr/bin/env python3
"""Write the seeds of fuzz_spool and fuzz_symbol into corpus/: one of everything that a spool can
hold. Run it again when wire/spool.h has changed; inputs that once crashed are kept beside them."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SPOOL_H = (HERE / "../../src/record/wire/spool.h").read_text()
TYPES = {name: i + 1 for i, name in enumerate(re.findall(r"^\tX\((\w+),", SPOOL_H, re.M))}
DATA, META = 1, 2
PARTS = {}  # of each thread, in the seed that is being made
BEGIN, END, LONG, RESERVED, SKIP = 1, 2, 3, 4, 5


def pair(low, high=0):
    return low | high << 32


def word(kind, ticks, payload):
    return kind | (ticks & 0xffffffff) << 4 | payload << 36


class Chunk:
    def __init__(self, kind):
        self.kind = kind
        self.words = [0] if kind == META else []
        self.ticks = 1000

    def long(self, type, *words, data=b"", kind=LONG):
        self.ticks += 10
        data += bytes(-len(data) % 8)
        total = 1 + len(words) + len(data) // 8
        self.words.append(word(kind, self.ticks, TYPES[type] | total << 8))
        self.words += [w & (1 << 64) - 1 for w in words]
        self.words += [x for (x,) in struct.iter_unpack("<Q", data)]
        return self

    def thread(self, number, ticks=1000):
        self.ticks = ticks
        PARTS[number] = PARTS.get(number, 0) + 1
        return self.long("THREAD", ticks, pair(number, PARTS[number]))

    def begin(self, name=1, domain=1):
        self.ticks += 10
        self.words.append(word(BEGIN, self.ticks, domain | name << 8))
        return self

    def end(self, domain=1):
        self.ticks += 10
        self.words.append(word(END, self.ticks, domain))
        return self

    def raw(self, *words):
        self.words += words
        return self

    def pack(self):
        body = struct.pack(f"<{len(self.words)}Q", *self.words)
        return struct.pack("<H", len(body) << 2 | self.kind) + body


def names():
    """The definitions that all seeds share."""
    c = Chunk(META)
    for i, text in enumerate((b"work", b"domain", b"key", b"object_name", b"omp_metadata_imbalance")):
        c.long("STRING", pair(i + 1, len(text)), data=text)
    c.long("DOMAIN", pair(1, 2)).long("DOMAIN", pair(300, 2))
    c.long("THREAD_INFO", pair(1, 77), 5, 0x6d6f63, 0).long("THREAD_NAME", pair(1, 1))
    c.long("CLOCK_PAIR", 5000, 6000, 7000, 8000, 9)
    return c


def seed(*chunks, header=b""):
    PARTS.clear()
    return header.ljust(64, b"\0") + b"".join(c.pack() for c in (names(), *chunks))


def numbers():
    c = Chunk(META)
    c.long("COUNTER_DEF", pair(1, 1), pair(2, 1)).long("COUNTER_META", pair(1, 3), 4, data=b"MB/s")
    c.long("HISTOGRAM_DEF", pair(2, 1), pair(1, 1 | 8 << 8)).long("CLOCK_DOMAIN", 3, 10**6, 0, 900)
    c.long("TRACK_GROUP", pair(4, 1)).long("TRACK", pair(5, 4), pair(1, 1))
    c.long("HEAP_FUNCTION", pair(6, 1), 2)
    path = b"/proc/self/exe"
    c.long("PROCESS_MAP", 0x1000, 0x9000000, 0, len(path), data=path)
    c.long("JIT_METHOD", pair(9, 1), 700, 0x5000, 64, pair(1, 2), 1, pair(0, 12))
    return c


def seeds():
    yield "tasks", seed(Chunk(DATA).thread(1).begin().begin().end().end().begin(2).end().end())
    yield "unbalanced", seed(Chunk(DATA).thread(1).begin().begin(1, 2).end().end(2).begin().end(7).begin())
    yield "threads", seed(Chunk(DATA).thread(1).begin().thread(2, 2000).begin().end(),
                          Chunk(DATA).thread(1, 3000).begin().end().end().thread(2, 900).end())
    d = Chunk(DATA).thread(1)
    d.long("TASK_BEGIN", pair(1, 1), 11, 22, 0, 0, 0, 0).long("META_NUM", pair(1, 3), 11, 0, 0, pair(1), 2, 5, 6)
    d.long("META_STR", pair(1, 3), 0, 0, 0, pair(3), data=b"abc").long("META_TEXT", pair(1, 3), 0, 0, 0, 5, data=b"hello")
    d.long("META_NUM", pair(1, 3), 99, 0, 0, pair(8, 3), 1, 1).long("META_NUM", pair(1, 5), 0, 0, 0, 1, 4, 1, 2, 3, 4)
    d.end().long("META_STR", pair(1, 3), 0, 0, 0, pair(2, 1), data=b"gl")
    yield "arguments", seed(d)
    yield "carried", seed(Chunk(DATA).thread(1).begin().long("TASK_BEGIN", pair(1, 1), 11),
                          Chunk(DATA).thread(1, 5000).long("META_NUM", pair(1, 3), 11, 0, 0, pair(1), 1, 5),
                          Chunk(DATA).thread(1, 9000).end().begin())
    d = Chunk(DATA).thread(1).long("TASK_BEGIN_FN", 1, 0x2000, 12).long("ID_CREATE", 1, 13)
    d.long("OVERLAPPED_BEGIN", pair(1, 1), 21).long("OVERLAPPED_END", 1, 21).long("OVERLAPPED_BEGIN", pair(1, 1), 21)
    d.long("OVERLAPPED_BEGIN_CLOCK", pair(1, 1), 3, 5, 31).long("OVERLAPPED_END_CLOCK", 1, 3, 9, 31)
    d.long("TASK_GROUP", pair(1, 1), 41).long("REGION_BEGIN", pair(1, 1), 51).long("REGION_BEGIN", pair(1, 0), 51)
    d.long("REGION_END", 1, 51).long("REGION_END", 1, 51).long("RELATION", pair(1, 1), 0, 12)
    d.long("RELATION", pair(1, 3), 12, 21).long("ID_DESTROY", 1, 13).end()
    d.long("META_STR", pair(1, 4), 41, 0, 0, pair(3), data=b"tbb")
    yield "ids", seed(d, numbers())
    d = Chunk(DATA).thread(1).long("FRAME_BEGIN", 1, 1).long("FRAME_BEGIN", 1, 1).long("FRAME_END", 1, 1)
    d.long("FRAME_END", 1, 1).long("FRAME_SUBMIT", 1, 0, 0, 0, 1200, 1100).long("FRAME_BEGIN", 1)
    d.long("TASK_BEGIN_CLOCK", pair(1, 1), 3, 7).long("TASK_END_CLOCK", 1, 3, 9).long("TASK_END_CLOCK", 1, 3, 9)
    d.long("TASK_BEGIN_CLOCK", pair(1, 1), 3, 2**63).long("MARK", pair(1, 2)).long("MARK_OFF", 1).long("MARK", 1)
    d.long("EVENT_START", 1).begin().long("EVENT_END", 1).end().long("EVENT_START", 2).long("EVENT_END", 9)
    yield "frames", seed(numbers(), d)
    d = Chunk(DATA).thread(1).long("COUNTER", pair(1, 1), 5).long("COUNTER_CLOCK", pair(1, 8), 5, 3, 4)
    d.long("HISTOGRAM", pair(2, 2), 1, 2, 3, 4).long("MARKER", pair(1, 1), 1, 0, 0, 1, 3, 5)
    d.long("HEAP", pair(6, 1), 0x100, 64).long("HEAP", pair(6, 5), 0x100, 128, 0x200).long("HEAP", pair(6, 3), 0x200)
    d.long("SET_TRACK", 5).begin().end().begin().long("SET_TRACK", 0).end().long("PAUSE", 1).long("RESUME", 1)
    d.long("MODULE", 1, 2, pair(0, 3), data=b"lib").long("DETACH")
    yield "numbers", seed(numbers(), d)
    d = Chunk(DATA).thread(1).long("SYNC_CREATE", 0x10, pair(1, 2)).long("SYNC", 0x10, 0).long("SYNC", 0x10, 2)
    d.long("SYNC", 0x20, 0).begin().long("SYNC", 0x20, 1).end().begin().long("STITCH", 1, 0).end()
    d.thread(2, 3000).begin().long("STITCH", 1, 2).end()
    for op in (0, 6, 6, 2, 3, 1, 4, 5):
        d.long("MODEL", pair(op, 1), 8)
    yield "requested", seed(d)
    m = Chunk(META).long("PLACE", pair(50, 1), pair(3, 7)).long("PLACE", pair(51, 2), 0)
    m.long("PLACE", pair(52, 900), pair(900, 1))
    d = Chunk(DATA).thread(1).begin(50, 2).long("TASK_BEGIN", pair(1, 1), 11).long("TASK_BEGIN", pair(1, 2), 11)
    d.end(2).long("META_STR", pair(1, 3), 11, 0, 0, pair(2), data=b"up").begin(51, 2).end().begin(52, 2)
    d.long("CALL_BEGIN", pair(1, 2), 5).long("CALL_END", 1).long("WORK", pair(1, 2), pair(0, 77), 0, 0, 1500, 1600, 5)
    d.long("CALL", pair(1, 2), 77, 1400, 1450, 6).end(2).long("META_STR", pair(1, 3), 11, 0, 0, pair(2), data=b"in")
    yield "zones", seed(m, d, Chunk(DATA).thread(1, 9000).end().end(2))
    m = Chunk(META).long("STRING", pair(60, 5), data=b"/none").long("FRAME", pair(1, 2), 0, 0, 0)
    m.long("FRAME", pair(2), 0x1234, 60, 0).long("STACK", pair(3), 1).long("STACK", pair(4, 3), 2).long("STACK", pair(5, 4), 9)
    d = Chunk(DATA).thread(1).begin().long("ALLOCATED", 0x100, 1000, pair(4)).long("ALLOCATED", 0x200, 64, pair(5, 16 << 16))
    d.end().long("FREED", 0x100).long("ALLOCATED", 0x100, 0, pair(0, 1 << 24)).long("FREED", 0x300)
    d.long("ALLOCATED", 0x200, 2**63, pair(77, 255 << 16 | 1)).long("ALLOCATED", 0x100, 8)
    yield "memory", seed(m, d, Chunk(DATA).thread(2, 1050).long("FREED", 0x200).long("ALLOCATED", 0x100, 5, pair(4, 1)))
    d = Chunk(DATA).thread(1).begin().long("COUNTER", 1, 1, kind=RESERVED).raw(0, 0, word(SKIP, 1, 2))
    d.end().long("TIME", 2**40).begin().raw(word(9, 0, 0)).begin()
    yield "torn", seed(d, Chunk(3), Chunk(DATA).begin(), header=struct.pack("<IIiIIQQQ", 1, 2, -1, 1, 3, 4, 2**63, 2**62))


def elf_seed():
    """A small shared object with functions: the linker's own idea of an ELF file."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = pathlib.Path(folder, "a.c"), pathlib.Path(folder, "a.so")
        source.write_text("int first(int x) { return x + 1; }\nint second(int x) { return x * 3; }\n")
        subprocess.run(["cc", "-shared", "-nostdlib", "-Wl,-z,noseparate-code,--build-id=none",
                        "-o", out, source], check=True)
        return out.read_bytes()


def main():
    for name, data in seeds():
        (HERE / "corpus/spool" / name).write_bytes(data)
    (HERE / "corpus/symbol/shared_object").write_bytes(b"\x20\x40" + elf_seed())
    return 0


if __name__ == "__main__":
    sys.exit(main())
