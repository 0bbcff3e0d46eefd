"""Runs programs made at random, first under the tracer in Python, then under unitrace.

    nesting.py FIRST LAST EXPECTED.json
"""
import json
import sys

import unitrace
from programs import compile_program, reference


def main(first, last, path):
    expected = {}
    for seed in range(first, last):
        run = compile_program(seed)
        expected[seed] = reference(run)
        profiler = unitrace.Profiler()
        with unitrace.range(f"seed {seed}", domain="seeds"):
            profiler.enable()
            run()
            profiler.disable()
    with open(path, "w", encoding="utf-8") as file:
        json.dump(expected, file)


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
