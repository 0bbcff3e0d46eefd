#!/usr/bin/env python3
"""Fail if a document says something that is not so.

    tools/check_docs.py [--list] [FILE.md...]
    tools/check_docs.py --bare FILE.md...

Checked, for all Markdown files of the repository or those given:

  links     every relative link leads to a file, and its #anchor to a heading
  files     every file and folder of this repository that is named is there; * and WORDS in
            capitals stand for anything
  counts    a number behind <!-- count: GLOB --> is the number of files
  names     functions, ut_*, UT_* and UNITRACE_* in code are in the sources, make targets in Makefile
  tests     tests named in a table whose last column is "test" or "proved by" are in the file that
            stands before them
  options   every long option in code exists, and every `unitrace ...` command parses
  blocks    marked blocks are run, and what they print is as printed
  messages  what docs/troubleshooting.md quotes is in the source
  index     docs/README.md leads to every document below docs
  records   the table in docs/formats/spool.md is that of src/record/wire/spool.h
  manual    the generated man pages name every option of --help
  places    no paths of somebody's machine

A block is marked by a comment on the line above it. All blocks of one file share an empty folder,
in which build, include and examples lead to the real ones, so does tests if a block names a file
below it, and unitrace is on the PATH:

  <!-- run -->              run with bash -eu; it must succeed
  <!-- run: status N -->    it must end with exit status N
  <!-- file: NAME -->       the block is written to this file
  <!-- output -->           what the last run printed (both streams); numbers and columns may
                            differ, a line "..." stands for any lines
  <!-- bare -->             run with --bare only: it installs something or takes long
  <!-- not run: REASON -->  never run

Two comments may stand anywhere:

  <!-- not ours: WORDS -->  options and files that this document names and that are not ours, or
                            not there any more
  <!-- count: GLOB -->      the next number, on this line or else the following one, is the number
                            of files that match; <!-- count: REGEX in GLOB --> counts the different
                            matches in them

In README.md and docs/install.md every block has one of these marks. --bare runs the blocks of the
documents named, one after the other, in the source folder itself; tools/fresh.sh calls it on a bare
machine. UNITRACE_BUILD says where the build is (default: build). --list names what would be run.
"""
import collections
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
PATIENCE = 150 * float(os.environ.get("UNITRACE_PATIENCE") or 1)  # s for one block; only a hang takes that long
BARE_PATIENCE = 1800  # s for a block that builds everything
ALL_MARKED = {"README.md", "docs/install.md"}  # documents in which every block is marked
# Options of programs that everybody knows; documents may name them.
KNOWN_ELSEWHERE = {"--build", "--install", "--preset", "--output-on-failure", "--cflags", "--libs",
                   "--target"}
KNOWN_TESTS = {"web/check", "web/browser"}  # as ctest calls them; no files
FOLDERS = ("src", "tests", "docs", "tools", "web", "python", "cmake", "include", "share", "examples",
           ".ci", ".github")
# A path from the root of the repository; the name of a file, or of a test as ctest calls it.
ALONE = r"(?<![\w/.~$*<>%-])"
PATH = re.compile(rf"{ALONE}(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./*-]*[\w*/]")
FILE = re.compile(rf"{ALONE}(?:[\w*./-]+\.(?:c|h|def|tsx?|mjs|cmake)"
                  r"|(?:\w+/)?(?:test|check|bench|fuzz|beside|prove|soak)_[\w*]+\.\w+"
                  r"|e2e/\w+|fuzz_\w+)(?![\w*/.-])")
# Stands for any part of a path: a word in capitals, or *.
PLACEHOLDER = re.compile(r"(?<![A-Za-z0-9])(?!README)[A-Z]{2,}(?![a-z0-9])|\*")
NUMBERS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
           "fifteen sixteen seventeen eighteen nineteen twenty").split()
NUMBER = re.compile(rf"\b(\d[\d,]*|{'|'.join(NUMBERS)})\b", re.I)
COUNT = re.compile(r"<!-- count: (?:((?:(?!-->).)+) in )?(\S+) -->")
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
        self.folder = self.name.rpartition("/")[0] + "/"
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

    def lines(self):
        """(line, text) of everything, in prose and in blocks."""
        yield from self.prose
        for block in self.blocks:
            yield from enumerate(block.lines, block.line + 1)

    def code(self, blocks=True):
        """(line, text) of everything that is written as code, with or without the blocks."""
        for number, line in self.prose:
            yield from ((number, text) for text in re.findall(r"`([^`]+)`", line))
        for block in self.blocks if blocks else []:
            yield from enumerate(block.lines, block.line + 1)


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


# ---- files, counts, names, tests -----------------------------------------------------------------

class Tree:
    """The files and folders of this repository, without what git ignores."""

    def __init__(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=SOURCE,
                                capture_output=True, text=True).stdout.splitlines()
        if not listed:  # a release has no git
            listed = [str(path.relative_to(SOURCE)) for path in
                      [*SOURCE.glob("*"), *(p for f in FOLDERS for p in (SOURCE / f).rglob("*"))]]
        self.files = sorted(name for name in listed if (SOURCE / name).is_file())
        self.paths = set(self.files)
        for name in self.files:
            self.paths.update(map(str, pathlib.PurePath(name).parents))
        self.by_name = collections.defaultdict(list)
        for path in self.paths:
            self.by_name[path.rpartition("/")[2]].append(path)

    def whole(self, name):
        """The paths that a name from the root stands for."""
        name = name.rstrip("/")
        if PLACEHOLDER.search(name):
            return self.match(name)
        return [name] if name in self.paths else []

    def ends(self, name):
        """The paths that end with this name."""
        name = name.rstrip("/")
        if PLACEHOLDER.search(name):
            return self.match(name, "(?:.*/)?")
        near = self.by_name[name.rpartition("/")[2]]
        return [path for path in near if path == name or path.endswith("/" + name)]

    def match(self, name, before=""):
        parts = re.split(f"({PLACEHOLDER.pattern})", name)
        pattern = re.compile(before + "".join("[^/]*" if PLACEHOLDER.fullmatch(part) else
                                              re.escape(part) for part in parts))
        return [path for path in self.paths if pattern.fullmatch(path)]

    def test(self, name):
        """The files of a test, by (the end of) a path, or by what it is called: e2e/view, fuzz_sql."""
        folder, slash, test = name.rpartition("/")
        called = f"tests/{folder}/test_{test}.*" if slash else f"tests/fuzz/{name}.c"
        return (self.whole(called) if "." not in test else []) or \
            [path for path in self.ends(name) if path.startswith(("tests/", "web/test/"))]

    def text(self, path):
        return (SOURCE / path).read_text(errors="replace")


def check_files(doc, tree):
    known = doc.not_ours() | KNOWN_TESTS
    for number, line in doc.lines():
        for match in PATH.finditer(re.sub(r"\]\([^)]*\)", "]", line)):  # links are checked elsewhere
            if match[0] not in known and not tree.whole(match[0]):
                yield f"{doc.name}:{number}: no {match[0]}"
    for number, text in doc.code(blocks=False):
        for match in FILE.finditer(text):
            name = match[0]
            if name in known or PATH.match(name):
                continue
            if doc.name.startswith("src/"):  # beside the document, as it is included, or from the root
                found = any(tree.whole(at + name) for at in (doc.folder, "src/", "src/*/", ""))
            else:
                found = tree.ends(name) if "." in name else tree.test(name)
            if not found:
                yield f"{doc.name}:{number}: no {name}"
        for folder, name in re.findall(r"(?<![\w/.])build/(tests|examples)/([\w/]+)(?![\w.*])", text):
            if not tree.whole(f"{folder}/{name}.*"):
                yield f"{doc.name}:{number}: nothing makes build/{folder}/{name}"


def check_counts(doc, tree):
    lines = dict(doc.prose)
    for number, line in doc.prose:
        for match in COUNT.finditer(line):
            found = set(tree.whole(match[2]))
            if match[1]:
                found = {m[0] for path in found for m in re.finditer(match[1], tree.text(path), re.M)}
            said = NUMBER.search(line[match.end():].strip() or lines.get(number + 1, ""))
            word = said[0].lower().replace(",", "") if said else "no number"
            if word not in (str(len(found)), *NUMBERS[len(found):len(found) + 1]):
                yield f"{doc.name}:{number}: {word}, but there are {len(found)}: {match[0]}"


def source_words(tree):
    """Every word of the sources, and the targets of Makefile as "make NAME"."""
    words = set()
    for path in tree.files:
        if not path.endswith((".md", ".png", ".svg", ".json")) and \
                not path.startswith(("docs/", "tests/golden/", "tests/fuzz/corpus/")):
            words.update(re.findall(rb"\w+", (SOURCE / path).read_bytes()))
    words = {word.decode(errors="replace") for word in words}
    for path in tree.whole("Makefile"):
        words.update("make " + name for name in re.findall(r"^([\w-]+):", tree.text(path), re.M))
    return words


def check_names(doc, words):
    known = doc.not_ours() | words
    for number, text in doc.code(blocks=False):
        names = re.findall(r"(?<![\w*])(?:ut_[a-z0-9_]*[a-z0-9]|(?:UT|UNITRACE)_[A-Z0-9_]*[A-Z0-9])(?![\w*])",
                           text)
        names += re.findall(r"(?<![\w.>])([a-z]\w{3,})\(\)", text)
        yield from (f"{doc.name}:{number}: no {name}" for name in names if name not in known)
    for number, line in doc.lines():
        for name in re.findall(r"(?:^ *|`)(make [a-z][\w-]*)", line):
            if name not in known:
                yield f"{doc.name}:{number}: no target of Makefile: {name}"


def check_tests(doc, tree):
    """In tables of claims: `FILE` `name`, `name`: these names are defined in that file."""
    is_table = False
    for number, line in doc.prose:
        cells = line.strip().strip("|").split("|")
        if not line.startswith("|") or cells[-1].strip() in ("test", "proved by"):
            is_table = line.startswith("|")
        elif is_table:
            text, end = None, 0
            for match in re.finditer(r"`([^`]+)`", cells[-1]):
                follows = re.fullmatch(r"[\s,:(]*(and )?", cells[-1][end:match.start()])
                end = match.end()
                name = match[1]
                if re.fullmatch(r"[\w/*]+\.\w+|\w+/\w+|fuzz_\w+", name):
                    files = tree.test(name)
                    text = "\n".join(tree.text(path) for path in files if (SOURCE / path).is_file())
                    if not files and "." not in name and tree.whole("tests/" + os.path.dirname(name)):
                        yield f"{doc.name}:{number}: no test {name}"
                elif not text or not follows or not re.fullmatch(r"[A-Za-z]\w*", name):
                    text = None
                elif not re.search(rf"\b(?:def|class) (?:test_)?{name}\b|\b{name}\(", text):
                    yield f"{doc.name}:{number}: no {name} in that file"


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
        for path in (SOURCE / "src/app/cmd").glob("*.c"):
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
    ended = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as shells report signals
    if ended != status:
        return done.stdout, (f"{doc.name}:{block.line}: ended with {ended}, not {status}:"
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
        if any("tests/" in block.text for block in marked):
            (folder / "tests").symlink_to(SOURCE / "tests")
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


def find_documents(tree):
    return [SOURCE / name for name in tree.files if name.endswith(".md")]


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
    tree = Tree()
    documents = {path: Document(path) for path in find_documents(tree)}
    wanted = [documents[pathlib.Path(n).resolve()] for n in names] or list(documents.values())
    if "--list" in sys.argv:
        for doc in wanted:
            for block in (b for b in doc.blocks if b.mark):
                print(f"{doc.name}:{block.line}: {block.mark}")
        return 0
    options, words = read_options(), source_words(tree)
    bad = []
    for doc in wanted:
        bad += [*check_links(doc, documents), *check_files(doc, tree), *check_counts(doc, tree),
                *check_names(doc, words), *check_tests(doc, tree), *check_options(doc, options),
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
