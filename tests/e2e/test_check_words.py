#!/usr/bin/env python3
"""tools/check_words.py finds each word and phrase of its lists, and nothing in plain names."""
# ci: no sanitizers
import re
import runpy
import sys

from common import SOURCE, Case, main

TOOL = SOURCE / "tools/check_words.py"
LISTS = runpy.run_path(str(TOOL))


def example(pattern):
    """A text that a pattern of the lists finds: the first of what it lets choose from."""
    while "(" in pattern:
        pattern = re.sub(r"\(([^()]*)\)\??", lambda m: m[1].split("|")[0], pattern)
    return re.sub(r"\\b", "", pattern.split("|")[0]).replace("?", "")


class Words(Case):
    def findings(self, name, text):
        (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
        (self.dir / name).write_text(text)
        got = self.run_words(sys.executable, "-B", TOOL, name, cwd=self.dir)
        self.assertEqual(got.returncode, 1 if got.stdout.strip() else 0)
        return got.stdout.decode().strip()

    def test_every_word_is_found_in_a_name(self):
        for word, instead in LISTS["NAMES"]:
            with self.subTest(word):
                said = self.findings("a.c", f"int ok;\nint x_{example(word)};\n")
                self.assertIn("a.c:2:", said)
                self.assertIn(instead, said)

    def test_every_word_is_found_in_the_name_of_a_file(self):
        for word, instead in LISTS["NAMES"]:
            with self.subTest(word):
                self.assertIn(instead, self.findings(f"{example(word)}.c", "int ok;\n"))

    def test_every_phrase_is_found(self):
        for phrase, instead in LISTS["PHRASES"]:
            with self.subTest(phrase):
                said = self.findings("page.md", f"# Page\n\nIt {example(phrase)} here.\n")
                self.assertIn("page.md:3:", said)
                self.assertIn(instead, said)

    def test_plain_names_pass(self):
        names = "ut_thread_pool_size, outdoors, farm_size, is_setup"
        self.assertEqual(self.findings("a.c", f"int {names};\n"), "")

    def test_what_is_allowed_passes(self):
        self.assertEqual(self.findings("CHANGELOG.md", "- `ut_shelf` is `ut_data_dir`.\n"), "")


if __name__ == "__main__":
    main()
