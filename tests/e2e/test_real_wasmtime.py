#!/usr/bin/env python3
"""wasmtime: what it compiles, through the JIT API alone."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, real_python
from real_support import main, need_unitrace

need_unitrace()
PYTHON = real_python("wasmtime")


class Wasmtime(CountCase):
    def test_compiled_functions(self):
        _, (trace,) = self.counted(PYTHON, PACKAGES / "wasm.py", prints="42 42")
        compiled = {e["name"]: e["args"]["bytes"] for e in trace.instants if e["cat"] == "jit"}
        self.assertGreater(compiled["twice"], 0)
        self.assertGreater(compiled["thrice"], 0)


if __name__ == "__main__":
    main()
