"""Scripts that need Chromium start and measure, at their smallest size: tests/bench/view_page.js and serve_watch.js,
tools/pictures.js.
"""
# ci: no sanitizers
# ci: labels slow browser
import shutil
import subprocess
import sys

import common
from common import BUILD, PATIENCE, SOURCE, environment, main, skip

common.need()
MODULES = BUILD / "node/node_modules"
SKIPPED = 77
if not shutil.which("node") or not (MODULES / "playwright-core").exists():
    skip("node or playwright-core is not installed (tools/setup.sh test)")


class Browser(common.Case):
    def run_script(self, *words):
        done = subprocess.run([str(w) for w in words], cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE, check=False,
                              env=environment(UNITRACE_BUILD=str(BUILD), UNITRACE_BENCH_SCALE="tiny"))
        if done.returncode == SKIPPED:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        return done.stdout

    def bench(self, name, *words):
        return self.run_script(sys.executable, "-B", SOURCE / f"tests/bench/{name}.py", *words)

    def test_the_page_of_a_trace(self):
        said = self.bench("bench_view_page", "utr")
        self.assertRegex(said, r"1,000 slices, saved as .utr in 1 files:\n +unitrace +picture +[\d.]+ s +tab +\d+, +\d+ MB +"
                         r"frames +[\d.]+ / +[\d.]+ ms")

    def test_a_page_that_follows_a_recording(self):
        said = self.bench("bench_serve")
        self.assertRegex(said, r"2 look: (\d+) tasks \([\d.]+ x\), \1 in the result, 0 lost; .*pages in Chromium: \[\d+\]")

    def test_pictures(self):
        page = self.dir / "page.html"
        page.write_text("<title>page</title><h1>A page</h1>")
        self.run_script("node", SOURCE / "tools/pictures.js", MODULES, self.dir, f"small={page}#top")
        self.assertEqual((self.dir / "small.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    main()
