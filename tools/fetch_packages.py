#!/usr/bin/env python3
"""What the viewer's page is bundled with, from the npm registry into FOLDER/node_modules, without Node.

  tools/fetch_packages.py LOCK FOLDER

LOCK is npm's lock file (web/package-lock.json). Of its packages, those are fetched that are not for
development only and run on this machine. Every archive must have the checksum of the lock file, or nothing
is kept. FOLDER appears when all is there, with a copy of LOCK in it; where that names the same packages
already, nothing is fetched and no network is needed. The registry is the one that npm_config_registry
names, or that npm is set up for; proxies and certificates are those that Python and OpenSSL know
(https_proxy, SSL_CERT_FILE).
One line and exit status 1 if something could not be had.
"""
import base64
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import urllib.request

TIMEOUT = 20  # seconds without a byte
LIMIT = 64 << 20  # bytes of one archive


CPUS = {"x86_64": "x64", "aarch64": "arm64", "i686": "ia32", "armv7l": "arm", "ppc64le": "ppc64", "loongarch64": "loong64"}


def wanted(text):
    """(package, version, integrity) of what this machine needs, of the text of a lock file."""
    cpu = CPUS.get(platform.machine(), platform.machine())
    found = []
    for path, package in json.loads(text)["packages"].items():
        if not path or package.get("dev"):
            continue
        if cpu in package.get("cpu", [cpu]) and "linux" in package.get("os", ["linux"]):
            found.append((path.removeprefix("node_modules/"), package["version"], package["integrity"]))
    return found


def same(stamp, want):
    """Whether what was fetched the last time is what is wanted now."""
    try:
        return wanted(stamp.read_text()) == want
    except (OSError, ValueError, KeyError):
        return False


def registry():
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if os.environ.get(name):
            return os.environ[name].rstrip("/") + "/"
    if not shutil.which("npm"):
        raise ValueError("which registry is not known: install npm, or set npm_config_registry")
    asked = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, check=True)
    return asked.stdout.strip().rstrip("/") + "/"


def fetch(package, version, integrity):
    url = f"{registry()}{package}/-/{package.split('/')[-1]}-{version}.tgz"
    with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
        archive = answer.read(LIMIT)
    algorithm, _, digest = integrity.partition("-")
    if base64.b64encode(hashlib.new(algorithm, archive).digest()).decode() != digest:
        raise ValueError(f"{url} is not what the lock file says")
    return archive


def unpack(archive, at):
    """Plain files only: an archive has one folder, whatever it is called, and its files below."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for entry in tar:
            parts = pathlib.PurePosixPath(entry.name).parts[1:]
            if not entry.isfile() or not parts or ".." in parts:
                continue
            path = at.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(entry).read())
            path.chmod(0o755 if entry.mode & 0o100 else 0o644)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    text, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
    stamp, want = folder / "package-lock.json", wanted(text)
    if same(stamp, want):
        if stamp.read_text() != text:
            stamp.write_text(text)
        return
    fresh = folder.with_name(f"{folder.name}.new.{os.getpid()}")
    try:
        for package, version, integrity in want:
            try:
                unpack(fetch(package, version, integrity), fresh / "node_modules" / package)
            except (OSError, ValueError, subprocess.SubprocessError, tarfile.TarError) as error:
                sys.exit(f"{package} {version}: {error}")
        (fresh / stamp.name).write_text(text)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


main()
