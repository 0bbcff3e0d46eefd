"""How pip builds unitrace (PEP 517): a wheel made of what cmake installs. Only Python and cmake are
needed for it, and a cmake that is missing is asked of pip.

The wheel holds the package for the interpreter that runs pip; its scripts are the program and its
other names, and its data the rest of what `make install` installs, so that the program finds the
collector from its own place: in a virtual environment, below ~/.local, anywhere.

  pip install . --config-settings build=DIR      takes what make has built in DIR already
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "lib/unitrace/python"  # below the prefix
LEFT_OUT = ("share/doc/",)
# Wheels know no links: another name of the program starts it under that name.
OTHER_NAME = """#!python
import os, sys
os.execv(os.path.join(os.path.dirname(os.path.abspath(__file__)), "unitrace"), sys.argv)
"""


def version():
    """As PEP 440 writes it: 1.0.0rc1 for 1.0.0-rc.1."""
    text = (SOURCE / "CMakeLists.txt").read_text()
    number = re.search(r"^project\(unitrace\s+VERSION (\S+)", text, re.M)[1]
    suffix = re.search(r'^set\(UT_VERSION_SUFFIX "(.*)"\)', text, re.M)[1]
    return number + re.sub(r"-(a|b|rc)[a-z]*\.", r"\1", suffix)


def tag():
    python = "cp%d%d" % sys.version_info[:2]
    abi = python + (sys.abiflags if hasattr(sys, "abiflags") else "")
    return f"{python}-{abi}-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def metadata():
    return (SOURCE / "python/dist-info/METADATA").read_text().replace("@UT_PYTHON_VERSION@", version())


def about():
    """The files of the folder .dist-info, but for the list of all files."""
    return {"METADATA": metadata().encode(),
            "WHEEL": ("Wheel-Version: 1.0\nGenerator: unitrace\nRoot-Is-Purelib: false\n"
                      f"Tag: {tag()}\n").encode(),
            "entry_points.txt": (SOURCE / "python/dist-info/entry_points.txt").read_bytes(),
            "LICENSE": (SOURCE / "LICENSE").read_bytes()}


# ---- cmake ---------------------------------------------------------------------------------------

def cmake_is_new_enough():
    try:
        said = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    found = re.search(r"version (\d+)\.(\d+)", said.stdout)
    return bool(found) and (int(found[1]), int(found[2])) >= (3, 22)


def check_headers():
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        sys.exit("unitrace: Python.h of Python %d.%d is missing (Debian: apt-get install python3-dev)"
                 % sys.version_info[:2])


def get_page_parts():
    """What the viewer's page is bundled with; without it the wheel is made without the page."""
    if not (SOURCE / "web/dist").exists() and os.access(SOURCE, os.W_OK):
        (SOURCE / "build").mkdir(exist_ok=True)
        got = subprocess.run([sys.executable, SOURCE / "tools/fetch_packages.py",
                              SOURCE / "web/package-lock.json", SOURCE / "build/page"])
        if got.returncode:
            print("unitrace: built without the viewer's page", file=sys.stderr)


def build(folder):
    check_headers()
    get_page_parts()
    make = [] if shutil.which("make") or (folder / "CMakeCache.txt").exists() else ["-G", "Ninja"]
    # The place of the folders below the prefix is that of a wheel, wherever a distribution has them.
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, *make, "-DCMAKE_BUILD_TYPE=Release",
                    "-DBUILD_TESTING=OFF", "-DCMAKE_INSTALL_PREFIX=/usr/local",
                    "-DCMAKE_INSTALL_LIBDIR=lib", f"-DUT_PYTHONS={sys.executable}"], check=True)
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", folder, "--parallel", jobs], check=True)


def install(folder, stage):
    subprocess.run(["cmake", "--install", folder, "--prefix", stage, "--strip"], check=True,
                   stdout=subprocess.DEVNULL)


def build_folder():
    """Kept beside the sources, so that the second time is quick; a temporary one if they are not ours."""
    if os.access(SOURCE, os.W_OK):
        return SOURCE / "build/pip" / tag()
    return pathlib.Path(tempfile.mkdtemp(prefix="unitrace-pip-"))


# ---- the wheel -----------------------------------------------------------------------------------

class Wheel:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []
        self.info = f"unitrace-{version()}.dist-info"
        self.data = f"unitrace-{version()}.data"

    def add(self, name, content, executable=False):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same bytes every time
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def add_installed(self, stage, path):
        """One file of the installed tree, in the place where a wheel has it."""
        name = path.relative_to(stage).as_posix()
        if path.is_symlink() and name.endswith(".so"):
            # Of a library, for those who link it. Linkers read this text as they follow a link.
            self.add(f"{self.data}/data/{name}", f"INPUT({os.readlink(path)})\n".encode())
            return
        if path.is_symlink():
            self.add(f"{self.data}/scripts/{path.name}", OTHER_NAME.encode(), True)
            return
        content, executable = path.read_bytes(), os.access(path, os.X_OK)
        if name.startswith("bin/"):
            self.add(f"{self.data}/scripts/{path.name}", content, True)
            return
        if name.startswith(f"{PACKAGE}/unitrace/"):
            self.add(name[len(PACKAGE) + 1:], content, executable)
        # Interpreters outside find the package here, as after any other installation.
        self.add(f"{self.data}/data/{name}", content, executable)

    def close(self):
        for name, content in about().items():
            self.add(f"{self.info}/{name}", content)
        self.record.append(f"{self.info}/RECORD,,")
        self.zip.writestr(f"{self.info}/RECORD", "\n".join(self.record) + "\n")
        self.zip.close()


def files_of(stage):
    for path in sorted(stage.rglob("*")):
        name = path.relative_to(stage).as_posix()
        if not path.is_dir() and not name.startswith(LEFT_OUT):
            yield path


# ---- what pip calls ------------------------------------------------------------------------------

def get_requires_for_build_wheel(config_settings=None):
    if (config_settings or {}).get("build"):
        return []
    needs = [] if cmake_is_new_enough() else ["cmake>=3.22"]
    return needs + ([] if shutil.which("make") else ["ninja"])


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = f"unitrace-{version()}.dist-info"
    folder = pathlib.Path(metadata_directory, info)
    folder.mkdir()
    for name, content in about().items():
        (folder / name).write_bytes(content)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    made = (config_settings or {}).get("build")
    folder = pathlib.Path(made).resolve() if made else build_folder()
    if not made:
        build(folder)
    name = f"unitrace-{version()}-{tag()}.whl"
    with tempfile.TemporaryDirectory(prefix="unitrace-wheel-") as stage:
        install(folder, stage)
        wheel = Wheel(pathlib.Path(wheel_directory, name))
        for path in files_of(pathlib.Path(stage)):
            wheel.add_installed(pathlib.Path(stage), path)
        wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):
    """What git knows of, what says which version it is, and the viewer's page where it is built."""
    base = f"unitrace-{version()}"
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], check=True,
                            stdout=subprocess.PIPE).stdout.decode().split("\0")
    with tempfile.NamedTemporaryFile("w", suffix="PKG-INFO") as info:
        info.write(metadata())
        info.flush()
        with tarfile.open(pathlib.Path(sdist_directory, base + ".tar.gz"), "w:gz",
                          format=tarfile.PAX_FORMAT) as tar:
            for name in filter(None, listed):
                tar.add(SOURCE / name, f"{base}/{name}")
            tar.add(info.name, f"{base}/PKG-INFO")
            for page in sorted((SOURCE / "build/web").glob("*.gz")):
                tar.add(page, f"{base}/web/dist/{page.name}")
    return base + ".tar.gz"
