"""The C extension; everything else is in pyproject.toml. The headers are those of the tree around."""
from setuptools import Extension, setup

setup(ext_modules=[Extension(
    "unitrace._core",
    sources=[f"src/{name}.c" for name in ("frame", "host", "marks", "module", "monitor", "profile",
                                          "stack", "task", "zone")],
    include_dirs=["../include", "../src"],
    define_macros=[("_GNU_SOURCE", None)],
    extra_compile_args=["-std=c17", "-O2", "-fvisibility=hidden", "-ftls-model=initial-exec"],
    libraries=["dl"],
)])
