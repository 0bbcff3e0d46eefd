#!/usr/bin/env python3
"""Everything about hardware metrics that only a real NVIDIA GPU can show, in one go.

    python3 tests/device/prove_metrics.py                  # in the root of the sources, on such a machine
    PARTS=about,build,together python3 tests/device/prove_metrics.py
    CUPTI_WHEEL=FILE.whl python3 tests/device/prove_metrics.py

Builds unitrace (build-prove) while Nsight Compute measures, then part by part: our counters beside its, the way
from a line of Python to the roof for a kernel of Triton's and one of PyTorch's, what a query and sampling cost
a training step, the tests of tests/device, a pointer chase, and the ways to measure and to sample in one run.
What has not been written down yet comes first. Each part has a time limit of its own, and all of them one
together (PROVE_SECONDS, 525): what does not fit is skipped, and said. A table of figures is at the end.
CUPTI_WHEEL is the package nvidia-cuda-cupti of 13.4 or newer, for counters with emptied caches; without it, one
that lies in build/ is taken, and else caches are left alone.

Skips aloud (77) without a GPU or nvcc. Leaves in $OUT (or build-prove/out): transcript.txt, results.json, tables and recordings, at most eight files.
Ends with 0 if every part that ran did what it should.
"""
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import device
from device import HERE, NVCC, SOURCE as ROOT

BUILD = ROOT / "build-prove"
OUT = pathlib.Path(os.environ.get("OUT") or BUILD / "out").resolve()
WORK = BUILD / "work"
UNITRACE = BUILD / "bin/unitrace"
SECONDS = float(os.environ.get("PROVE_SECONDS", "525"))
MOST_BYTES = 15 << 20  # of a file that is kept
KERNELS = 6  # different ones of measured.cu
BEGIN = time.monotonic()
results, transcript = {}, None

CHAIN = """
    import torch, triton, triton.language as tl

    @triton.jit
    def gather_scaled(source, index, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        where = tl.load(index + at, at < n)
        value = tl.load(source + where, at < n)
        again = tl.load(source + (where.to(tl.int64) * 7919 + 13) % n, at < n)
        tl.store(out + at, value * 2 + again, at < n)

    n = 1 << 24
    source = torch.rand(n, device="cuda")
    index = torch.randint(0, n, (n,), device="cuda", dtype=torch.int32)

    def gather_rows():
        out = torch.empty_like(source)
        gather_scaled[(n // 1024,)](source, index, out, n, BLOCK=1024)
        return out

    def normalise(x):
        return torch.nn.functional.layer_norm(x.view(4096, 4096), (4096,)).softmax(-1)

    def step():
        return normalise(gather_rows()).sum()

    def main():
        step()
        torch.cuda.synchronize()
        with torch.autograd.profiler.emit_itt(record_shapes=False):
            for i in range(100):
                with torch.profiler.itt.range("step"):
                    step()
        torch.cuda.synchronize()
        print("sum", float(step()))

    main()
"""


# ---- saying and running --------------------------------------------------------------------------

def say(*words):
    line = f"[{time.monotonic() - BEGIN:6.1f}] " + " ".join(str(w) for w in words)
    print(line, flush=True)
    if transcript:
        print(line, file=transcript, flush=True)


def left():
    return SECONDS - (time.monotonic() - BEGIN)


class Done:
    def __init__(self, rc, text, seconds):
        self.rc, self.text, self.seconds = rc, text, seconds


def run(command, limit=60, cwd=None, tail=25, **env):
    """Runs it with all it starts; its last lines are said. rc None: it took too long and was ended."""
    begin = time.monotonic()
    limit = max(3, min(limit, left()))
    path = WORK / "last.txt"
    with open(path, "wb") as out:
        try:
            process = subprocess.Popen([str(c) for c in command], cwd=cwd or WORK, stdout=out, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, start_new_session=True,
                                       env={**os.environ, "UNITRACE_BUILD": str(BUILD), **{k: str(v) for k, v in env.items()}})
        except OSError as e:
            say("  ", e)
            return Done(127, str(e), 0)
        try:
            rc = process.wait(limit)
        except subprocess.TimeoutExpired:
            rc = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = path.read_text(errors="replace")
    done = Done(rc, text, time.monotonic() - begin)
    shown = " ".join(str(c) for c in command)
    say(f"  $ {shown[:160]}  -> {'ended after its time' if rc is None else rc}, {done.seconds:.1f} s")
    for line in text.splitlines()[-tail:] if tail else ():
        say("    " + line[:230])
    if transcript and tail:
        print(text[-60000:], file=transcript, flush=True)
    return done


def unitrace(*words, **more):
    return run([UNITRACE, *words], **more)


def keep(path, name=None):
    """A file for whoever reads the results; not if it is too large."""
    path = pathlib.Path(path)
    if path.exists() and path.stat().st_size <= MOST_BYTES:
        shutil.copyfile(path, OUT / (name or path.name))
    else:
        say(f"  {path.name} is not kept")


def fresh(name):
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def one(folder, pattern):
    found = sorted(folder.glob(pattern))
    return found[-1] if found else None


# ---- parts ---------------------------------------------------------------------------------------

def about():
    run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu", "--format=csv"], limit=20)
    run([NVCC, "--version"], limit=20, tail=2)
    run(["ncu", "--version"], limit=20, tail=2)
    run([sys.executable, "-c", "import torch, triton; print(torch.__version__, triton.__version__, torch.cuda.is_available())"])
    for pattern in ("/usr/local/cuda*/lib64/libcupti.so*", "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*",
                    sys.prefix + "/lib/python3*/site-packages/nvidia/*/lib/libcupti.so*"):
        for path in sorted(glob.glob(pattern))[:4]:
            say("  ", path)
    return True


def nsight():
    """Nsight Compute's half of the comparison needs nothing of ours: it runs while we build."""
    env = {**os.environ, "NCU_TABLES": str(WORK / "ncu")}
    if cupti():
        env["UNITRACE_CUPTI"] = str(cupti())
    out = open(WORK / "nsight.txt", "wb")
    return subprocess.Popen([sys.executable, HERE / "beside_ncu.py", "--nsight"], stdout=out, stderr=out,
                            stdin=subprocess.DEVNULL, start_new_session=True, env=env)


def build():
    beside = nsight()
    good = build_it() and programs()
    try:
        rc = beside.wait(max(1, min(90, left())))
    except subprocess.TimeoutExpired:
        rc = None
        os.killpg(beside.pid, signal.SIGKILL)
    say("  Nsight Compute's half:", rc, (WORK / "nsight.txt").read_text(errors="replace")[-300:].replace("\n", "; "))
    return good


def build_it():
    first = run(["cmake", "-S", ROOT, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
                 "-DBUILD_WITH_MPI=0"], limit=60, tail=6)
    if first.rc:
        return False
    done = run(["cmake", "--build", BUILD, "-j", str(os.cpu_count() or 8)], limit=240, tail=3)
    if done.rc == 0:
        run([UNITRACE, "--version"], tail=20)
    return done.rc == 0


def programs():
    """What the parts run, compiled once."""
    good = True
    for source, flags in (("measured.cu", ["-O2", "-lineinfo"]),):
        good &= run([NVCC, *flags, "-gencode", "arch=compute_90,code=sm_90", HERE / source, "-o",
                     WORK / pathlib.Path(source).stem], limit=60, tail=3).rc == 0
    return good


def counted(folder):
    """How many kernels were measured, and how many samples of instructions there are."""
    metrics, stalls = one(folder, "*.metrics.*.csv"), one(folder, "*.modules.*/stalls.json")
    rows = len(device.metric_rows(metrics)) if metrics else 0
    samples = sum(f["samples"] for f in json.loads(stalls.read_text())["functions"]) if stalls else 0
    return rows, samples


def together():
    """Which way to measure and to sample in one run does which CUPTI put up with? The first that works is taken."""
    found = {}
    for library in (cupti(), None):
        for how in ("off", "pc", "none"):
            folder, env = fresh("together"), {"UNITRACE_CUPTI": library} if library else {}
            done = unitrace("-q", "--stall-sampling", "--chrome-kernel-logging", "--no-summary", "--backend-option",
                            f"cuda.together={how}", "-o", "both.csv", WORK / "measured", "100", limit=25, cwd=folder,
                            tail=8, **env)
            rows, samples = counted(folder)
            way = f"{how} {'newer' if library else 'own'}"
            found[way] = {"rc": done.rc, "seconds": done.seconds, "measured": rows, "samples": samples,
                          "works": done.rc == 0 and rows == KERNELS and samples > 100}
            say(f"  together={way}: {found[way]}")
            results["together"] = found
            if found[way]["works"]:
                return True
    return False


def best_way():
    """The options and the environment of a way that was tried and works; none if none was or did: CUPTI 13.0 crashes."""
    for way, f in results.get("together", {}).items():
        if f["works"]:
            how, library = way.split()
            return how, {"UNITRACE_CUPTI": cupti()} if library == "newer" else {}
    return None, {}


def cupti():
    """The library of a newer CUPTI, unpacked; None = there is none."""
    wheels = [os.environ.get("CUPTI_WHEEL"), *glob.glob(str(ROOT / "build/*cupti*.whl")), *glob.glob(str(ROOT / "*cupti*.whl"))]
    wheel = next((w for w in wheels if w and os.path.exists(w)), None)
    if not wheel:
        return None
    if not (WORK / "cupti").exists():
        with zipfile.ZipFile(wheel) as z:
            z.extractall(WORK / "cupti")
    return next((WORK / "cupti").rglob("libcupti.so.1*"), None)


def kernels():
    library = cupti()
    say("  CUPTI:", library or "that of the machine; caches are left alone")
    env = {"UNITRACE_CUPTI": library} if library else {}
    done = run([sys.executable, HERE / "beside_ncu.py", OUT / "ten_kernels.csv"], limit=110, tail=60,
               NCU_TABLES=WORK / "ncu", **env)
    if library and "kernels within" not in done.text and left() > 200:
        say("  the newer CUPTI does not do here: once more with that of the machine, caches left alone")
        library = None
        done = run([sys.executable, HERE / "beside_ncu.py", OUT / "ten_kernels.csv"], limit=110, tail=60,
                   NCU_TABLES=WORK / "ncu")
    results["kernels"] = {"rc": done.rc, "seconds": done.seconds, "caches": "all" if library else "none",
                          "table": done.text[-6000:]}
    return done.rc == 0


def hottest(told, kernel):
    """The instruction of a kernel at which most samples are; {} if it has none."""
    function = max((f for f in told["functions"] if kernel in f["kernel"]), key=lambda f: f["samples"], default=None)
    if not function:
        return {}
    pc = max(function["pcs"], key=lambda pc: sum(pc["samples"].values()))
    return {"share": sum(pc["samples"].values()) / function["samples"], "line": pc.get("line"), "offset": pc["offset"],
            "samples": pc["samples"]}


def chase():
    folder = fresh("chase")
    done = unitrace("--stall-sampling", "--chrome-kernel-logging", "--no-summary", "-o", "chase.csv", WORK / "measured", "200",
                    limit=60, cwd=folder, tail=6)
    stalls, modules = one(folder, "chase.metrics.*.csv"), one(folder, "chase.modules.*")
    if done.rc or not stalls or not modules:
        return False
    unitrace("metrics", "-l", stalls, limit=20, cwd=folder, tail=10)
    listed = unitrace("metrics", "-k", "chase", "-s", modules, "--annotate", "both", stalls, limit=60, cwd=folder, tail=40)
    unitrace("metrics", "-k", "chase", "-s", modules, "-n", "2", stalls, limit=60, cwd=folder, tail=40)
    told = json.loads((modules / "stalls.json").read_text())
    hot = results["chase"] = hottest(told, "chase")
    if not hot:
        return False
    say(f"  the hottest instruction: {hot}")
    line = (HERE / "measured.cu").read_text().splitlines()[(hot["line"] or 1) - 1]
    return listed.rc == 0 and "next[" in line and hot["samples"].get("long_scoreboard", 0) > 0.8 * sum(hot["samples"].values())


def record_chain(folder, *options, **env):
    python = [sys.executable, "-W", "ignore", "chain.py"]
    done = unitrace("--python", "--python-modules", "__main__", "--chrome-kernel-logging", *options, "-o", "chain.utr",
                    *python, limit=120, cwd=folder, tail=40, TRITON_CACHE_DIR=WORK / "triton", **env)
    return done.rc == 0


def show_kernel(folder, name, what):
    """The stalled line or instruction of a kernel, and why."""
    stalls = one(folder, "chain.stalls.*.csv") or one(folder, "chain.metrics.*.csv")
    modules = one(folder, "chain.modules.*")
    if not stalls or not modules or not name:
        return False
    listed = unitrace("metrics", "-k", name, "-s", modules, "--annotate", what, stalls, limit=60, cwd=folder, tail=45)
    report = unitrace("metrics", "-k", name, "-s", modules, "-n", "2", stalls, limit=60, cwd=folder, tail=45)
    return listed.rc == 0 and report.rc == 0


def heaviest(folder, want):
    path = one(folder, "chain.modules.*/stalls.json")
    functions = json.loads(path.read_text())["functions"] if path else []
    names = [f["kernel"] for f in sorted(functions, key=lambda f: -f["samples"]) if want(f["kernel"])]
    return names[0] if names else None


def chain():
    """A kernel of Triton's and one of PyTorch's, from the line of Python to the roof."""
    folder, (how, env) = fresh("chain"), best_way()
    (folder / "chain.py").write_text(textwrap.dedent(CHAIN))
    if how:
        good = record_chain(folder, "-q", "-g", "Roofline", "--stall-sampling", "--backend-option", f"cuda.together={how}",
                            **env)
    else:
        good = record_chain(folder, "--stall-sampling")
    keep(folder / "chain.utr")
    by_line = unitrace("kernels", "--by", "line", "chain.utr", limit=60, cwd=folder)
    by_op = unitrace("kernels", "--by", "op", "chain.utr", limit=60, cwd=folder)
    rows = [line for done in (by_line, by_op) for line in done.text.splitlines()[:6]]
    triton, aten = heaviest(folder, lambda n: "gather_scaled" in n), heaviest(folder, lambda n: "layer_norm" in n or "softmax" in n)
    good &= show_kernel(folder, triton, "source") and show_kernel(folder, aten, "assembly")
    if not how:  # counters in a run of their own
        folder = fresh("chain_query")
        (folder / "chain.py").write_text(textwrap.dedent(CHAIN))
        good &= record_chain(folder, "-q", "-g", "Roofline", "--metric-instances", "1-2")
        keep(folder / "chain.utr", "chain_query.utr")
    metrics = one(folder, "chain.metrics.*.csv")
    if metrics:
        roof = unitrace("roofline", metrics, "--device", "h200", "--output", "roof.svg", limit=60, cwd=folder)
        good &= roof.rc == 0
        rows += roof.text.splitlines()[:8]
        keep(folder / "roof.svg")
    results["chain"] = {"triton": triton, "aten": aten, "together": how, "good": bool(good), "rows": rows}
    return bool(good and metrics)


def costs(part, limit, **env):
    path = WORK / f"{part}.json"
    done = run([sys.executable, HERE / "bench_metrics.py"], limit=limit, tail=12, PARTS=part, JSON=path, **env)
    if path.exists():
        results.update(json.loads(path.read_text()))
    return done.rc == 0 and path.exists()


def query():
    good = costs("query", 90)
    q = results.get("query", {})
    return good and q["measured"] == q["kernels"] and q["ms_a_kernel"] <= 40


def sampling():
    return costs("sampling", 150, ROUNDS="12", SAMPLERS="3") and results["sampling"]["sampled"]["median"] <= 1.02


def tests(file, limit, *names, **env):
    done = run([sys.executable, HERE / file, *names], limit=limit, tail=40, **env)
    results[file + " " + " ".join(names)] = {"rc": done.rc, "seconds": done.seconds, "tail": done.text[-3000:]}
    return done.rc == 0


def test_metrics():
    return tests("test_metrics.py", 130)


def test_roofline():
    kept = WORK / "kernels.jsonl"
    kept.unlink(missing_ok=True)
    good = tests("test_roofline.py", 90, ROOFLINE_DEVICE=ROOT / "share/roofline/h200.csv", KERNELS=kept)
    results["roofline"] = roofs(kept)
    return good


def roofs(path):
    """A line for each kernel that test_roofline.py has seen."""
    kernels = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [f"{k['kernel'][:40]}: bound {k['bound']}, reached {k['reached']:.1f} %, flop {k['flop']}, bytes {k['bytes']}"
            for k in kernels if k["bound"]]


def test_cuda():
    """The slow ones side by side: nothing in them is timed."""
    folder = fresh("tests")
    timed = ["Cuda.test_durations_agree_with_cuda_events", "Counted"]
    listed = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import sys, unittest
        sys.path.insert(0, sys.argv[1])
        import test_cuda
        print(*(t for t in unittest.TestLoader().getTestCaseNames(test_cuda.Cuda)))
        """), HERE], capture_output=True, text=True, check=False, env={**os.environ, "UNITRACE_BUILD": str(BUILD)})
    names = [f"Cuda.{n}" for n in listed.stdout.split() if f"Cuda.{n}" not in timed]
    running = []
    for i in range(4):
        out = open(folder / f"{i}.txt", "wb")
        running.append((out, subprocess.Popen([sys.executable, HERE / "test_cuda.py", *names[i::4]], stdout=out, stderr=out,
                                              start_new_session=True, env={**os.environ, "UNITRACE_BUILD": str(BUILD)})))
    good, until = bool(names), time.monotonic() + max(5, min(120, left()))
    for out, process in running:
        try:
            good &= process.wait(max(1, until - time.monotonic())) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            good = False
        out.close()
        text = pathlib.Path(out.name).read_text(errors="replace")
        for line in text.splitlines():
            if line.endswith(("ok", "FAIL", "ERROR")) or "Error" in line or "skipped" in line:
                say("    " + line[:200])
        results.setdefault("test_cuda", []).append(text[-2500:])
    return tests("test_cuda.py", 90, *timed) and good


def table():
    """What there is to write down, a line each."""
    k, c, q, s = (results.get(name, {}) for name in ("kernels", "chain", "query", "sampling"))
    for line in k.get("table", "").splitlines():
        if "%" in line or line.startswith(("kernel ", "caches")):
            yield line
    if q:
        yield f"query: {q['ms_a_kernel']:.1f} ms a kernel, {q['measured']} of {q['kernels']} kernels measured"
    for way in ("bare", "work", "sampled", "beside"):
        if way in s:
            yield f"PM sampling, {way}: {s[way]['median']:.4f} x bare ({s[way]['least']:.4f} to {s[way]['most']:.4f})"
    for row in c.get("rows", ()):
        yield f"chain: {row}"
    if c:
        yield f"chain: Triton {c['triton']}; ATen {c['aten']}; both in one run: {c['together']}; good: {c['good']}"
    for row in results.get("roofline", ()):
        yield f"roofline: {row}"
    if "chase" in results:
        yield f"chase: {results['chase']}"
    for way, found in results.get("together", {}).items():
        yield f"together={way}: {found}"


PARTS = [about, build, together, chain, kernels, sampling, query, test_roofline, test_metrics, test_cuda, chase]
LEAST = {"sampling": 70, "kernels": 30, "chain": 40, "test_metrics": 40, "test_roofline": 30, "test_cuda": 40}


def main():
    global transcript
    device.need(nvcc=True)
    OUT.mkdir(parents=True, exist_ok=True)
    WORK.mkdir(parents=True, exist_ok=True)
    transcript = open(OUT / "transcript.txt", "w", encoding="utf-8")
    wanted = os.environ.get("PARTS")
    chosen = [p for p in PARTS if not wanted or p.__name__ in wanted.split(",")]
    verdicts = {}
    for part in chosen:
        name = part.__name__
        if left() < LEAST.get(name, 15):
            verdicts[name] = "skipped: no time left"
            say(f"==== {name}: {verdicts[name]}")
            continue
        say(f"==== {name}")
        try:
            verdicts[name] = "good" if part() else "NOT good"
        except Exception as e:  # the next part may still show something
            verdicts[name] = f"NOT good: {type(e).__name__}: {e}"
        say(f"==== {name}: {verdicts[name]}")
        (OUT / "results.json").write_text(json.dumps({"parts": verdicts, **results}, indent=1, default=str))
        if name == "build" and verdicts[name] != "good":
            break
    say("==== all of it")
    for line in table():
        say("  " + line[:230])
    for name, verdict in verdicts.items():
        say(f"  {name:14} {verdict}")
    return 0 if all(v == "good" for v in verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
