"""What the tests of scripts share: a build folder and a PATH in which something is missing."""
import os
import pathlib
import sys

from common import BUILD, environment

PEERS = ("perf", "valgrind", "heaptrack", "samply", "py-spy", "scalene", "viztracer", "node", "npm", "mpi", "nvcc", "ncu",
         "nvidia-smi")


def bare_build(folder):
    """The build as it is without tools/setup.sh test and node: links to all of its parts but those."""
    bare = pathlib.Path(folder) / "build"
    bare.mkdir()
    for part in BUILD.iterdir():
        if not part.name.startswith(("venv", "node")):
            (bare / part.name).symlink_to(part)
    return bare


def bare_path(folder, missing=PEERS):
    """A folder with every command of the PATH but the tools of others; python3 is the one that runs this."""
    path = pathlib.Path(folder) / "path"
    path.mkdir()
    (path / "python3").symlink_to(sys.executable)
    for place in os.environ["PATH"].split(os.pathsep):
        for found in pathlib.Path(place).glob("*"):
            if not found.name.startswith(missing) and not (path / found.name).is_symlink():
                (path / found.name).symlink_to(found)
    return path


def bare_environment(folder, **more):
    return environment(PATH=str(bare_path(folder)), UNITRACE_BUILD=str(bare_build(folder)), **more)
