"""A program like a web server: asyncio, generators, exceptions, threads, code made at run time.

    server.py SECONDS LOAD REPORT.json

LOAD is the part of the time in which it works, from 0 to 1. The report is a list of samples:
seconds since the start, requests served, private and all resident memory in KiB.
"""
import asyncio
import concurrent.futures
import contextlib
import contextvars
import functools
import gc
import json
import sys
import threading
import time

request_id = contextvars.ContextVar("request_id")


class NotFound(Exception):
    pass


def memory():
    """KiB: private memory, and together with mapped files."""
    with open("/proc/self/status", encoding="utf-8") as file:
        fields = dict(line.split(":", 1) for line in file)
    return [int(fields[key].split()[0]) for key in ("RssAnon", "VmRSS")]


def timed(function):
    """A decorator, as middleware has them."""
    @functools.wraps(function)
    async def wrapper(*args):
        try:
            return await function(*args)
        finally:
            request_id.get(None)
    return wrapper


def rows(count):
    """A cursor."""
    for i in range(count):
        yield {"id": i, "name": str(i)}


def compile_template(number):
    """Code that is new for every request and freed after it, under names that come back."""
    space = {}
    exec(f"def render(rows):\n    return ','.join(r['name'] for r in rows)\n"
         f"def part_{number % 7}(x):\n    return x\n", space)
    return lambda found: space[f"part_{number % 7}"](space["render"](found))


@contextlib.contextmanager
def transaction():
    try:
        yield
    except NotFound:
        raise
    finally:
        pass


class Query:
    def __init__(self, number):
        self.number = number
        self.filters = [lambda r, n=n: r["id"] != n for n in range(number % 3)]

    def run(self):
        return [r for r in rows(5 + self.number % 5) if all(f(r) for f in self.filters)]


async def stream(count):
    for i in range(count):
        await asyncio.sleep(0)
        yield i


def blocking(number):
    return sum(range(number % 100))


@timed
async def handle(number, pool):
    token = request_id.set(number)
    try:
        with transaction():
            found = Query(number).run()
            async for _ in stream(2):
                pass
            if number % 11 == 0:
                raise NotFound(number)
        if number % 5 == 0:
            await asyncio.get_running_loop().run_in_executor(pool, blocking, number)
        return compile_template(number)(found)
    except NotFound:
        return "404"
    finally:
        request_id.reset(token)


async def batch(first, pool):
    tasks = [asyncio.create_task(handle(first + i, pool)) for i in range(20)]
    late = asyncio.create_task(asyncio.sleep(60))
    await asyncio.gather(*tasks)
    late.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await late


def short_lived(number):
    thread = threading.Thread(target=blocking, args=(number,), name=f"short {number % 4}")
    thread.start()
    thread.join()


async def serve(seconds, load):
    samples, served, begin, spent = [], 0, time.monotonic(), 0
    step = max(seconds / 60, 0.05)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        while time.monotonic() - begin < seconds:
            before = time.process_time()
            await batch(served, pool)
            short_lived(served)
            served += 20
            spent += time.process_time() - before
            now = time.monotonic() - begin
            if now >= step * (len(samples) + 1):
                gc.collect()
                samples.append([round(now, 1), served, *memory()])
            if spent > load * now:
                await asyncio.sleep(spent / load - now)
    return samples


if __name__ == "__main__":
    report = asyncio.run(serve(float(sys.argv[1]), float(sys.argv[2])))
    with open(sys.argv[3], "w", encoding="ascii") as out:
        json.dump(report, out)
