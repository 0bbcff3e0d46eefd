#!/usr/bin/env python3
"""mold: a linker that forks, lets the child do all the work, and leaves by _exit."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import Case, command, main, need_unitrace

need_unitrace()
command("mold")
command("gcc")


class Mold(Case):
    def test_links_and_the_child_is_recorded(self):
        (self.dir / "hello.c").write_text('#include <stdio.h>\nint main(void) { '
                                          'return puts("linked by mold") < 0; }\n')
        self.record("gcc", "-fuse-ld=mold", "hello.c", "-o", "hello")
        self.assertEqual(self.run_in("./hello").stdout, b"linked by mold\n")
        trace = self.trace()
        self.assertTrue(trace.path.name.startswith("ld.mold."), trace.path)
        self.assertEqual(trace.domains(), {"tbb"})
        names = trace.names()
        self.assertGreater(names["tbb_parallel_for_each"], 50)
        self.assertGreater(names["tbb_parallel_for"], 0)
        for e in trace.named("tbb_parallel_for_each"):
            self.assertEqual(e["args"]["parent"], "tbb_parallel_for_each")
        self.assertLessEqual(set(trace.threads.values()), {"ld.mold", "TBB Worker Thread", "mold"})

    def test_no_child_when_told_so(self):
        """With --no-fork there is one process; it still leaves by _exit."""
        (self.dir / "hello.c").write_text("int main(void) { return 0; }\n")
        self.record("gcc", "-fuse-ld=mold", "-Wl,--no-fork", "hello.c", "-o", "hello")
        self.assertGreater(self.trace().names()["tbb_parallel_for_each"], 50)


if __name__ == "__main__":
    main()
