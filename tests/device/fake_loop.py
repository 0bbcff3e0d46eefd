#!/usr/bin/env python3
"""Plays the PyTorch loop of bench_cuda.py and bench_metrics.py on a machine without a GPU: PROGRAM=fake_loop.py.

    FAKE_CUPTI=build/tests/programs/libfake_cupti.so fake_loop.py LOOP STEPS WAY     takes turns, as LOOP of bench_cuda.py
    FAKE_CUPTI=... fake_loop.py query                                                three steps, as QUERY of bench_metrics.py

A step launches LAUNCHES kernels, which the played CUPTI reports, and a graph of three. Without a recorder, or with
cupti_floor.c, nothing is reported and the step is only some work of the host.
"""
import ctypes
import json
import os
import sys
import time

LAUNCHES, GRAPH = 4, 3
KERNELS = LAUNCHES + GRAPH  # of a step


def start():
    """As the driver does in cuInit."""
    injected = os.environ.get("CUDA_INJECTION64_PATH")
    if injected:
        ctypes.CDLL(injected).InitializeInjection()
    return ctypes.CDLL(os.environ["FAKE_CUPTI"]).fake_cuda_run


def run(launch, steps):
    for _ in range(steps):
        sum(range(50_000))
        launch(LAUNCHES)


def answer(took, cpu):
    thread = f"MainThread:{os.getpid()}={cpu}"
    print(took, cpu, thread, flush=True)


def main():
    launch = start()
    if sys.argv[1] == "query":
        run(launch, 1)
        begin = time.perf_counter()
        run(launch, 2)
        print(json.dumps(time.perf_counter() - begin))
        return
    steps = int(sys.argv[2])
    run(launch, 30)
    print("ready", flush=True)
    for _ in sys.stdin:
        run(launch, max(1, steps // 10))
        cpu, begin = time.process_time(), time.perf_counter()
        run(launch, steps)
        answer(time.perf_counter() - begin, time.process_time() - cpu)


if __name__ == "__main__":
    main()
