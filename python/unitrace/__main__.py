"""python -m unitrace [options] [-m module | -c text | script] [arguments]: see USAGE."""
import os
import shutil
import subprocess
import sys

USAGE = """\
usage: python -m unitrace [options] [-m module | -c text | script] [arguments]

Runs a Python program under unitrace and profiles it.

  -m, -c                 the next word is a module, or the program itself, as with python
  -p                     only parts: from Profiler().enable() to .disable(), and tests with the
                         fixture unitrace_profile
  -l                     line by line; only together with -p
  --c-calls              also functions that are written in C
  --imports              also the functions of the import system (importlib) itself
  --depth N              no calls that are deeper
  --min-duration TIME    no calls that are shorter: 10us, 1ms
  --files GLOB[,GLOB]    only functions in these files; also --exclude-files
  --modules NAME[,NAME]  only these modules and what is below; also --exclude-modules
  --test-traces DIR      with -m pytest: also a trace of its own for each test
  -o FILE                the result; more options of "unitrace record" as --OPTION or --OPTION=VALUE
"""

FLAGS = {"-p": "--python-partial", "--partial": "--python-partial",
         "-l": "--python-lines", "--lines": "--python-lines",
         "--c-calls": "--python-c-calls", "--imports": "--python-imports"}
VALUES = {"--depth": "--python-depth", "--min-duration": "--python-min-duration",
          "--files": "--python-files", "--exclude-files": "--python-exclude-files",
          "--modules": "--python-modules", "--exclude-modules": "--python-exclude-modules",
          "--test-traces": "--python-test-traces",
          "-o": "--output", "--output": "--output"}


class Misuse(Exception):
    pass


def parse(words):
    """(options for the launcher, words for the interpreter). Options come before the program."""
    options, words = ["--python"], list(words)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-m", "-c"):
            if not words:
                raise Misuse(f"{word} needs a {'module' if word == '-m' else 'text'}")
            return options, [word, *words]
        if word in ("-h", "--help"):
            return None, None
        if word == "--":
            break
        if word in FLAGS:
            options.append(FLAGS[word])
        elif name in VALUES:
            if not equals and not words:
                raise Misuse(f"{name} needs a value")
            options.append(f"{VALUES[name]}={value if equals else words.pop(0)}")
        elif word.startswith("--"):
            options.append(word)
        elif len(word) > 2 and all("-" + letter in ("-p", "-l", "-m") for letter in word[1:]):
            words[:0] = ["-" + letter for letter in word[1:]]
        else:
            raise Misuse(f"unknown option {word}")
    if not words:
        raise Misuse("no program to run")
    return options, words


def without_lines(options):
    """As with Tenstorrent's profiler, lines have no effect on a whole program; but we say so."""
    if "--python-lines" in options and "--python-partial" not in options:
        print("unitrace: -l has an effect together with -p only", file=sys.stderr)
        return [o for o in options if o != "--python-lines"]
    return options


def launcher():
    """The program unitrace: the one that we belong to, or else the first on the path."""
    beside = os.path.dirname(os.path.abspath(__file__))
    for _ in range(4):
        beside = os.path.dirname(beside)
        found = os.path.join(beside, "bin", "unitrace")
        if os.access(found, os.X_OK):
            return found
    return shutil.which("unitrace")


def main():
    try:
        options, words = parse(sys.argv[1:])
    except Misuse as wrong:
        print(f"{USAGE}\nunitrace: {wrong}", file=sys.stderr)
        return 2
    if options is None:
        print(USAGE, end="")
        return 0
    program = launcher()
    if not program:
        print("unitrace: the program unitrace is neither beside this package nor on the PATH; "
              "build it (make) and add build/bin to the PATH", file=sys.stderr)
        return 127
    flags = subprocess._args_from_interpreter_flags()  # pylint: disable=protected-access
    os.execv(program, [program, "record", *without_lines(options), sys.executable, *flags, *words])


if __name__ == "__main__":
    sys.exit(main())
