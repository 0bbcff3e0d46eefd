#!/usr/bin/env python3
"""Configuring, setting up and installing: what is missing is left out aloud, the program does not
wait for the tests, and an installed tree works where it is put."""
# ci: labels slow
# ci: no sanitizers
import base64
import hashlib
import http.server
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import unittest

from common import BUILD, PATIENCE, SOURCE, UNITRACE, Case, environment, main, need

need()
SERVES = b"in a browser" in subprocess.run([UNITRACE, "--version"], capture_output=True, timeout=PATIENCE).stdout


def run(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, timeout=2 * PATIENCE,
                          **{"env": environment(), **options})


class Configured(Case):
    """cmake alone, which takes seconds."""

    def cmake(self, *words):
        if not shutil.which("cmake"):
            raise unittest.SkipTest("cmake is not on the path")
        return run("cmake", "-S", SOURCE, "-B", self.dir / "tree", "-G", "Unix Makefiles", *words)

    def configure(self, *words):
        got = self.cmake(*words)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode()

    def targets(self, of="all"):
        """What a target builds, by default "make all"."""
        rules = (self.dir / "tree/CMakeFiles/Makefile2").read_text()
        return sorted(re.findall(rf"^{re.escape(of)}: CMakeFiles/(\S+)\.dir/all$", rules, re.M))

    def test_without_libraries_cmake_says_what_is_left_out(self):
        said = self.configure(*(f"-DCMAKE_DISABLE_FIND_PACKAGE_{p}=ON" for p in
                                ("SQLite3", "ZLIB", "PkgConfig")),
                              "-DUT_ZSTD_LIBRARY=UT_ZSTD_LIBRARY-NOTFOUND",
                              "-DCMAKE_LIBRARY_PATH=", "-DBUILD_TESTING=OFF")
        self.assertIn("left out: the command query, SQLite files and reading from Python: SQLite 3.38", said)
        self.assertIn("left out: gzip: zlib is missing (Debian: zlib1g-dev)", said)

    def test_without_its_parts_the_page_is_left_out_aloud(self):
        said = self.configure(f"-DUT_WEB_MODULES={self.dir}", "-DBUILD_TESTING=OFF")
        self.assertIn("left out: the viewer's page: what it is bundled with is missing", said)
        rules = (self.dir / "tree/CMakeFiles/Makefile2").read_text()
        self.assertNotIn("web_page", rules)

    def test_a_switch_that_is_0_leaves_its_part_out(self):
        backends = {"CUDA": "cuda", "L0": "levelzero", "MPI": "mpi", "OPENCL": "opencl", "XPTI": "sycl"}
        old = self.dir / "tree/lib/unitrace/backends/cuda.so"  # of a build with another setting
        old.parent.mkdir(parents=True)
        old.touch()
        said = self.configure("-DBUILD_TESTING=OFF", *(f"-DBUILD_WITH_{s}=0" for s in ["ITT", *backends]))
        self.assertIn("ITT: no (BUILD_WITH_ITT=0)", said)
        self.assertRegex(said, r"MPI plugins: none \(BUILD_WITH_MPI=0\) +backends: memory nccl ")
        for switch, name in backends.items():
            self.assertIn(f"left out: backend {name}: BUILD_WITH_{switch}=0", said)
        built = self.targets()
        self.assertEqual([t for t in built if t.startswith(("backend_", "mpi_"))],
                         ["backend_memory", "backend_nccl", "backend_null"])
        rules = (self.dir / "tree/CMakeFiles/collector.dir/build.make").read_text()
        self.assertIn("src/record/collect/gate.c", rules)
        self.assertNotRegex(rules, "src/record/collect/(api|itt_)")
        self.assertFalse(old.exists())

    def test_a_switch_takes_1_0_or_auto(self):
        got = self.cmake("-DBUILD_WITH_CUDA=maybe")
        self.assertEqual(got.returncode, 1)
        self.assertIn("BUILD_WITH_CUDA is 'maybe'; it takes 1, 0 or AUTO", got.stderr.decode())

    def test_the_default_target_builds_the_program_and_ctest_the_rest(self):
        said = self.configure("-DBUILD_WITH_L0=1")
        built = self.targets()
        self.assertIn("unitrace", built)
        self.assertIn("collector", built)
        folders = sorted(p.parent.name for p in (SOURCE / "src/record/backend").glob("*/README.md"))
        left = re.findall(r"left out: backend (\w+): the headers", said)
        self.assertEqual([t for t in built if t.startswith("backend_")],
                         [f"backend_{name}" for name in folders if name not in left])
        self.assertEqual([t for t in built if t.startswith(("test", "unit_"))], [])
        self.assertIn("tests_e2e", self.targets("CMakeFiles/tests.dir/all"))
        self.assertIn("tests_programs_every_call", self.targets("CMakeFiles/tests_e2e.dir/all"))
        got = run("ctest", "-N", "-R", "^e2e/build$", cwd=self.dir / "tree")
        listed = re.findall(r"Test +#\d+: (\S+)", got.stdout.decode())
        self.assertEqual(listed, ["built/e2e", "e2e/build"], got.stdout.decode())


class Machine(Case):
    """A tree with tools/setup.sh on a machine whose package manager has nothing."""

    COMMANDS = ("cc", "make", "cmake", "pkg-config")

    def machine(self, installed, commands=COMMANDS):
        self.tree, self.tools = self.dir / "tree", self.dir / "bin"
        for folder in (self.tree / "tools", self.tree / "web", self.tools):
            folder.mkdir(parents=True)
        for name in ("setup.sh", "fetch_packages.py"):
            shutil.copy(SOURCE / "tools" / name, self.tree / "tools")
        scripts = {name: "exit 0" for name in commands}
        scripts["dpkg-query"] = "".join(f"echo '{name} installed'\n" for name in installed)
        scripts["apt-get"] = "echo 'E: Unable to locate package'; exit 100"
        scripts["id"] = "echo 0"
        for name, text in scripts.items():
            (self.tools / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.tools / name).chmod(0o755)
        for name in ("bash", "sh", "dirname", "sed", "grep", "tail", "mkdir", "cat", "rm"):
            (self.tools / name).symlink_to(shutil.which(name))

    def set_up(self, **env):
        return self.run_words(self.tree / "tools/setup.sh", "build",
                              env={"PATH": str(self.tools), **env})


class SetUp(Machine):
    def test_optional_packages_that_cannot_be_had_are_named_and_left_out(self):
        self.machine(["libc6-dev"])
        got = self.set_up()
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        for name in ("libsqlite3-dev", "zlib1g-dev", "libzstd-dev", "python3-dev"):
            self.assertIn(f"setup: skipped {name}: ", got.stdout.decode())

    def test_plain_make_installs_nothing_and_says_what_is_missing(self):
        self.machine(["libc6-dev"])
        (self.tools / "apt-get").write_text(f"#!/bin/sh\necho \"$@\" >>{self.dir}/asked\n")
        shutil.copy(SOURCE / "Makefile", self.tree)
        would = run("make", "-n", cwd=self.tree).stdout.decode()
        self.assertEqual(re.findall(r"^tools/setup.sh.*?(?= *\|\||$)", would, re.M), ["tools/setup.sh --missing build"])
        got = self.run_words(self.tree / "tools/setup.sh", "--missing", "build", env={"PATH": str(self.tools)})
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertIn("optional and not installed, what needs them is left out: zlib1g-dev", got.stdout.decode())
        self.assertFalse((self.dir / "asked").exists())

    def test_without_a_compiler_it_stops(self):
        self.machine(["libc6-dev"], ["make", "cmake", "pkg-config"])
        got = self.set_up()
        self.assertEqual(got.returncode, 1)
        self.assertIn("could not install gcc", got.stderr.decode())


class PageParts(Machine):
    """What the viewer's page is bundled with, from a registry of our own."""

    def setUp(self):
        super().setUp()
        text = (SOURCE / "tools/setup.sh").read_text()
        optional = re.search(r'^build_optional="([^"]*)"', text, re.M)[1].split()
        self.machine(["libc6-dev", *(word.split("|")[0] for word in optional)])
        (self.tools / "python3").symlink_to(sys.executable)
        self.files, self.asked = {}, []
        case = self

        class Registry(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                case.asked.append(self.path)
                found = case.files.get(self.path)
                self.send_response(200 if found else 404)
                self.end_headers()
                self.wfile.write(found or b"")

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.registry = f"http://127.0.0.1:{server.server_port}"
        self.modules = self.tree / "build/page/node_modules"

    def publish(self, name, more=(), **files):
        """An archive of one package in the registry; its entry in the lock file."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for path, text in files.items():
                entry = tarfile.TarInfo(path.replace("__", "/"))
                entry.size, entry.mode = len(text), 0o755
                tar.addfile(entry, io.BytesIO(text.encode()))
        self.files[f"/{name}/-/{name.split('/')[-1]}-1.2.3.tgz"] = packed.getvalue()
        digest = base64.b64encode(hashlib.sha512(packed.getvalue()).digest()).decode()
        return f"node_modules/{name}", {"version": "1.2.3", "integrity": f"sha512-{digest}", **dict(more)}

    def want(self, *entries):
        lock = {"lockfileVersion": 3, "packages": {"": {"name": "page"}, **dict(entries)}}
        (self.tree / "web/package-lock.json").write_text(json.dumps(lock))

    def fetch(self):
        got = self.set_up(npm_config_registry=self.registry)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertEqual(got.stderr, b"")
        return got.stdout.decode()

    def test_they_are_fetched_once_and_for_this_machine(self):
        own = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
        self.want(self.publish("small", package__a="one", package__sub__b="two"),
                  self.publish("@its/tool", {"os": ["linux"], "cpu": [own]}, package__bin__tool="run"),
                  self.publish("@its/other", {"os": ["linux"], "cpu": ["not-" + own]}, package__bin__tool="walk"),
                  self.publish("checker", {"dev": True}, package__bin__check="look"))
        self.assertIn("fetching what the viewer's page is bundled with", self.fetch())
        self.assertEqual((self.modules / "small/sub/b").read_text(), "two")
        self.assertTrue(os.access(self.modules / "@its/tool/bin/tool", os.X_OK))
        self.assertFalse((self.modules / "@its/other").exists())
        self.assertFalse((self.modules / "checker").exists())
        self.registry = "http://127.0.0.1:1"  # nobody is there, and nobody is needed
        self.assertEqual(self.fetch(), "")
        self.assertEqual(len(self.asked), 2)

    def test_a_new_list_replaces_the_old_parts(self):
        self.want(self.publish("small", package__a="one"))
        self.fetch()
        self.want(self.publish("large", package__a="two"))
        self.fetch()
        self.assertEqual([p.name for p in self.modules.iterdir()], ["large"])

    def test_without_a_network_the_build_goes_on_and_does_not_ask_again(self):
        self.want(self.publish("small", package__a="one"))
        here, self.registry = self.registry, "http://127.0.0.1:1"
        self.assertRegex(self.fetch(), "setup: skipped the viewer's page: small 1.2.3: .*refused")
        self.registry = here
        self.assertIn("still without the viewer's page (delete build/setup-skipped", self.fetch())
        self.assertEqual(self.asked, [])
        (self.tree / "build/setup-skipped").unlink()
        self.fetch()
        self.assertTrue((self.modules / "small/a").exists())

    def test_an_archive_that_is_not_the_one_named_is_refused_whole(self):
        good, bad = self.publish("good", package__a="one"), self.publish("bad", package__a="one")
        self.publish("bad", package__a="another")
        self.want(good, bad)
        self.assertRegex(self.fetch(), "skipped the viewer's page: bad 1.2.3: .* is not what the lock file says")
        self.assertEqual([p.name for p in (self.tree / "build").glob("page*")], [])

    def test_an_archive_cannot_write_elsewhere(self):
        self.want(self.publish("small", **{"package__..__..__..__..__..__out": "x", "package__a": "one"}))
        self.fetch()
        self.assertEqual([p.name for p in (self.modules / "small").iterdir()], ["a"])
        self.assertEqual(list(self.dir.rglob("out")), [])


class Installed(Case):
    def install(self, prefix, **env):
        got = run("cmake", "--install", BUILD, "--prefix", prefix, env=environment(**env))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode()

    def python(self, *words, **env):
        return self.run_words(sys.executable, "-B", *words, env=environment(**env))

    def test_python_finds_the_package_where_it_looks_under_the_prefix(self):
        if not list((BUILD / "lib/unitrace/python").glob("unitrace/_core.*.so")):
            raise unittest.SkipTest("the Python package has no extension")
        home = self.dir / "home"  # as ~/.local is for everybody
        self.install(home, PYTHONUSERBASE=str(home))
        moved = self.dir / "moved"
        home.rename(moved)
        (self.dir / "script.py").write_text("def work(): pass\nwork()\n")
        got = self.python("-m", "unitrace", "--quiet", "-o", "out.json", "script.py",
                          PYTHONUSERBASE=str(moved))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertIn('"work"', (self.dir / "out.json").read_text())

    def test_elsewhere_one_line_says_what_to_add(self):
        said = self.install(self.dir / "opt")
        path = re.search(r"export PYTHONPATH=(\S+)$", said, re.M)
        self.assertIsNotNone(path, said[-500:])
        got = self.python("-m", "unitrace", "--help", PYTHONPATH=path[1])
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertFalse(list((self.dir / "opt").glob("lib*/python*")))


class LoadedOnDemand(Case):
    """libmicrohttpd: only who serves pays for it, and only who serves misses it."""

    def without(self, old, new):
        """The program, looking for another name than the one that is here."""
        content = UNITRACE.read_bytes()
        self.assertIn(old, content)
        copy = self.dir / "unitrace"
        copy.write_bytes(content.replace(old, new))
        copy.chmod(0o755)
        (self.dir / "run.json").write_text('[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}]')
        return copy

    def test_the_program_starts_without_it(self):
        loaded = self.run_words(UNITRACE, env=environment(LD_TRACE_LOADED_OBJECTS="1")).stdout.decode()
        self.assertIn("libc.so", loaded)
        self.assertNotRegex(loaded, "microhttpd|gnutls")

    @unittest.skipUnless(SERVES, "built without libmicrohttpd or the page")
    def test_where_it_is_missing_one_line_says_so_and_the_rest_works(self):
        copy = self.without(b"libmicrohttpd.so.", b"libmicrohttpd.no.")
        for words, status in ((("view", "--no-browser", "run.json"), 1), (("--view", "true"), 125)):
            got = self.run_words(copy, *words)
            self.assertEqual(got.returncode, status, got.stderr)
            self.assertRegex(got.stderr.decode(), r"\A(unitrace|--view|: )+libmicrohttpd is not installed "
                             r"\(Debian: libmicrohttpd\d+\)\n\Z")
        said = self.run_words(copy, "--version").stdout.decode()
        self.assertRegex(said, r"(?m)^  not here .*view and --serve: libmicrohttpd is not installed")
        self.assertRegex(said, r"(?m)^  view +as one file$")
        for words in (("stats", "run.json"), ("view", "--save", "run.html", "run.json")):
            got = self.run_words(copy, *words)
            self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn('id="trace"', (self.dir / "run.html").read_text())

    @unittest.skipUnless(SERVES, "built without libmicrohttpd or the page")
    def test_one_that_lacks_a_function_is_named_with_it(self):
        got = self.run_words(self.without(b"MHD_http_unescape", b"MHD_http_unescapX"),
                             "view", "--no-browser", "run.json")
        self.assertEqual(got.returncode, 1)
        self.assertRegex(got.stderr.decode(), r"\A[^\n]*libmicrohttpd\.so\.\d+ has no MHD_http_unescapX\n\Z")


class Package(Case):
    """make deb."""

    def test_the_package_holds_everything_and_lintian_finds_no_error(self):
        for tool in ("dpkg-deb", "dpkg-shlibdeps", "lintian"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        got = run(SOURCE / "tools/deb.sh", BUILD, self.dir, env=environment(
            DEBFULLNAME="A Tester", DEBEMAIL="tester@debian.org"))
        self.assertEqual(got.returncode, 0, got.stdout.decode() + got.stderr.decode())
        self.assertNotRegex(got.stdout.decode(), r"(?m)^E:")
        package, = self.dir.glob("unitrace_*.deb")
        root = self.dir / "root"
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        for name in ("bin/unitrace", "bin/mergetrace", "lib/libunitrace.so", "lib/libittnotify.a",
                     "include/ittnotify.h", "lib/pkgconfig/ittnotify.pc",
                     "lib/python3/dist-packages/unitrace/__main__.py",
                     "share/man/man1/unitrace.1.gz", "share/man/man1/unitrace-record.1.gz",
                     "share/bash-completion/completions/unitrace",
                     "share/doc/unitrace/copyright", "share/doc/unitrace/changelog.gz",
                     "share/doc/unitrace/changelog.Debian.gz"):
            self.assertTrue((root / "usr" / name).exists(), name)
        got = self.run_words(root / "usr/bin/unitrace", "--quiet", "-o", "out.json", "true")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        if SERVES and subprocess.run(["dpkg-query", "-S", "*/libmicrohttpd.so.*"],
                                     capture_output=True).returncode == 0:
            field = subprocess.check_output(["dpkg-deb", "-f", package, "Recommends"], text=True)
            self.assertRegex(field, r"^libmicrohttpd\d+\w*$")  # loaded, so that no tool sees it
        got = self.run_words(root / "usr/bin/unitrace", "--version")
        self.assertEqual(got.stdout, self.unitrace("--version").stdout)  # with the page, if it is built


class Release(Case):
    """make dist."""

    def test_a_release_carries_the_page_and_needs_nothing_to_build_it(self):
        if not (BUILD / "web/app.js.gz").exists():
            raise unittest.SkipTest("the viewer's page is not built")
        changed = run("git", "diff", "--quiet", "HEAD", "--", "web", cwd=SOURCE)
        if changed.returncode:
            raise unittest.SkipTest("no git, or web/ has changes that are not committed")
        (self.dir / "web").symlink_to(BUILD / "web")
        got = run(SOURCE / "tools/dist.sh", self.dir)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        with tarfile.open(next(self.dir.glob("unitrace-*.tar.gz"))) as tar:
            tar.extractall(self.dir)
        tree = next(self.dir.glob("unitrace-*/CMakeLists.txt")).parent
        for name in ("app.js.gz", "app.css.gz", "workbench.js.gz", "workbench.css.gz", "module.wasm.gz"):
            self.assertEqual((tree / "web/dist" / name).read_bytes(), (BUILD / "web" / name).read_bytes())
        got = run("cmake", "-S", tree, "-B", self.dir / "made", "-DBUILD_TESTING=OFF",
                  "-G", "Unix Makefiles")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertNotIn("left out: the viewer's page", got.stdout.decode())


class Demo(Case):
    def test_the_demo_ends_with_a_page_of_ours(self):
        tree = self.dir / "tree"
        tree.mkdir()
        for name in ("bin", "lib", "examples"):
            (tree / name).symlink_to(BUILD / name)
        got = self.run_words(SOURCE / "tools/demo.sh", tree)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        page = tree / "demo/demo.html"
        last = got.stdout.decode().splitlines()[-1]
        if "as one file" in self.unitrace("--version").stdout.decode():
            self.assertEqual(last.strip(), page.as_uri())
            self.assertIn('id="trace"', page.read_text())
        else:
            self.assertIn("without the viewer's page", last)
            self.assertFalse(page.exists())


class Bench(Case):
    def test_the_speed_of_every_format_can_be_measured(self):
        program = BUILD / "tests/bench/bench_export"
        if not program.exists():
            raise unittest.SkipTest("tests/bench is not built")
        got = self.run_words(program, "2000")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.assertIn("summary", got.stdout.decode())


if __name__ == "__main__":
    main()
