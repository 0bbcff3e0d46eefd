#!/usr/bin/env python3
"""PHP: what opcache compiles, through the JIT API alone; no other part of ITT is used."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import HERE, Case, command, main, need_unitrace

need_unitrace()
PHP = command("php8.2")
VTUNE = 128 # of opcache.jit_debug: tell a profiler


class Php(Case):
    def compiled(self, mode):
        settings = {"enable_cli": 1, "jit_buffer_size": "16M", "jit": mode, "jit_debug": VTUNE,
                    "file_update_protection": 0}
        words = [w for k, v in settings.items() for w in ("-d", f"opcache.{k}={v}")]
        printed, _ = self.record("-o", "t.json", PHP, *words, HERE / "hot.php")
        self.assertEqual(printed, "166666500\n")
        if not list(self.dir.glob("*.json")):
            self.skipTest("this PHP has no opcache that compiles")
        return {e["name"]: e["args"] for e in self.trace().instants if e["cat"] == "jit"}

    def test_traces(self):
        compiled = self.compiled("tracing")
        self.assertTrue(any(n.startswith("TRACE-1$triangle$") for n in compiled), compiled)
        self.assertIn("JIT$$trace_exit", compiled)

    def test_functions(self):
        compiled = self.compiled("function")
        self.assertGreater(compiled["JIT$triangle"]["bytes"], 0)


if __name__ == "__main__":
    main()
