"""`from tracy import Profiler` and `python -m tracy` where Tenstorrent's package is not installed."""
from unitrace import Profiler, signpost

__all__ = ["Profiler", "signpost"]

_WITH_VALUE = {"-o", "--output-folder", "-n", "--name-append", "-t", "--port", "--web-app-port", "--op-support-count",
               "--child-functions", "-a", "--device-analysis-types", "--tracy-tools-folder",
               "--profiler-capture-perf-counters"}


def _parse(words):
    """(options, words for the interpreter). Options come before the program; -m is one, the module follows."""
    options, module, words = [], False, list(words)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("--") and len(word) > 2:  # -plm
            words[:0] = ["-" + letter for letter in word[1:]]
        elif word == "-m":
            module = True
        else:
            options.append(word)
            if word in _WITH_VALUE and words:
                options.append(words.pop(0))
    return options, ["-m", *words] if module and words else words


def _main():
    import os
    import sys

    from unitrace import _run

    options, words = _parse(sys.argv[1:])
    if not words:
        sys.stderr.write("usage: unitrace --python python -m tracy [-m module | script] [arguments]\n")
        return 2
    if options:
        sys.stderr.write(f"unitrace: without tt-metal's tracy, its options {' '.join(options)} have no effect; "
                         "unitrace has its own: python -m unitrace --help\n")
    session = os.environ.get("UT_SESSION")
    if session and not os.path.exists(os.path.join(session, "python")):
        sys.stderr.write("unitrace: functions of Python are not recorded without --python: "
                         "unitrace --python python -m tracy ...\n")
    sys.stderr.flush()
    return _run.run(words)


if __name__ == "__main__":
    raise SystemExit(_main())
