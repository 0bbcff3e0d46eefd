"""The viewer's tab Ranks in a headless Chromium, over HTTP and in one file, of traces one by one and merged: its
numbers are those of `unitrace ranks --json`, its links lead to the calls that wait, names of programs stay text.
Skipped without the page, node, Chromium or playwright-core."""
# ci: labels slow browser
import csv
import io
import json

from common import SOURCE, UNITRACE, main, skip
from view_support import ViewCase, unitrace

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

CG = sorted((SOURCE / "tests/golden/inputs/mpi").glob("cg.?.json"))
HOSTS = [SOURCE / f"tests/golden/inputs/hosts/ping.{i}.json" for i in range(2)]
HOSTILE = '<img src=x onerror=alert(1)>"\u202e${x}'


def rows(table):
    keys = [c["key"] for c in table["columns"]]
    return [dict(zip(keys, cells)) for cells in zip(*table["data"])] if table["rows"] else []


def of_page(column, value):
    """A value of the page as the command has it: shares are percent there."""
    return value if value is None or column["type"] != "share" else 100 * value


class Ranks(ViewCase):
    script = "view_ranks.js"

    def check_tables(self, sheet, told):
        """Every table of the command, cell by cell."""
        self.assertEqual(sheet["verdict"], told["verdict"] + ".")
        self.assertEqual(sheet["run"], told["run_ns"])
        names = [k for k, v in told.items() if isinstance(v, list)]
        self.assertGreaterEqual(set(names), {"ranks", "calls", "tasks", "waits", "matrix", "steps", "collectives", "clocks"})
        for name in names:
            table = sheet[name]
            self.assertEqual(table["rows"], len(told[name]), name)
            for i, row in enumerate(told[name]):
                for k, column in enumerate(table["columns"]):
                    key = min((w for w in row if w == column["key"] or w.startswith(column["key"] + "_") and
                               w not in (c["key"] for c in table["columns"])), key=len)
                    mine = of_page(column, table["data"][k][i])
                    if isinstance(mine, float) or isinstance(row[key], float):
                        self.assertAlmostEqual(mine, row[key], places=3, msg=(name, i, key))
                    else:
                        self.assertEqual(mine, row[key], (name, i, key))

    def check_pictures(self, sheet, told):
        """What is drawn adds up to the tables."""
        course, fields = sheet["course"], sheet["map"]["fields"]
        pieces = len(course["mean"])
        for i, rank in enumerate(told["ranks"]):
            for mine, key in (("useful", "useful_ns"), ("wait", "wait_ns"), ("transfer", "transfer_ns")):
                self.assertEqual(sum(course[mine][i * pieces:(i + 1) * pieces]), rank[key], (i, key))
            self.assertEqual(sum(f["waiting"] for f in fields if f["to"] == i), rank["wait_ns"])
            self.assertEqual(sum(f["waiting"] for f in fields if f["from"] == i), rank["caused_ns"])
        self.assertEqual(sum(f["bytes"] for f in fields), sum(m["sent_bytes"] for m in told["matrix"]))
        self.assertEqual(sum(f["wait"] for f in fields), sum(m["wait_ns"] for m in told["matrix"]))

    def check(self, seen, told):
        self.assertEqual(seen["errors"], [])
        self.check_tables(seen["sheet"], told)
        self.check_pictures(seen["sheet"], told)
        self.assertEqual(seen["verdict"][0], told["verdict"] + ".")
        self.assertEqual([t.replace("\u202f", " ") for t in seen["tiles"]], [f"{e['value']:.1f} %" for e in told["efficiency"]])
        self.assertEqual(seen["bars"], sum(v > 0 for r in told["ranks"] for v in (
            r["useful_ns"], r["transfer_ns"], r["wait_ns"], r["in_calls_ns"] - r["transfer_ns"] - r["wait_ns"])))
        self.assertEqual(len(seen["heat"]), len(told["ranks"])**2)
        self.assertEqual(seen["along"], 60 * len(told["ranks"]))
        waits = list(csv.DictReader(io.StringIO(seen["waits"])))
        self.assertEqual(sum(int(w["wait_ns"]) for w in waits), sum(w["wait_ns"] for w in told["waits"]))
        self.assertEqual(len(list(csv.DictReader(io.StringIO(seen["matrix"])))), len(told["matrix"]))
        self.assertEqual((seen["chosen"], seen["axe"]), ("0", []))
        self.assertEqual(seen["width"], 420)

    def test_the_tab_has_the_numbers_of_the_command(self):
        told = json.loads(unitrace("ranks", "--json", *CG))
        unitrace("merge", "-o", self.dir / "all.json", *CG)
        unitrace("view", *CG, "--save", self.dir / "one.html")
        unitrace("view", self.dir / "all.json", "--save", self.dir / "merged.html")
        *pages, merged = self.serve_and_look(CG, self.dir / "one.html", self.dir / "merged.html")
        for seen in pages:
            self.check(seen, told)
        self.check(merged, json.loads(unitrace("ranks", "--json", self.dir / "all.json")))
        for seen in (*pages, merged):
            self.assertEqual(seen["arrows"], 3)
            self.assertIn("1 waits for 0: 1.09 ms", [t.replace("\u202f", " ") for t in seen["heat"]])  # a Recv and a Waitall
            self.assertIn("from 0 to 2: 1.00 MB", [t.replace("\u202f", " ") for t in seen["bytes"]])
            # most was waited for rank 2 in assemble, by an Allreduce; of those rank 0 waited longest
            shown = seen["shown"]
            self.assertEqual((shown["name"], shown["rank"], shown["t"], shown["dur"]), ("MPI_Allreduce", 0, 3010000, 1000000))
            self.assertLess(shown["view"]["t0"], 3010000)
            self.assertEqual((seen["second"]["name"], seen["second"]["rank"]), ("MPI_Ssend", 0))
            self.assertEqual(seen["keys"]["rank"], 1)

    def test_clocks_that_are_apart_are_brought_together_and_links_lead_to_where_slices_are_drawn(self):
        told = json.loads(unitrace("ranks", "--json", *HOSTS))
        unitrace("view", *HOSTS, "--save", self.dir / "hosts.html")
        seen = self.look((self.dir / "hosts.html").as_uri())[0]
        self.assertEqual(seen["errors"], [])
        self.check_tables(seen["sheet"], told)
        self.assertIn(seen["shown"]["name"], ("MPI_Recv", "MPI_Send"))
        wait = rows(seen["sheet"]["waits"])[0]
        self.assertEqual(seen["shown"]["name"], wait["call"])

    def test_names_of_programs_stay_text(self):
        traces = []
        for trace in CG:
            traces.append(self.dir / trace.name)
            traces[-1].write_text(trace.read_text().replace('"assemble"', json.dumps(HOSTILE)))
        unitrace("view", *traces, "--save", self.dir / "hostile.html")
        seen = self.look((self.dir / "hostile.html").as_uri())[0]
        self.assertEqual(seen["errors"], [])
        self.assertIn("<img src=x onerror=alert(1)>", seen["verdict"][0])
        self.assertNotIn("\u202e", seen["verdict"][0])

    def test_efficiencies_of_some_ranks_alone_are_no_verdict(self):
        for name, files in (("all", CG), ("some", CG[:2])):
            unitrace("view", *files, "--save", self.dir / f"{name}.html")
            seen = self.look((self.dir / f"{name}.html").as_uri())[0]
            self.assertEqual((seen["errors"], bool(seen["flagged"])), ([], name == "all"), name)

    def test_ranks_without_calls_say_what_to_record(self):
        for rank in range(2):
            (self.dir / f"r{rank}.json").write_text(json.dumps(
                {"traceEvents": [{"ph": "X", "pid": rank, "tid": rank, "ts": 1, "dur": 5, "name": "step", "cat": "app"}],
                 "otherData": {"tool": "unitrace", "processes": [{"pid": rank, "rank": rank, "name": "a", "host": "n"}]}}))
        unitrace("view", self.dir / "r0.json", self.dir / "r1.json", "--save", self.dir / "none.html")
        seen = self.look((self.dir / "none.html").as_uri())[0]
        self.assertEqual(seen["errors"], [])
        self.assertIn("--chrome-mpi-logging", " ".join(seen["empty"]))


if __name__ == "__main__":
    main()
