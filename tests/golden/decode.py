"""Files that are not text, as text that tells all that is in them, for run.py.

decode(NAME, DATA, WORDS) gives the name and the bytes to compare: databases as SQL, protobuf as
fields, compressed files as what they hold, tarballs as lists, .utr files as the Chrome JSON that
the program makes of them, pages without the files of web/ that every page carries, those of the
viewer as what they hold. What it does not know stays as it is. WORDS puts names in the place of what differs between machines.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/e2e"))
import saved_page  # noqa: E402
WEB = SOURCE / "web"
UNITRACE = pathlib.Path(os.environ.get("UNITRACE_BUILD", SOURCE / "build")) / "bin/unitrace"


def hashed(data):
    return hashlib.sha256(data).hexdigest()[:16]


def viewer(data):
    """What a page of the viewer holds, but for the viewer itself: the head of its trace, its traces as model() tells
    them, and the sheets of tools. A file's date is no result."""
    text = data.decode()
    head, images = saved_page.read(text)
    lines = [f"{key}: {json.dumps(value)}" for key, value in head["info"].items()]
    lines.append(f"whole: {json.dumps(head['whole'])}")
    for trace, image in zip(head["traces"], images):
        lines.append(f"groups: {json.dumps(trace['groups'])}")
        lines.append(model(image).decode(errors="surrogateescape"))
    for tool, name, sheet in re.findall(r'data-tool="([^"]*)" data-name="([^"]*)">([^<]*)', text):
        lines.append(f"{tool} {name}: {zlib.decompress(base64.b64decode(sheet)).decode()}")
    lines = "\n".join(lines)
    return re.sub(r"log of \d{4}-\d\d-\d\d \d\d:\d\d UTC", "log of @DATE@", lines).encode(errors="surrogateescape") + b"\n"


def page(data):
    """Longest first: a file of web/ may be a part of another."""
    if b'id="trace"' in data:
        return viewer(data)
    for path in sorted(WEB.glob("*.*"), key=lambda p: -p.stat().st_size):
        data = data.replace(path.read_bytes(), f"[web/{path.name}]\n".encode())
    return data


def tarball(data, words):
    """Contents by a number that does not depend on what every page and every run has of its own."""
    lines = []
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            content = tar.extractfile(member).read() if member.isfile() else b""
            content = words(decode(member.name, content, words)[1])
            lines.append(f"{member.mode:o} {member.type.decode()} {len(content)} "
                         f"{hashed(content) if content else '-'} {member.name} {member.linkname}")
    return "\n".join(line.rstrip() for line in lines).encode(errors="surrogateescape") + b"\n"


def database(data):
    with tempfile.NamedTemporaryFile(suffix=".db") as copy:
        copy.write(data)
        copy.flush()
        link = sqlite3.connect(copy.name)
        link.text_factory = lambda raw: raw.decode(errors="backslashreplace")
        lines = list(link.iterdump())
        link.close()
    return "\n".join(lines).encode() + b"\n"


def model(data):
    """A .utr file is read back: its bytes are free to change, what it says is not."""
    with tempfile.NamedTemporaryFile(suffix=".utr") as copy:
        copy.write(data)
        copy.flush()
        done = subprocess.run([UNITRACE, "export", "-f", "chrome", "-o", "-", copy.name],
                              capture_output=True)
    return done.stdout or done.stderr


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("cut short")
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """The fields of a message: (number, wire type, value)."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 2, 5):
            size = 8 if kind == 1 else 4
            if kind == 2:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if at > len(data):
                raise ValueError("cut short")
        else:
            raise ValueError(f"wire type {kind}")
        if not number:
            raise ValueError("field 0")
        found.append((number, kind, value))
    return found


def is_text(data):
    try:
        return all(ch >= " " or ch in "\t\n" for ch in data.decode())
    except UnicodeDecodeError:
        return False


def message(data, depth=0):
    """Nobody tells whether bytes are a text or a message: a text where they can be one."""
    lines, indent = [], "  " * depth
    for number, kind, value in fields(data):
        if kind == 0:
            lines.append(f"{indent}{number}: {value}")
        elif kind != 2 or not value:
            lines.append(f"{indent}{number}: 0x{value[::-1].hex()}")
        elif is_text(value):
            lines.append(f"{indent}{number}: {value.decode()!r}")
        else:
            try:
                lines += [f"{indent}{number}:", *message(value, depth + 1)]
            except ValueError:
                lines.append(f"{indent}{number}: hex {value.hex()}")
    return lines


def decode(name, data, words):
    if name.endswith((".tgz", ".tar.gz")):
        return name + ".list", tarball(data, words)
    if name.endswith(".gz") and data[:2] == b"\x1f\x8b":
        inner, text = decode(name[:-3], gzip.decompress(data), words)
        return name + ".unpacked" + inner[len(name) - 3:], text
    if data.startswith(b"SQLite format 3\0"):
        return name + ".sql", database(data)
    if name.endswith((".pftrace", ".perfetto-trace")):
        return name + ".fields", "\n".join(message(data)).encode() + b"\n"
    if name.endswith(".utr"):
        return name + ".json", model(data)
    if name.endswith(".html"):
        return name, page(data)
    return name, data
