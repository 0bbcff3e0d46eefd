"""What the scripts of tests/device share: where things are, whether there is a GPU, and our output as data.

A script that cannot run here prints "SKIP: " and the reason, and ends with 77. tests/e2e/test_device_scripts.py starts
every one of them, and runs what reads and reports their figures against a CUPTI that is played (fake_loop.py).
"""
import csv
import glob
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
NCU = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
SKIPPED = 77


# ---- what is here --------------------------------------------------------------------------------

def has_gpu():
    if glob.glob("/dev/nvidia[0-9]*"):
        return True
    smi = shutil.which("nvidia-smi")
    return bool(smi) and subprocess.run([smi, "-L"], capture_output=True, check=False).returncode == 0


def missing(torch=False, nvcc=False, ncu=False):
    """Why a script that needs these cannot run here; "" if it can."""
    if not has_gpu():
        return "no GPU"
    if nvcc and not pathlib.Path(NVCC).exists():
        return "no nvcc"
    if ncu and not pathlib.Path(NCU).exists():
        return "no ncu"
    if torch:
        try:
            import torch as found
        except ImportError:
            return "no PyTorch"
        if not found.cuda.is_available():
            return "no GPU that PyTorch can use"
    return ""


def skip(why):
    print(f"SKIP: {why}", flush=True)
    sys.exit(SKIPPED)


def need(**what):
    """Skips unless there is a GPU, and what else is named."""
    if why := missing(**what):
        skip(why)


def main(why):
    """Of a file of tests: skips for a reason, or runs them."""
    if why:
        skip(why)
    unittest.main(verbosity=2)


def compile_cuda(source, program, *flags):
    subprocess.run([NVCC, "-O2", *(flags or ("-arch=native",)), HERE / source, "-o", program], check=True)


# ---- our own output, and that of Nsight Compute --------------------------------------------------

def ask(*words, cwd=None):
    """What a command of ours prints with --json."""
    done = subprocess.run([str(w) for w in (UNITRACE, *words, "--json")], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"unitrace {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def count_kernels(*traces, cwd=None):
    return sum(device["kernels"] for device in ask("stats", "--device", *traces, cwd=cwd)["devices"])


def metric_rows(path):
    """Rows of a file of metrics as dictionaries."""
    lines = [line for line in pathlib.Path(path).read_text().splitlines() if line and not line.startswith("===")]
    return list(csv.DictReader(io.StringIO("\n".join(lines)), skipinitialspace=True))


def table_rows(text, column, title=""):
    """Rows of a table of a summary (-d, -r, ...): the first below a title whose first column has this name."""
    lines = [line.strip() for line in text[text.index(title):].splitlines()]
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"{column},"))
    end = lines.index("", begin) if "" in lines[begin:] else len(lines)
    return list(csv.DictReader(lines[begin:end], skipinitialspace=True))


def ncu_rows(text):
    """Rows of ncu --csv, which come after the program's own output."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    rows = csv.DictReader(io.StringIO("\n".join(lines[begin:])))
    return [row for row in rows if row["ID"].isdigit()]  # others are messages of ncu's
