#!/usr/bin/env python3
"""Fail if a document says something that is not so.

    tools/check_docs.py [--list] [FILE.md...]
    tools/check_docs.py --bare FILE.md

Checked, for all Markdown files of the repository or those given:

  links     every relative link leads to a file, and its #anchor to a heading
  files     every file of src, include and tools that is named in code is there
  options   every long option in code exists, and every `unitrace ...` command parses
  blocks    marked blocks are run, and what they print is as printed
  messages  what docs/troubleshooting.md quotes is in the source
  index     docs/README.md leads to every document below docs
  records   the table in docs/formats/spool.md is that of src/wire/spool.h
  manual    the generated man pages name every option of --help
  places    no paths of somebody's machine

A block is marked by a comment on the line above it. All blocks of one file share an empty folder,
in which build, include and examples lead to the real ones and unitrace is on the PATH:

  <!-- run -->              run with bash -eu; it must succeed
  <!-- run: status N -->    it must end with exit status N
  <!-- file: NAME -->       the block is written to this file
  <!-- output -->           what the last run printed (both streams); numbers and columns may
                            differ, a line "..." stands for any lines
  <!-- bare -->             run with --bare only: it installs something or takes long
  <!-- not run: REASON -->  never run
  <!-- not ours: --x -->    options of other programs that this document names

In README.md every block has one of these marks. --bare does what the document says, block by block,
in the source folder itself, as somebody does who has just got it; tools/fresh.sh calls it on a bare
machine. UNITRACE_BUILD says where the build is (default: build). --list names what would be run.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", SOURCE / "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"
PATIENCE = 15  # s for one block
BARE_PATIENCE = 1800  # s for a block that builds everything
ALL_MARKED = {"README.md"}  # documents in which every block is marked
# Options of programs that everybody knows; documents may name them.
KNOWN_ELSEWHERE = {"--build", "--install", "--preset", "--output-on-failure", "--cflags", "--libs",
                   "--target"}
PLACES = re.compile(r"(?<![\w.])(/root/|/home/\w|/tmp/[\w-]+/)")
FENCE = re.compile(r"^( *)(`{3,})(\w*)\s*$")


class Block:
    """A fenced block: its language, text, first line, and the comment above it."""

    def __init__(self, language, line, mark):
        self.language, self.line, self.mark, self.lines = language, line, mark, []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


class Document:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(SOURCE))
        self.blocks, self.prose = [], []
        self._read(path.read_text())

    def _read(self, text):
        block = fence = above = None
        for number, line in enumerate(text.splitlines(), 1):
            match = FENCE.match(line)
            if block is not None and match and match[2] == fence and not match[3]:
                self.blocks.append(block)
                block = None
            elif block is not None:
                block.lines.append(line)
            elif match:
                block, fence = Block(match[3], number, above), match[2]
            else:
                self.prose.append((number, line))
                found = re.match(r"^<!-- (.*?) -->$", line.strip())
                above = found[1] if found else None
                continue
            above = None
        self.open_fence = block

    def headings(self):
        """The anchors that headings get on the usual sites."""
        for _, line in self.prose:
            if match := re.match(r"^#+ (.*)", line):
                text = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", match[1]).lower()
                yield re.sub(r"[^\w -]", "", text).strip().replace(" ", "-")

    def not_ours(self):
        words = re.findall(r"<!-- not ours: (.*?) -->", "\n".join(l for _, l in self.prose))
        return set(" ".join(words).split()) | KNOWN_ELSEWHERE

    def code(self):
        """(line, text) of everything that is written as code."""
        for number, line in self.prose:
            for match in re.finditer(r"`([^`]+)`", line):
                yield number, match[1]
        for block in self.blocks:
            for number, line in enumerate(block.lines, block.line + 1):
                yield number, line


# ---- links ---------------------------------------------------------------------------------------

def check_links(doc, documents):
    for number, line in doc.prose:
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (doc.path.parent / file).resolve() if file else doc.path
            if not path.exists():
                yield f"{doc.name}:{number}: no {target}"
            elif anchor and path in documents and anchor not in documents[path].headings():
                yield f"{doc.name}:{number}: no heading #{anchor} in {file or 'this file'}"


# ---- options -------------------------------------------------------------------------------------

class Options:
    """One command's options: long name -> takes a value; letters likewise."""

    def __init__(self, command):
        text = subprocess.run([UNITRACE, command, "--help"], capture_output=True, text=True,
                              check=True).stdout
        self.shown, self.letters = {}, {}
        for match in re.finditer(r"^  (?:-(\w), |    )--([\w-]+)( \S+)?", text, re.M):
            # "--name ARG": one blank; what follows two or more is the explanation.
            self.shown[match[2]] = bool(match[3])
            if match[1]:
                self.letters[match[1]] = bool(match[3])
        self.all = dict(self.shown)

    def add_hidden(self):
        """Options that help leaves out are in the tables all the same."""
        for path in (SOURCE / "src/cmd").glob("*.c"):
            text = path.read_text()
            for match in re.finditer(r'ut_opt_hidden\(\s*(?:ut_opt_words\()?\s*ut_opt_(\w+)\('
                                     r'\s*(?:\'.\'|0),\s*"([\w-]+)"', text):
                self.all[match[2]] = match[1] != "flag"

    def find(self, name):
        """The option that name stands for, whole or shortened; None if there is none."""
        if name in self.all:
            return name
        fits = [o for o in self.all if o.startswith(name)]
        return fits[0] if len(fits) == 1 else None


def find_commands():
    text = subprocess.run([UNITRACE], capture_output=True, text=True, check=True).stdout
    listed = text.partition("\nCommands:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines() if line.split()[0] != "help"]


def read_options():
    options = {command: Options(command) for command in find_commands()}
    options["record"].add_hidden()
    return options


def check_files(doc):
    for number, line in doc.prose:
        for name in re.findall(r"`((?:src|include|tools|cmake)/[a-z0-9_./*-]+)`", line):
            if not any(SOURCE.glob(name.rstrip("/"))):
                yield f"{doc.name}:{number}: no {name}"
        if SOURCE / "src" not in doc.path.parents:
            continue
        for name in re.findall(r"`([a-z0-9_./*-]+\.(?:[ch]|def))`", line):
            if not any(any(at.glob(name)) for at in (doc.path.parent, SOURCE / "src", SOURCE)):
                yield f"{doc.name}:{number}: no {name}"


def check_words(words, options):
    """The words behind `unitrace`: what is wrong with its options, if anything."""
    command = "record"
    if words and words[0] in options:
        command, words = words[0], words[1:]
    elif words and words[0] in ("help", "--help", "--version", "--generate"):
        return None
    table = options[command]
    while words:
        word = words.pop(0)
        if word == "--" or not word.startswith("-") or word == "-":
            if command == "record":
                return None
        elif word.startswith("--"):
            name, equals, _ = word[2:].partition("=")
            found = table.find(name)
            if not found:
                return f"unitrace {command} has no option --{name}"
            if table.all[found] and not equals and words:
                words.pop(0)
        elif word[1] not in table.letters:
            return f"unitrace {command} has no option -{word[1]}"
        elif table.letters[word[1]] and len(word) == 2 and words:
            words.pop(0)
    return None


def shell_words(line):
    """The words of each simple command on a line of shell; [] where it is not shell."""
    line = re.sub(r"<[^<>]*>", "X", re.sub(r"^\s*\$ ", "", line))
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();&|")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words = list(lexer)
    except ValueError:
        return
    command = []
    for word in words + [";"]:
        if re.fullmatch(r"[();&|]+", word):
            yield command
            command = []
        elif word not in ("2>&1",) and not word.startswith(">"):
            command.append(word)


def check_options(doc, options):
    everything = {f"--{name}" for table in options.values() for name in table.all}
    everything |= {"--generate"} | doc.not_ours()
    for number, text in doc.code():
        for name in re.findall(r"(?<![\w-])--[a-z][\w-]*\w", text):
            whole = name in everything
            if not whole and not any(t.find(name[2:]) for t in options.values()):
                yield f"{doc.name}:{number}: no option {name}"
        if not re.search(r"(^|[\s/$])unitrace\b", text):
            continue
        for words in shell_words(text):
            at = next((i for i, w in enumerate(words) if re.fullmatch(r"(.*/)?unitrace", w)), None)
            if at is not None and not words[0].startswith(("[", "unitrace:")):
                wrong = check_words(words[at + 1:], options)
                if wrong:
                    yield f"{doc.name}:{number}: {wrong}"


# ---- blocks --------------------------------------------------------------------------------------

def normal(text):
    """Lines to compare: numbers become #, blanks one, empty lines none."""
    for line in text.splitlines():
        line = re.sub(r"0x[0-9a-f]+|\d[\d.]*( (ns|us|ms|s|B|[KMG]iB)\b)?", "#", line)
        line = re.sub(r"\s+", " ", line).strip()
        if line:
            yield line


def same(expected, printed):
    """Does what was printed fit what is expected, where "..." stands for any lines?"""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(same(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and expected[0] == printed[0] and same(expected[1:], printed[1:])


def environment(folder=None):
    """Of the programs that a document starts in this folder; without: of those of a bare machine."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("UT_", "PTI_", "INTEL_", "PMI", "OMPI_", "SLURM_"))}
    if folder:
        env["PATH"] = f"{BUILD / 'bin'}:{env['PATH']}"
        env["XDG_STATE_HOME"] = str(folder / ".state")
    return env


def run_block(doc, block, folder, patience=PATIENCE, env=None):
    """(what was printed, what is wrong or None)"""
    status = int(block.mark.partition("status")[2] or 0)
    try:
        done = subprocess.run(["bash", "-eu", "-c", block.text], cwd=folder,
                              env=env or environment(folder), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=patience)
    except subprocess.TimeoutExpired:
        return "", f"{doc.name}:{block.line}: took more than {patience} s"
    if done.returncode != status:
        return done.stdout, (f"{doc.name}:{block.line}: ended with {done.returncode}, not {status}:"
                             f"\n{done.stdout}")
    return done.stdout, None


def do_block(doc, block, folder, printed, **how):
    """One block, by its mark: (what the last run printed, what is wrong or None)"""
    if block.mark.startswith("file: "):
        path = folder / block.mark[6:].strip()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
    elif block.mark == "output":
        if not same(list(normal(block.text)), list(normal(printed))):
            return printed, f"{doc.name}:{block.line}: printed instead:\n{printed}"
    else:
        return run_block(doc, block, folder, **how)
    return printed, None


def check_blocks(doc):
    marked = [b for b in doc.blocks if b.mark and re.match(r"run|file: |output", b.mark)]
    printed = ""
    if not marked:
        return
    with tempfile.TemporaryDirectory(prefix="unitrace-docs-") as name:
        folder = pathlib.Path(name)
        for link, to in (("build", BUILD), ("include", SOURCE / "include"),
                         ("examples", SOURCE / "examples")):
            (folder / link).symlink_to(to)
        for block in marked:
            printed, wrong = do_block(doc, block, folder, printed)
            if wrong:
                yield wrong


def check_marks(doc):
    """Where every block has to be marked: those that are not."""
    if doc.name not in ALL_MARKED:
        return
    for block in doc.blocks:
        if not block.mark or not re.match(r"(run|bare|output)\b|file: |not run: ", block.mark):
            yield f"{doc.name}:{block.line}: this block is not marked as run, bare or not run"
    for number, line in doc.prose:
        if line.startswith("    ") and line.strip():
            yield f"{doc.name}:{number}: a command outside of a marked block: {line.strip()[:60]}"


def follow(doc):
    """Do everything that a document says, in the source folder; tell what is done."""
    env = environment()  # the program is on the path once it is installed
    printed, bad = "", 0
    for block in doc.blocks:
        if not block.mark or not re.match(r"(run|bare|output)\b|file: ", block.mark):
            continue
        start = time.monotonic()
        printed, wrong = do_block(doc, block, SOURCE, printed, patience=BARE_PATIENCE, env=env)
        bad += bool(wrong)
        print(f"{doc.name}:{block.line}: {block.mark}: {'FAIL' if wrong else 'ok'}, "
              f"{time.monotonic() - start:.0f} s", flush=True)
        if wrong:
            print(wrong[-4000:], flush=True)
    return 1 if bad else 0


# ---- messages ------------------------------------------------------------------------------------

STRING = r'"((?:[^"\\\n]|\\.)*)"'
CONVERSION = re.compile(r"%(?:%|[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z)?[diouxXeEfgGscp])")


def source_texts():
    """Every text in the source, with \0 for its variable parts; neighbours are one text."""
    texts = []
    for path in (SOURCE / "src").rglob("*.c"):
        for match in re.finditer(rf"{STRING}(?:\s*(?:PRI\w+\s*)?{STRING}|\s*PRI\w+)*", path.read_text()):
            whole = re.sub(r'"\s*PRI\w+', 'd"', match[0])
            whole = "".join(re.findall(STRING, whole))
            texts.append(CONVERSION.sub("\0", whole).replace('\\"', '"').replace("\\n", "\n"))
    return texts


def is_said(message, texts):
    """Is there a text that has the fixed parts of the message, in their order?"""
    parts = [p.strip() for p in message.split("...") if p.strip(" .:;,?()'")]
    pattern = re.compile(".*".join(re.escape(p) for p in parts), re.S)
    return bool(parts) and any(pattern.search(text) for text in texts)


def check_messages(doc):
    """Texts behind our prefixes in code; of the others a document may quote what it likes."""
    if doc.path.name != "troubleshooting.md":
        return
    texts = source_texts()
    for number, line in doc.prose:
        for quoted in re.findall(r"^\| `([^`]+)`", line):
            message = re.sub(r"^(unitrace: (warning: )?|\[(INFO|WARNING)\] )", "", quoted)
            if not is_said(message, texts):
                yield f"{doc.name}:{number}: nobody says this: {quoted}"


def check_index(documents):
    index = SOURCE / "docs/README.md"
    text = index.read_text()
    for path in documents:
        name = os.path.relpath(path, index.parent)
        if not name.startswith("..") and path != index and f"({name})" not in text:
            yield f"docs/README.md: {name} is missing"


# ---- the rest ------------------------------------------------------------------------------------

def check_records():
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(SOURCE / "tools"))
    import gen_spool_table
    if gen_spool_table.split()[1] != gen_spool_table.table():
        yield "docs/formats/spool.md: the table is stale: tools/gen_spool_table.py --write"


def check_manual(options):
    with tempfile.TemporaryDirectory(prefix="unitrace-docs-") as folder:
        subprocess.run([UNITRACE, "--generate", "man", folder], check=True)
        for command, table in options.items():
            page = pathlib.Path(folder) / f"unitrace-{command}.1"
            text = re.sub(r"\\f.|\\&", "", page.read_text()).replace("\\-", "-")
            for name in table.shown:
                if not re.search(rf"--{name}(?![\w-])", text):
                    yield f"{page.name}: --{name} is missing"


def check_places(doc):
    everything = doc.prose + [(b.line + i, line) for b in doc.blocks
                              for i, line in enumerate(b.lines, 1)]
    for number, line in everything:
        if PLACES.search(line):
            yield f"{doc.name}:{number}: a path of somebody's machine: {line.strip()[:60]}"
    if doc.open_fence:
        yield f"{doc.name}:{doc.open_fence.line}: this block never ends"


def find_documents():
    found = [p for p in SOURCE.glob("*.md")]
    for folder in ("docs", "examples", "src", "tests"):
        found += (SOURCE / folder).rglob("*.md")
    return sorted(p for p in found if p.is_file())


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__.strip())
        return 0
    if "--bare" in sys.argv:
        return max([follow(Document(pathlib.Path(n).resolve())) for n in names], default=2)
    if not UNITRACE.exists():
        print(f"check_docs: {UNITRACE} is not built (UNITRACE_BUILD says where to look)")
        return 1
    documents = {path: Document(path) for path in find_documents()}
    wanted = [documents[pathlib.Path(n).resolve()] for n in names] or list(documents.values())
    if "--list" in sys.argv:
        for doc in wanted:
            for block in (b for b in doc.blocks if b.mark):
                print(f"{doc.name}:{block.line}: {block.mark}")
        return 0
    options = read_options()
    bad = []
    for doc in wanted:
        bad += [*check_links(doc, documents), *check_files(doc), *check_options(doc, options),
                *check_places(doc), *check_messages(doc), *check_marks(doc)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for lines in pool.map(lambda doc: list(check_blocks(doc)), wanted):
            bad += lines
    if not names:
        bad += [*check_index(documents), *check_records(), *check_manual(options)]
    print("\n".join(bad) or f"docs: {len(wanted)} documents hold")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
