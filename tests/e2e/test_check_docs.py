#!/usr/bin/env python3
"""tools/check_docs.py finds what is wrong in small documents, and nothing in right ones."""
# ci: no sanitizers
import shutil
import sys
import textwrap

from common import BUILD, SOURCE, Case, environment, main, need

need()
FILES = {
    "src/wire/clock.c": "int ut_clock_now(void)\n{\n\treturn helper();\n}\n",
    "src/wire/README.md": "# wire\n\nThe clock is in `clock.c`.\n",
    "tests/e2e/test_clock.py": "class Clock:\n    def test_it_goes_on(self):\n        pass\n",
    "tests/wire/test_clock.c": "static void it_never_goes_back(void **state)\n{\n}\n",
    "tests/fuzz/fuzz_clock.c": "",
    "examples/one.c": "",
    "examples/two.cpp": "",
    "docs/guide.md": "# Guide\n\n## A part\n",
    "Makefile": "test:\n\ttrue\n",
}


class Checker(Case):
    """A repository of a few files with a copy of the checker."""

    def setUp(self):
        super().setUp()
        for name, text in {"tools/check_docs.py": (SOURCE / "tools/check_docs.py").read_text(),
                           **FILES}.items():
            (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
            (self.dir / name).write_text(text)

    def findings(self, text, name="docs/page.md"):
        """What the checker says about a document with this text, without its name."""
        (self.dir / name).write_text(textwrap.dedent(text))
        got = self.run_words(sys.executable, "-B", self.dir / "tools/check_docs.py", self.dir / name,
                             env=environment(UNITRACE_BUILD=str(BUILD)))
        said = got.stdout.decode()
        if got.returncode == 0:
            self.assertEqual(said, "docs: 1 documents hold\n", got.stderr.decode())
            return []
        self.assertEqual(got.stderr, b"")
        return [line.removeprefix(f"{name}:") for line in said.splitlines()]

    def test_a_document_that_is_right(self):
        self.assertEqual(self.findings("""\
            `src/wire/clock.c`, `src/wire/`, docs/guide.md, `wire/clock.c`, `clock.c`, `tests/*/test_*.c`,
            `tests/MODULE/test_FILE.c`, `e2e/clock`, `fuzz_clock`, `test_clock.py`, `build/examples/one`,
            [docs/guide.md](guide.md#a-part), https://example.org/docs/other.md, /usr/include/other.h

            `ut_clock_now()`, `ut_clock_*`, `ut_MODULE_VERB`, `helper()`, `make test`

            The <!-- count: examples/*.c* -->two examples of <!-- count: ut_\\w+ in src/wire/*.c -->1 function.

            | claim | proved by |
            |---|---|
            | a | `e2e/test_clock.py`: `it_goes_on`, `Clock`; `wire/clock` (`it_never_goes_back`) |
            | b | `test_clock.c` `it_never_goes_back`, as `anything` else says; `fuzz_clock` |
            """), [])

    def test_links(self):
        self.assertEqual(self.findings("[a](gone.md), [b](guide.md#gone)\n"),
                         ["1: no gone.md", "1: no heading #gone in guide.md"])

    def test_files(self):
        self.assertEqual(self.findings("""\
            `src/wire/gone.c`, tools/gone.py, [docs/gone.md](guide.md)
            `wire/gone.c`, `gone.h`, `tests/gone_*.py`, `src/GONE/clock.h`

                tools/gone.sh lint

            ```sh
            cc examples/gone.c
            ```

            `test_gone.py`, `e2e/gone`, `fuzz_gone`, `build/tests/wire/gone`
            """), ["1: no src/wire/gone.c", "1: no tools/gone.py", "1: no docs/gone.md",
                   "2: no tests/gone_*.py", "2: no src/GONE/clock.h", "4: no tools/gone.sh",
                   "7: no examples/gone.c", "2: no wire/gone.c", "2: no gone.h", "10: no test_gone.py",
                   "10: no e2e/gone", "10: no fuzz_gone", "10: nothing makes build/tests/wire/gone"])

    def test_files_beside_a_document_in_src(self):
        self.assertEqual(self.findings("# wire\n\n`clock.c`, `wire/clock.c`, `one.c`\n", "src/wire/README.md"),
                         ["3: no one.c"])

    def test_counts(self):
        self.assertEqual(self.findings("""\
            <!-- count: examples/*.c* -->three examples
            <!-- count: examples/*.c -->
            and 1,001 of them
            <!-- count: def test_\\w+ in tests/e2e/*.py -->some tests
            <!-- count: gone/* -->Twenty-one
            """), ["1: three, but there are 2: <!-- count: examples/*.c* -->",
                   "2: 1001, but there are 1: <!-- count: examples/*.c -->",
                   "4: no number, but there are 1: <!-- count: def test_\\w+ in tests/e2e/*.py -->",
                   "5: twenty, but there are 0: <!-- count: gone/* -->"])

    def test_names(self):
        self.assertEqual(self.findings("`ut_clock_gone`, `UT_GONE`, `UNITRACE_GONE`, `gone_away()`, `make gone`\n"),
                         [*(f"1: no {name}" for name in ("ut_clock_gone", "UT_GONE", "UNITRACE_GONE", "gone_away")),
                          "1: no target of Makefile: make gone"])

    def test_tests_of_claims(self):
        self.assertEqual(self.findings("""\
            | what | test |
            |---|---|
            | a | `e2e/test_clock.py`: `it_goes_on`, `it_stops` |
            | b | `wire/clock` (`it_jumps`), `wire/gone` |

            | what | else |
            |---|---|
            | a | `e2e/test_clock.py`: `it_stops` |
            """), ["3: no it_stops in that file", "4: no it_jumps in that file", "4: no test wire/gone"])

    def test_options(self):
        self.assertEqual(self.findings("`--no-such-option`, `unitrace stats --no-such-option x.json`\n"),
                         ["1: no option --no-such-option", "1: no option --no-such-option",
                          "1: unitrace stats has no option --no-such-option"])

    def test_blocks_are_run(self):
        self.assertEqual(self.findings("""\
            <!-- run -->
            ```sh
            echo one
            ```

            <!-- output -->
            ```text
            two
            ```
            """), ["7: printed instead:", "one", ""])

    def test_a_signal_is_a_status_as_in_a_shell(self):
        block = "<!-- run: status {} -->\n```sh\nkill -KILL $$\n```\n"
        self.assertEqual(self.findings(block.format(137)), [])
        self.assertEqual(self.findings(block.format(9))[0], "2: ended with 137, not 9:")

    def test_every_block_of_the_first_documents_is_marked(self):
        for name in ("README.md", "docs/install.md"):
            self.assertEqual(self.findings("<!-- bare -->\n```sh\nfalse\n```\n```sh\ntrue\n```\n\n    true\n", name),
                             ["5: this block is not marked as run, bare or not run",
                              "9: a command outside of a marked block: true"])

    def test_what_is_not_ours_is_named_once(self):
        self.assertEqual(self.findings("""\
            <!-- not ours: --no-such-option src/gone.c other.h gone_away -->
            `--no-such-option`, `src/gone.c`, `other.h`, `gone_away()`
            """), [])

    def test_a_repository_under_git_leaves_out_what_git_ignores(self):
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        self.run_words("git", "init", "-q")
        (self.dir / ".gitignore").write_text("/web/dist/\n")
        (self.dir / "web/dist").mkdir(parents=True)
        (self.dir / "web/dist/app.js").touch()
        self.assertEqual(self.findings("`web/dist/app.js`, `src/wire/clock.c`\n"), ["1: no web/dist/app.js"])


if __name__ == "__main__":
    main()
