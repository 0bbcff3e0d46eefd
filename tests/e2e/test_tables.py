"""Tables: the options that shape them mean the same in every command that prints one."""
import csv
import io
import json
import os
import re
import subprocess
import unittest

import common
from devlog_support import zone_log

LONG = "void cutlass::Kernel<" + "float, " * 280 + "int>(int)"  # 2,000 characters and more
EVIL = "evil\x1b[2Jname"


def slices(scale):
    names = ["b", "a", "c", LONG, EVIL, "=cmd()"]
    events = [{"ph": "X", "pid": 1, "tid": 1, "name": name, "cat": "x", "ts": 1000 * i + 10 * k,
               "dur": (i % 3 + k + 1) * scale} for i in range(20) for k, name in enumerate(names)]
    work = [{"ph": "M", "pid": 2, "tid": 0, "name": "process_name",
             "args": {"name": "DEVICE [Fake] cuda:0 #0"}},
            {"ph": "M", "pid": 2, "tid": 7, "name": "thread_name", "args": {"name": "Stream 7"}}]
    work += [{"ph": "X", "pid": 2, "tid": 7, "name": name, "cat": "kernel", "ts": 100 * i,
              "dur": 10 * (i % 4) + 1, "args": {"stream": 7, "correlation": i}}
             for i, name in enumerate(["relu", "gemm", "soft", LONG] * 3)]
    return {"traceEvents": events + work}


class Tables(common.Case):
    def setUp(self):
        super().setUp()
        for name, scale in (("a.json", 1), ("b.json", 2)):
            (self.dir / name).write_text(json.dumps(slices(scale)))
        (self.dir / "log.csv").write_text(zone_log())
        self.query = ["query", "a.json",
                      "select name, count(*) as count, sum(dur) as total from slice group by 1"]
        self.commands = {
            "stats": (["stats", "a.json"], "name", "total", "spans"),
            "stats --device": (["stats", "--device", "a.json"], "kernel", "total", "kernels"),
            "query": (self.query, "name", "total", None),
            "diff": (["diff", "a.json", "b.json"], "name", "after_total", "rows"),
            "head": (["head", "-n", "1000", "a.json"], "name", "ts", None),
            "devlog --kernels": (["devlog", "--kernels", "--no-plots", "--no-artifacts",
                                  "--no-print-stats", "-o", "out", "log.csv"], "op", "start", None),
            "devlog --compare": (["devlog", "--compare", "log.csv", "log.csv"], "duration",
                                 "before_average", None),
        }

    def out(self, *words, rc=0, **env):
        done = self.unitrace(*words, env=common.environment(**env))
        self.assertEqual(done.returncode, rc, done.stderr)
        self.said = done.stderr.decode()
        return done.stdout.decode()

    def rows(self, words, *more):
        """What CSV and JSON say; they must agree on how many rows there are."""
        text = self.out(*words, "--json", *more)
        data = json.loads(text)
        table = next(c[3] for c in self.commands.values() if c[0] is words)
        return data[table] if table else data

    def on_terminal(self, words, columns, **env):
        """What a terminal of so many columns gets."""
        master, slave = common.terminal(columns)
        environment = common.environment(TERM="xterm", **env)
        if "NO_COLOR" not in env:
            environment.pop("NO_COLOR", None)
        process = subprocess.Popen([common.UNITRACE, *words], stdout=slave, cwd=self.dir,
                                   stderr=subprocess.DEVNULL, env=environment)
        os.close(slave)
        seen = b""
        try:
            while part := os.read(master, 65536):
                seen += part
        except OSError:
            pass  # the other end is closed
        os.close(master)
        self.assertEqual(process.wait(timeout=common.PATIENCE), 0)
        return seen.decode().replace("\r\n", "\n")

    def test_csv_and_json_have_all_rows_and_whole_names(self):
        for what, (words, key, _, _) in self.commands.items():
            text = self.out(*words, "--csv")
            if what == "stats --device":  # a table of devices, then one of rows
                text, key = text.split("\n\n")[1], "name"
            got = list(csv.DictReader(io.StringIO(text)))
            self.assertTrue(got, what)
            self.assertTrue(all(None not in row and None not in row.values() for row in got), what)
            rows = self.rows(words)
            self.assertTrue(rows, what)
            if not what.startswith("devlog"):
                self.assertIn(LONG, {row[key] for row in got}, what)
            if what not in ("stats --device",):
                self.assertEqual(len(rows), len(got), what)
                self.assertEqual([str(row[key]) for row in rows], [row[key] for row in got], what)
            self.assertNotIn("\x1b", self.out(*words), what)

    @staticmethod
    def value(row, column):
        for group in ("before", "after"):
            if column.startswith(group + "_"):
                row, column = row[group], column[len(group) + 1:]
        return row[next(k for k in row if k in (column, column + "_ns", column + "_cycles"))]

    def test_sort_is_the_same_everywhere(self):
        for what, (words, key, number, _) in self.commands.items():
            usual = self.rows(words)
            falling = self.rows(words, "--sort", number)
            values = [self.value(r, number) for r in falling]
            self.assertEqual(values, sorted(values, reverse=True), what)
            rising = self.rows(words, "--sort", number + ":asc")
            self.assertEqual([self.value(r, number) for r in rising], sorted(values), what)
            names = [r[key] for r in self.rows(words, "--sort", key + ":asc")]
            self.assertEqual(names, sorted(r[key] for r in usual), what)
            rc = 1 if what in ("query", "devlog --kernels") else 2  # theirs are known late
            self.out(*words, "--sort", "nothing_like_it", rc=rc)
            self.assertIn("--sort does not know 'nothing_like_it'; it takes ", self.said, what)
            self.assertIn(key, self.said, what)
            self.out(*words, "--sort", number + ":up", rc=rc)
            self.assertIn(":asc or :desc", self.said, what)

    def test_limits_are_the_same_everywhere(self):
        for what, (words, _, number, _) in self.commands.items():
            if what == "head":
                words = ["head", "a.json"]
            table, most = self.commands[what][3], len(self.rows(self.commands[what][0]))
            for option, left in (("-n", most), ("--rows", most), ("--limit", 2)):
                got = json.loads(self.out(*words, "--json", option, 2))
                left = 2 if what == "head" else left  # there it is what is read
                self.assertEqual(len(got[table] if table else got), left, (what, option))
            if what != "stats --device":
                got = list(csv.reader(io.StringIO(self.out(*words, "--csv", "--limit", 2))))
                self.assertEqual(len(got), 3, what)
            self.assertEqual(self.out(*words, "--limit", 2, "--sort", number),
                             self.out(*words, "-n", 2, "--sort", number), what)
            text = self.out(*words, "-n", 2, "--sort", number)
            if what not in ("head",) and not what.startswith("devlog"):
                self.assertRegex(text, r"\.\.\. and \d+ more")

    def test_people_do_not_scroll_past_one_long_name(self):
        """Not a terminal: blanks up to 60 columns, whole names only where they always were."""
        for what in ("stats", "stats --device", "query", "diff", "head"):
            words = self.commands[what][0]
            for line in self.out(*words).splitlines():
                self.assertIsNone(re.search(" {80}", line), (what, line))
            self.assertIn(LONG, self.out(*words, "--width", 0), what)
            for line in self.out(*words, "--width", 10).splitlines():
                self.assertNotIn("cutlass::Kernel", line, what)

    def test_terminals_are_not_overrun(self):
        for what, narrow in (("stats", 140), ("stats --device", 100), ("query", 60),
                             ("diff", 140)):
            words = self.commands[what][0]
            text = re.sub("\x1b\\[[01]m", "", self.on_terminal(words, narrow))
            cut = [line for line in text.splitlines() if "…" in line]
            self.assertTrue(cut, what)
            self.assertLessEqual(max(map(len, cut)), narrow, (what, cut))
            wide = self.on_terminal(words, 400)
            self.assertIn("…", wide, what)  # in the middle even there
            self.assertGreater(max(len(line) for line in wide.splitlines() if "…" in line),
                               narrow, what)
            # numbers that do not fit are broken anyway
            self.assertIn(wide.splitlines()[-1], self.on_terminal(words, 30), what)
            # what is asked for is given
            self.assertIn(LONG, self.on_terminal([*words, "--width", "0"], narrow), what)

    def test_colours(self):
        for what, (words, *_) in self.commands.items():
            self.assertNotIn("\x1b[1m", self.out(*words), what)
            self.assertIn("\x1b[1m", self.out(*words, "--color=always"), what)
            self.assertIn("\x1b[1m", self.out(*words, "--color=always", NO_COLOR="1"), what)
            self.assertNotIn("\x1b[1m", self.out(*words, "--color=always", "--csv"), what)
            self.assertIn("\x1b[1m", self.on_terminal(words, 120), what)
            self.assertNotIn("\x1b[1m", self.on_terminal(words, 120, NO_COLOR="1"), what)
            self.assertNotIn("\x1b[1m", self.on_terminal([*words, "--color=never"], 120), what)
            plain = self.on_terminal([*words, "--color=never"], 120)
            bold = self.on_terminal(words, 120)
            self.assertEqual(bold.replace("\x1b[1m", "").replace("\x1b[0m", ""), plain, what)
            self.out(*words, "--color=sometimes", rc=2)
            self.assertIn("--color does not know 'sometimes'", self.said, what)

    def test_spreadsheets_run_nothing(self):
        for what in ("stats", "query", "diff", "head"):
            words = self.commands[what][0]
            self.assertNotIn("'=cmd()", self.out(*words, "--csv"), what)
            self.assertIn("'=cmd()", self.out(*words, "--csv", "--csv-safe"), what)

    def test_every_command_with_csv_can_have_it_safe(self):
        text = self.out("help")
        names = sorted(set(re.findall(r"(?m)^  ([a-z-]+)  ", text)))
        self.assertGreater(len(names), 15)
        having = []
        for name in names:
            said = self.unitrace("help", name).stdout.decode()
            if re.search(r"(?m)^ +--csv ", said):
                having.append(name)
                self.assertRegex(said, r"(?m)^ +--csv-safe ", name)
        self.assertLessEqual({"diff", "hotspots", "memory", "metrics", "ranks", "stats"}, set(having))

    def test_spreadsheets_run_no_functions(self):
        inputs = common.SOURCE / "tests/golden/inputs"
        for command, trace, name in (("hotspots", "profiles/app.json", "fill"),
                                     ("memory", "memory/exact.json", "xmalloc")):
            text = (inputs / trace).read_text()
            self.assertIn(f'"{name}"', text)
            (self.dir / "own.json").write_text(text.replace(f'"{name}"', '"=cmd()"'))
            words = [command, "--csv", "--limit", "0", "own.json"]
            self.assertIn('"=cmd()"', self.out(*words), command)
            self.assertIn('"\'=cmd()"', self.out(*words, "--csv-safe"), command)

    def test_contradictions(self):
        for what, (words, *_) in self.commands.items():
            self.out(*words, "--json", "--csv", rc=2)
            self.assertIn("--json and --csv exclude each other", self.said, what)
        self.out("query", "a.json", "--csv", "--format", "json", "select 1 + 1", rc=2)
        self.assertIn("--csv and --format json exclude each other", self.said)
        self.out("devlog", "--csv", "log.csv", rc=2)
        self.assertIn("--kernels and --compare", self.said)

    def test_csv_of_kernels_is_the_file(self):
        words = self.commands["devlog --kernels"][0]
        text = self.out(*words, "--csv")
        self.assertEqual(text, (self.dir / "out" / "device_kernels.csv").read_text())

    def test_rows_for_pages(self):
        data = json.loads(self.out(*self.query, "--format", "page", "--sort", "total"))
        self.assertEqual([c["key"] for c in data["columns"]], ["name", "count", "total"])
        self.assertEqual({tuple(c) for c in data["columns"]}, {("key", "title", "unit", "type")})
        self.assertEqual(data["rows"], [list(r.values()) for r in
                                        self.rows(self.query, "--sort", "total")])


if __name__ == "__main__":
    common.need()
    unittest.main()
