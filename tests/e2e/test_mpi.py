"""MPI calls: each is in the timeline with its bytes and peers, and each message is an arrow.

The programs (tests/mpi) write down themselves what they call and which message they got; that log
is what recordings are compared with.
"""
# ci: labels slow mpi
import re
import signal

import common
import mpi_support
from mpi_support import mpi_spans, under

common.need()
if not mpi_support.libraries():
    common.skip("no MPI with mpicc and mpiexec is here (openmpi-bin libopenmpi-dev mpich libmpich-dev)")

RANKS = 4
WORD = re.compile(r"(\w+)=(\S+)")


def logs(folder, ranks=RANKS):
    """(name, facts) of every call of every rank, as the program says."""
    return {rank: [(line.split()[0], dict(WORD.findall(line)))
                   for line in (folder / f"{rank}.log").read_text().splitlines()]
            for rank in range(ranks)}


def ids(flows, span):
    """The numbers of flows that are bound to a span: those that began or ended in it."""
    return [f["id"] for f in flows if span.begin <= common.to_ns(f["ts"]) <= span.end]


class Mpi(mpi_support.Case):
    def check_facts(self, said, span):
        name, facts = said
        self.assertEqual(span.name, name)
        for key, value in facts.items():
            if key in ("sent", "got", "none"):
                continue
            self.assertIn(key, span.args, f"{span} {facts}")
            if value != "*":
                self.assertEqual(str(span.args[key]), value, f"{key} of {span}: {facts}")
        if name in ("MPI_Send", "MPI_Recv") and not facts:
            self.assertEqual(span.args, {})

    def check(self, traces, folder):
        """Every call, in order, and each message from the call that sent it to the one that got it."""
        ends = {"sent": {}, "got": {}}
        for rank, calls in logs(folder).items():
            # a test that fails has a span of its own
            spans = [s for s in mpi_spans(traces[rank]) if s.name != "MPI_Test" or "from" in s.args]
            self.assertEqual([s.name for s in spans], [name for name, _ in calls])
            for said, span in zip(calls, spans):
                self.check_facts(said, span)
                for key, phase in (("sent", "s"), ("got", "f")):
                    if key in said[1]:
                        here = ids([f for f in traces[rank].flows if f["ph"] == phase], span)
                        ends[key].setdefault(said[1][key], []).append((rank, span, here))
        self.assertGreater(len(ends["sent"]), 40)
        for message, [(_, span, here)] in ends["got"].items():
            [(_, sender, there)] = ends["sent"][message]
            self.assertTrue(set(here) & set(there), f"{message}: {sender} -> {span}")
            self.assertEqual(len(here), 1, span)
        self.assertEqual(set(ends["got"]), set(ends["sent"]))

    @under(every=True)
    def test_every_call_and_message_is_what_the_program_says(self, lib):
        folder = self.dir / "log"
        folder.mkdir()
        self.record(lib, RANKS, lib.build("every_call.c"), folder)
        traces = self.traces()
        self.assertEqual(set(traces), set(range(RANKS)))
        self.check(traces, folder)

    @under()
    def test_every_message_is_an_arrow_after_a_merge(self, lib):
        folder = self.dir / "log"
        folder.mkdir()
        self.record(lib, RANKS, lib.build("every_call.c"), folder)
        done = self.unitrace("merge", "-o", "all.json", *self.dir.glob("every*.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.unitrace("query", "all.json", "--format", "csv", """
            SELECT o.rank, i.rank, count(*) FROM flow f JOIN slice o ON o.id = f.slice_out
            JOIN slice i ON i.id = f.slice_in GROUP BY 1, 2""")
        rows = [tuple(map(int, row.split(","))) for row in done.stdout.decode().split()[1:]]
        sent = sum(1 for calls in logs(folder).values() for _, facts in calls if "sent" in facts)
        # two sends in every rank are not numbered by the program: of a type, and in half of the world
        self.assertEqual(sum(n for _, _, n in rows), sent + 2 * RANKS)
        done = self.unitrace("validate", "all.json")
        self.assertEqual(done.returncode, 0, done.stdout)

    @under()
    def test_one_launcher_around_mpiexec_records_all_ranks(self, lib):
        folder = self.dir / "log"
        folder.mkdir()
        done = self.unitrace("--chrome-mpi-logging", "--no-summary", *lib.start(RANKS),
                             lib.build("every_call.c"), folder, env=lib.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(self.traces(), folder)

    @under()
    def test_some_ranks_alone(self, lib):
        """Those that are not recorded must not be waited for."""
        folder = self.dir / "log"
        folder.mkdir()
        program = lib.build("every_call.c")
        done = self.run_words(*lib.start(1), common.UNITRACE, "--chrome-mpi-logging", "--no-summary",
                              program, folder, ":", "-n", str(RANKS - 1), program, folder,
                              env=lib.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = self.traces()
        self.assertEqual(set(traces), {0})
        for said, span in zip(logs(folder)[0], mpi_spans(traces[0])):
            self.check_facts(said, span)

    def check_language(self, lib, *program):
        """Calls of other languages than C; mpi4py may take the ones with large counts instead."""
        folder = self.dir / "log"
        folder.mkdir()
        self.record(lib, RANKS, *program, folder)
        traces = self.traces()
        self.assertEqual(set(traces), set(range(RANKS)))
        for rank, calls in logs(folder).items():
            spans = mpi_spans(traces[rank])
            self.assertEqual([s.name.removesuffix("_c") for s in spans], [name for name, _ in calls])
            for (name, facts), span in zip(calls, spans):
                self.check_facts((span.name, facts), span)
        for path in self.dir.glob("*.json"):
            path.unlink()
        mpi_support.shutil.rmtree(folder)

    def check_fortran(self, lib, *flags):
        program = lib.build_fortran("languages.f90", *flags)
        if not program:
            self.skipTest(f"no gfortran, or none whose modules {lib.name} has")
        self.check_language(lib, program)

    @under("openmpi", "mpich", "intel", every=True)
    def test_fortran(self, lib):
        self.check_fortran(lib, "-fallow-argument-mismatch")

    @under("openmpi", "mpich", "intel", every=True)
    def test_fortran_2008(self, lib):
        self.check_fortran(lib, "-DF08")

    @under(every=True)
    def test_python(self, lib):
        python = lib.python()
        if not python:
            self.skipTest(f"long: no mpi4py for {lib.name} (tools/setup.sh real)")
        self.check_language(lib, python, common.SOURCE / "tests/mpi/languages.py")

    def test_intel_mpi_is_here(self):
        """So that its absence is seen where skips are listed: the others would go on without it."""
        if "intel" not in [lib.name for lib in mpi_support.libraries(every=True)]:
            self.skipTest("long: Intel MPI is not in build/venv-real (tools/setup.sh real)")

    @under()
    def test_every_function_that_moves_data_or_waits_is_in_front_of_the_library(self, lib):
        """What is not recorded only asks, describes, or makes something for this process alone."""
        theirs = lib.functions()
        if theirs is None:
            self.skipTest("nm is not here (binutils)")
        backend = common.BUILD / "lib/unitrace/backends/mpi.so"
        ours = mpi_support.functions_of(backend)
        plain = re.compile(
            r"MPI_((Type|Info|Op|Group|Attr|Keyval|Errhandler|Error|Status|Pack|Unpack|Aint|Abi|Session|Get)_\w+"
            r"|(Cart|Graph|Dist_graph)_(get|rank|coords|shift|map|neighbors|neighbors_count)|(Cart|Graph)dims?_get"
            r"|(Add|Remove)_error_\w+|Topo_test|Dims_create|Wtime|Wtick|(Alloc|Free)_mem|Is_thread_main|Query_thread"
            r"|Pcontrol|Pack|Unpack|(Open|Close)_port|(Publish|Unpublish|Lookup)_name|Register_datarep|Reduce_local"
            r"|Buffer_attach|Finalized|Initialized|Test_cancelled|Address|File_(get_\w+|seek)"
            r"|(Comm|Win|File)_(get_\w+|(set|delete|create|free|call)_(name|attr|errhandler|keyval)|test_inter|rank|size"
            r"|group|remote_\w+|compare|shared_query|attach_buffer)|\w+_(c2f|f2c|toint|fromint|f2f08|f082f))(_c|_x)?")
        # of MPI-4's sessions
        later = {"MPI_Comm_create_from_group", "MPI_Intercomm_create_from_groups"}
        left = {f for f in theirs - ours if re.match("MPI_[A-Z][a-z]", f) and not plain.fullmatch(f)} - later
        self.assertEqual(left, set())

    @under()
    def test_without_the_option_mpi_is_left_alone(self, lib):
        folder = self.dir / "log"
        folder.mkdir()
        self.record(lib, RANKS, lib.build("every_call.c"), folder, mpi=False)
        self.assertEqual(list(self.dir.glob("*.json")), [])

    @under()
    def test_a_rank_that_is_killed_loses_nothing_of_its_own(self, lib):
        """Rank 1 kills itself after 100 messages, in the middle of the next receive."""
        self.record(lib, 2, lib.build("killed.c"), status=None)
        for path in self.dir.glob("*.session"):
            self.unitrace("export", path)
        trace = self.traces("killed*.json")[1]
        spans = mpi_spans(trace)
        self.assertEqual(sum(s.name == "MPI_Recv" for s in spans), 100)
        self.assertEqual(len([f for f in trace.flows if f["ph"] == "f"]), 100)

    @under()
    def test_the_program_runs_as_it_does_alone(self, lib):
        """errno, allocations, codes, jumps, callbacks, output and exit status, in every way to end."""
        program = lib.build("guest.c")
        for word, status in ((), 0), (("abort",), None), (("exit",), None):
            bare = self.run_words(*lib.start(2), program, *word, env=lib.environment())
            done = self.record(lib, 2, program, *word, status=None)
            # the launcher ends the other rank wherever it is then, and makes one status of both
            self.assertEqual(done.returncode != 0, bare.returncode != 0)
            if not word:
                # Pieces of two ranks may meet in the middle of a word: what is said counts, not where it ends.
                self.assertEqual(*(sorted(b"".join(out.stdout.split())) for out in (done, bare)))
            if status is not None:
                self.assertEqual(done.returncode, status)
                self.assertIn(b"0 allocations\n", done.stdout)
        trace = self.traces("guest*.json")[0]
        names = [s.name for s in mpi_spans(trace)]
        self.assertEqual(names.count("MPI_Allreduce"), 1)

    @under()
    def test_polling_is_one_wait(self, lib):
        self.record(lib, 2, lib.build("polling.c"))
        spans = [s for s in mpi_spans(self.traces()[1]) if s.name in ("MPI_Test", "MPI_Iprobe")
                 and "pending" not in s.args]
        self.assertEqual([s.name for s in spans], ["MPI_Test", "MPI_Test", "MPI_Iprobe", "MPI_Iprobe"])
        self.assertEqual(spans[0].args, {})
        # what another process had the core for is no polling
        self.assertGreater(spans[1].args["polling_ns"], spans[1].args["polls"])
        self.assertLess(spans[1].args["polling_ns"], spans[1].end - spans[0].begin)
        self.assertGreater(spans[1].args["polls"], 1)
        self.assertEqual(spans[1].args["from"], 0)
        self.assertEqual(spans[3].args["polls"], 3)
        for path in self.dir.glob("*.json"):
            path.unlink()
        self.record(lib, 2, lib.build("polling.c"), options=["--backend-option", "mpi.polls=each"])
        spans = [s for s in mpi_spans(self.traces()[1]) if s.name == "MPI_Iprobe"]
        self.assertEqual(len(spans), 3)

    @under()
    def test_names_of_files_have_the_rank(self, lib):
        folder = self.dir / "log"
        folder.mkdir()
        self.record(lib, 4, lib.build("every_call.c"), folder, options=["-o", "run.json"])
        names = sorted(p.name for p in self.dir.glob("*.json"))
        self.assertEqual(len(names), 4)
        for rank, name in enumerate(sorted(names, key=lambda n: n.split(".")[2])):
            self.assertRegex(name, rf"^run\.\d+\.{rank}\.json$")


if __name__ == "__main__":
    common.main()
