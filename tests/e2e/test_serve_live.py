"""Eight people look at a program while it is recorded, two of them with a real browser: all of it is in the result."""
# ci: no sanitizers
# ci: labels slow browser
import pathlib
import sys
import unittest

import common
from common import BUILD, SOURCE, skip
from serve_support import Server as _  # skips where serve is not built

sys.path.insert(0, str(SOURCE / "tests/bench"))
import bench_serve  # noqa: E402

if not (BUILD / "tests/bench/live_rate").exists():
    skip("tests/bench/live_rate is not built")


class Looked(common.Case):
    def test_nothing_is_lost_while_eight_look(self):
        (self.dir / "data").mkdir()
        server = bench_serve.Server(pathlib.Path(self.dir) / "data")
        self.addCleanup(server.close)
        server.enter()
        server.client().ask("POST", "/projects", {"name": "p"})
        said, found, lookers, pages, slices = bench_serve.record(server, bench_serve.USERS, self.dir, 6, 100_000)
        self.assertEqual(found, said)
        self.assertEqual(len(lookers) + len(pages), bench_serve.USERS)
        self.assertTrue(all(looker.windows for looker in lookers))
        self.assertEqual([p["slices"] for p in pages], [slices] * len(pages))


if __name__ == "__main__":
    unittest.main()
