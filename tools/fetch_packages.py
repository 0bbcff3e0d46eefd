#!/usr/bin/env python3
"""Packages of the npm registry into FOLDER/node_modules, each the one that a list names.

  tools/fetch_packages.py LIST FOLDER

LIST says which (web/packages.txt tells how it looks). Every archive has to be what its line says, or
nothing is kept. FOLDER appears when all is there, with a copy of LIST in it; where that is the same
already, nothing is done and no network is needed. The registry is the one that npm_config_registry
names, or that npm is set up for; proxies and certificates are those that Python and OpenSSL know
(https_proxy, SSL_CERT_FILE).
One line and exit status 1 if something could not be had.
"""
import base64
import hashlib
import io
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


def wanted(text):
    """(package, version, integrity) of every line that is for this machine."""
    for line in text.splitlines():
        words = line.split()
        if words and not line.startswith("#") and (len(words) == 3 or words[3] == platform.machine()):
            yield words[:3]


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
        raise ValueError(f"{url} is not what the list says")
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
    stamp = folder / "packages.txt"
    if stamp.exists() and stamp.read_text() == text:
        return
    fresh = folder.with_name(f"{folder.name}.new.{os.getpid()}")
    try:
        for package, version, integrity in wanted(text):
            try:
                unpack(fetch(package, version, integrity), fresh / "node_modules" / package)
            except (OSError, ValueError, subprocess.SubprocessError, tarfile.TarError) as error:
                sys.exit(f"{package} {version}: {error}")
        (fresh / "packages.txt").write_text(text)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


main()
