#!/usr/bin/env python3
"""unitrace mcp: the Model Context Protocol over standard input and output, by hand and by the
protocol's own client.
"""
# ci: labels fast real
import base64
import json
import os
import pathlib
import select
import shutil
import struct
import subprocess
import threading
import time
import unittest

import common

common.need()
ENDLESS = "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t"


def doubled(times):
    """Each table knows the one before twice: SQLite prepares 2^times of them before anything runs."""
    more = "".join(f", t{i} as (select 1 as x from t{i - 1}, t{i - 1} as u)" for i in range(1, times + 1))
    return f"with t0 as (select 1 as x){more} select x from t{times}"


def spans(slow=1.0, ranks=1):
    made = []
    for rank in range(ranks):
        made.append({"ph": "M", "pid": rank, "name": "process_name", "args": {"name": f"rank {rank}"}})
        for i in range(200):
            made.append({"ph": "X", "pid": rank, "tid": 1, "ts": i * 100, "dur": 50 * slow, "name": "step"})
            made.append({"ph": "X", "pid": rank, "tid": 1, "ts": i * 100 + 5, "dur": 900 if i == 77 else 9,
                         "name": "load,\"batch\""})
        made.append({"ph": "C", "pid": rank, "ts": 10, "name": "memory", "args": {"value": 5}})
        made.append({"ph": "C", "pid": rank, "ts": 5000, "name": "memory", "args": {"value": 9}})
    return made


class Server:
    """A server, spoken to line by line."""

    def __init__(self, *words):
        self.process = subprocess.Popen([common.UNITRACE, "mcp", *map(str, words)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=common.environment())
        self.number = 0
        self.come = b""  # what has been read of answers; not in Python's buffer, which select() does not see

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def receive(self):
        out = self.process.stdout.fileno()
        while b"\n" not in self.come:
            ready, _, _ = select.select([out], [], [], common.PATIENCE)
            if not ready:
                raise AssertionError("no answer")
            some = os.read(out, 1 << 20)
            if not some:
                raise AssertionError("the server has ended")
            self.come += some
        line, self.come = self.come.split(b"\n", 1)
        return json.loads(line.decode("utf-8"))

    def ask(self, method, params=None):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        answer = self.receive()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.number, answer
        return answer

    def begin(self, version="2025-06-18"):
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                         "clientInfo": {"name": "test", "version": "0"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def tool(self, name, /, **arguments):
        """The text of an answer, and whether it is an error."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        return result["content"][0]["text"], result["isError"]

    def end(self):
        self.process.stdin.close()
        out = self.come + self.process.stdout.read()
        status = self.process.wait(common.PATIENCE)
        said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return status, out, said


class Mcp(common.Case):
    def setUp(self):
        super().setUp()
        self.traces = pathlib.Path(self.dir, "traces")
        self.traces.mkdir()
        self.path = self.traces / "t.json"
        self.path.write_text(json.dumps(spans()))
        self.server = Server("--timeout", 2, self.traces)

    def tearDown(self):
        if self.server.process.stdin and not self.server.process.stdin.closed:
            status, _, said = self.server.end()
            self.assertEqual((status, said), (0, b""))
        super().tearDown()

    def opened(self, *paths):
        self.server.begin()
        text, failed = self.server.tool("open", paths=[str(p) for p in paths or (self.path,)])
        self.assertFalse(failed, text)
        return text

    # ---- the protocol ------------------------------------------------------------------------

    def test_greets_with_a_version_that_the_client_knows(self):
        for asked, given in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"),
                             ("2025-03-26", "2024-11-05"), ("2024-11-05", "2024-11-05"),
                             ("2099-01-01", "2025-11-25"), ("1999-01-01", "2024-11-05")):
            result = self.server.begin(asked)
            self.assertEqual(result["protocolVersion"], given)
        self.assertEqual(result["capabilities"], {"tools": {"listChanged": False}})
        self.assertEqual(result["serverInfo"]["name"], "unitrace")

    def test_nothing_but_ping_before_the_greeting(self):
        self.assertEqual(self.server.ask("ping")["result"], {})
        for method in ("tools/list", "tools/call"):
            self.assertEqual(self.server.ask(method, {"name": "list"})["error"]["code"], -32600)

    def test_says_what_is_wrong_with_a_message(self):
        self.server.begin()
        for text, code in ((b"nonsense", -32700), (b"[]", -32600), (b"7", -32600), (b"{}", -32600),
                           (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":3}', -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601),
                           (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602),
                           (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}', -32602),
                           (b"[" * 5000, -32700), (b'{"a":"' + b"x" * (2 << 20) + b'"}', -32700)):
            self.server.send(text)
            self.assertEqual(self.server.receive()["error"]["code"], code, text[:60])
        self.assertEqual(self.server.ask("ping")["result"], {})

    def test_ids_are_given_back_as_they_came(self):
        for mine in ("a text", 0, -3, 2**53, "\u00fc\n"):
            self.server.send({"jsonrpc": "2.0", "id": mine, "method": "ping"})
            self.assertEqual(self.server.receive(), {"jsonrpc": "2.0", "id": mine, "result": {}})

    def test_notifications_and_answers_are_not_answered(self):
        self.server.send({"jsonrpc": "2.0", "method": "notifications/what"})
        self.server.send({"jsonrpc": "2.0", "id": 3, "result": {}})
        self.server.send(b"")
        self.assertEqual(self.server.ask("ping")["result"], {})

    def test_tools_have_schemas(self):
        self.server.begin()
        tools = {t["name"]: t for t in self.server.ask("tools/list")["result"]["tools"]}
        self.assertEqual(set(tools), {"list", "open", "overview", "stats", "slow", "schema", "query",
                                      "diff", "picture"})
        for tool in tools.values():
            schema = tool["inputSchema"]
            self.assertEqual(schema["type"], "object")
            self.assertTrue(tool["annotations"]["readOnlyHint"])
            self.assertLessEqual(set(schema.get("required", [])), set(schema["properties"]))

    def test_answers_what_was_asked_before_the_end(self):
        self.server.begin()
        for i in range(5):
            self.server.send({"jsonrpc": "2.0", "id": f"q{i}", "method": "tools/call",
                              "params": {"name": "list", "arguments": {}}})
        status, out, _ = self.server.end()
        self.assertEqual(status, 0)
        self.assertEqual([json.loads(line)["id"] for line in out.splitlines()], [f"q{i}" for i in range(5)])

    def test_a_call_is_cancelled_while_others_are_heard(self):
        self.server.end()
        self.server = Server("--timeout", 1000, self.traces)
        self.opened()
        begun = time.monotonic()
        self.server.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call",
                          "params": {"name": "query", "arguments": {"sql": ENDLESS}}})
        self.server.send({"jsonrpc": "2.0", "id": "waiting", "method": "tools/call",
                          "params": {"name": "list"}})
        self.assertEqual(self.server.ask("ping")["result"], {})
        for which in ("waiting", "long", "nobody"):
            self.server.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                              "params": {"requestId": which}})
        text, failed = self.server.tool("query", sql="select count(*) as n from slice")
        self.assertEqual((text.splitlines()[:2], failed), (["n", "400"], False))
        self.assertLess(time.monotonic() - begun, common.PATIENCE)

    def test_sql_that_takes_too_long_is_ended(self):
        self.opened()
        wide = "select 0" + 900 * " + length(randomblob(60000000))"
        for sql in (ENDLESS, doubled(28), wide):
            text, failed = self.server.tool("query", sql=sql)
            self.assertTrue(failed)
            self.assertIn("longer than 2 s", text, sql[:60])
            self.assertFalse(self.server.tool("query", sql="select 1")[1])

    def test_too_many_calls_are_refused(self):
        self.opened()
        for i in range(80):
            self.server.send({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {
                "name": "query", "arguments": {"sql": ENDLESS if not i else "select 1"}}})
        codes = [self.server.receive() for _ in range(80)]
        self.assertGreaterEqual(sum(a.get("error", {}).get("code") == -32000 for a in codes), 10)
        self.assertEqual(sorted(a["id"] for a in codes), list(range(80)))

    # ---- what may be read --------------------------------------------------------------------

    def test_nothing_outside_of_the_folders_is_read(self):
        secret = pathlib.Path(self.dir, "secret.json")
        secret.write_text(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "name": "SECRET"}]))
        (self.traces / "link.json").symlink_to(secret)
        (self.traces / "out").symlink_to(self.dir)
        (self.traces / "loop").symlink_to(self.traces / "loop")
        os.mkfifo(self.traces / "pipe.json")
        sibling = pathlib.Path(str(self.traces) + "-2")
        sibling.mkdir()
        shutil.copy(secret, sibling / "s.json")
        self.server.begin()
        for path in (secret, "../secret.json", f"{self.traces}/../secret.json", "link.json", "out/secret.json",
                     "loop", "pipe.json", sibling / "s.json", "/etc/passwd", "/", "", "-", "*.json", "~",
                     "/proc/self/fd/0", "x/../t.json", "t.json\0"):
            text, failed = self.server.tool("open", paths=[str(path)])
            self.assertTrue(failed, path)
            self.assertNotIn("SECRET", text)
            self.assertNotIn("secret.json: No such", text)
        for folder in ("..", "/", str(self.dir), "out", str(sibling)):
            self.assertTrue(self.server.tool("list", folder=folder)[1], folder)

    def test_links_in_a_folder_are_left_out(self):
        secret = pathlib.Path(self.dir, "secret.json")
        secret.write_text(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "name": "SECRET"}]))
        (self.traces / "link.json").symlink_to(secret)
        text = self.opened(self.traces)
        self.assertIn("1 links are left out", text)
        self.assertIn("400 slices", text)
        self.assertIn("(no rows)", self.server.tool("query", sql="select 1 from slice where name='SECRET'")[0])

    def test_nothing_is_written(self):
        before = sorted(p.name for p in self.traces.iterdir())
        self.opened()
        for sql in ("create table t(x)", "attach 'x.db' as x", "insert into slice values(1)",
                    "select load_extension('x')", "vacuum into 'y.db'", "pragma journal_mode=wal"):
            self.server.tool("query", sql=sql)
        for tool in ("overview", "stats", "slow", "picture"):
            self.server.tool(tool)
        self.assertEqual(sorted(p.name for p in self.traces.iterdir()), before)
        self.assertFalse(list(pathlib.Path.cwd().glob("*.db")))

    def test_a_folder_has_to_be_named(self):
        for words, status in (((), 2), (("/no/such/folder",), 1), (("--max-output", "3", "."), 2)):
            run = self.unitrace("mcp", *words)
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertEqual(run.stdout, b"")

    # ---- what is answered --------------------------------------------------------------------

    def test_statistics_are_those_of_the_command_line(self):
        self.opened()
        text, failed = self.server.tool("stats", by="name", sort="count", limit=1, name=["st*"])
        self.assertFalse(failed, text)
        table, how = text.split("\nHow this was computed: ")
        self.assertIn("unitrace stats --csv", how)
        run = self.unitrace("stats", "--csv", "--sort", "count", "--limit", "1", "--name", "st*", self.path)
        self.assertEqual(table, run.stdout.decode())
        words = how[how.index("unitrace stats"):].strip()
        again = subprocess.run(words.replace("unitrace", str(common.UNITRACE), 1), shell=True,
                               capture_output=True, text=True, check=True)
        self.assertEqual(again.stdout, table)

    def test_a_counter_without_a_value_for_a_while_is_no_zero(self):
        self.path.write_text(json.dumps([{"ph": "C", "pid": 1, "ts": ts, "name": "usage", "args": {"value": v}}
                                         for ts, v in ((0, 100), (10, "NaN"), (30, 50), (50, "NaN"))]))
        self.opened()
        text, failed = self.server.tool("stats", what="counters")
        self.assertFalse(failed, text)
        header, row = (line.split(",") for line in text.splitlines()[:2])
        row = dict(zip(header, row))
        self.assertEqual((row["count"], row["min"], row["bad"]), ("2", "50", "0"))
        self.assertAlmostEqual(float(row["mean"]), 2000 / 30)

    def test_queries_say_how_to_repeat_them(self):
        self.opened()
        sql = "select name, count(*) as n from slice where name <> 'it''s' group by 1 order by 1"
        table, how = self.server.tool("query", sql=sql)[0].split("\nHow this was computed: ")
        again = subprocess.run(how.strip().replace("unitrace", str(common.UNITRACE), 1), shell=True,
                               capture_output=True, text=True, check=True)
        self.assertEqual(again.stdout, table)
        self.assertEqual(table, 'name,n\n"load,""batch""",200\nstep,200\n')

    def test_rows_and_bytes_are_bounded(self):
        self.opened()
        text, _ = self.server.tool("query", sql="select id from slice", limit=3)
        self.assertTrue(text.startswith("The first 3 of 400 rows:\nid\n"))
        text, _ = self.server.tool("query", sql="with recursive t(n) as (select 1 union all select n+1 from t "
                                   "limit 5000) select printf('%0500d', n) from t", limit=10**6)
        self.assertLess(len(text), 60_000)
        self.assertIn("cut here", text)

    def test_what_is_slow_is_found(self):
        self.opened()
        text, failed = self.server.tool("slow")
        self.assertFalse(failed, text)
        lines = text.splitlines()
        self.assertIn('load,""batch""', lines[2])
        self.assertIn(",900000,9000,100.0,200,", lines[2])
        self.assertIn("(no rows)", lines[3:7])

    def test_a_rank_that_is_slower_is_found(self):
        for rank in range(3):
            events = [{**e, "dur": e["dur"] * (2 if rank == 1 else 1)} if "dur" in e else e for e in spans()]
            (self.traces / f"r{rank}.json").write_text(json.dumps(
                {"traceEvents": events, "distributedInfo": {"rank": rank, "world_size": 3}}))
        self.opened(*(self.traces / f"r{i}.json" for i in range(3)))
        text, failed = self.server.tool("slow")
        self.assertFalse(failed, text)
        self.assertRegex(text.split("Names that one rank")[1], r"\nstep,1,20000000,13333333,50.0,3\n")

    def test_a_difference(self):
        other = self.traces / "u.json"
        other.write_text(json.dumps(spans(slow=1.5)))
        self.opened()
        text, failed = self.server.tool("open", paths=["u.json"])
        self.assertIn("opened as trace t2", text)
        text, failed = self.server.tool("diff", before="t1", after="t2")
        self.assertFalse(failed, text)
        table = text.split("\nHow this was computed: ")[0]
        self.assertEqual(table, self.unitrace("diff", "--csv", self.path, other).stdout.decode())

    def test_a_difference_of_nothing_says_so(self):
        (self.traces / "u.json").write_text(json.dumps([{**e, "name": "b." + e["name"]} for e in spans()]))
        (self.traces / "empty.json").write_text('{"traceEvents": []}')
        self.opened()
        for name in ("u.json", "empty.json"):
            self.assertFalse(self.server.tool("open", paths=[name])[1])
        for before, after, why in (("t1", "t2", "no name is on both sides"), ("t1", "t3", "the run after has no"),
                                   ("t3", "t1", "the run before has no"), ("t3", "t3", "both runs have no")):
            with self.subTest(why):
                text, _ = self.server.tool("diff", before=before, after=after)
                self.assertTrue(text.startswith("Nothing was compared: " + why), text)
        self.assertNotIn("Nothing was compared", self.server.tool("diff", before="t1", after="t1")[0])

    def test_an_overview_has_the_findings(self):
        self.opened()
        text, failed = self.server.tool("overview")
        self.assertFalse(failed, text)
        self.assertIn("has the most self time", text)
        self.assertIn("(first 2 of 2 names, times in ns)", text)
        names = [{**e, "name": f"n{i}"} for i, e in enumerate(spans()[1:40])]
        names += [{"ph": "i", "s": "t", "pid": 0, "tid": 1, "ts": i, "name": f"i{i}"} for i in range(9)]
        (self.traces / "u.json").write_text(json.dumps(names))
        self.server.tool("open", paths=["u.json"])
        self.assertIn("(first 15 of 39 names, times in ns)", self.server.tool("overview", trace="t2")[0])
        self.assertIn("How this was computed", text)

    def test_a_picture_is_a_png(self):
        self.opened()
        answer = self.server.ask("tools/call", {"name": "picture", "arguments": {
            "from": "1ms", "to": 0.002, "width": 700}})["result"]
        if answer["isError"] and "cairo" in answer["content"][0]["text"]:
            self.skipTest(answer["content"][0]["text"])
        text, image = answer["content"]
        self.assertIn("1.00 ms to 2.00 ms", text["text"])
        self.assertEqual(image["mimeType"], "image/png")
        png = base64.b64decode(image["data"], validate=True)
        self.assertTrue(png.startswith(b"\x89PNG\r\n\x1a\n"))
        self.assertGreaterEqual(struct.unpack(">I", png[16:20])[0], 700)

    def test_mistakes_are_reported_in_words(self):
        self.server.begin()
        self.assertIn("open first", self.server.tool("stats")[0])
        self.server.tool("open", paths="t.json")
        for tool, arguments, words in (
                ("stats", {"by": "colour"}, "'colour' is none of"), ("stats", {"sort": "x"}, "does not know 'x'"),
                ("stats", {"colour": 1}, "no argument 'colour'"), ("stats", {"trace": "t9"}, "there are: t1"),
                ("stats", {"name": [{}]}, "neither a text"), ("stats", {"by": ["a"]}, "no list"),
                ("stats", {"from": "soon"}, "soon"), ("query", {"sql": "select nme from slice"}, "did you mean"),
                ("query", {}, "'sql' is required"), ("schema", {"table": "x"}, "no table 'x'"),
                ("stats", {"name": "stepp"}, "step"), ("diff", {"before": "t1", "after": "t7"}, "t7"),
                ("diff", {}, "'before' is required"), ("diff", {"before": "t1"}, "'after' is required"),
                ("open", {"paths": []}, "'paths' is required"), ("query", {"sql": ""}, "'sql' is required"),
                ("open", {"paths": []}, "paths"), ("open", {"paths": ["no.json"]}, "no.json: no such")):
            text, _ = self.server.tool(tool, **arguments)
            self.assertIn(words, text)

    def test_the_oldest_of_many_traces_is_closed(self):
        self.opened()
        for _ in range(8):
            self.assertFalse(self.server.tool("open", paths=["t.json"])[1])
        self.assertIn("no trace t1 is open", self.server.tool("stats", trace="t1")[0])
        self.assertFalse(self.server.tool("stats", trace="t9")[1])

    def test_broken_traces_are_errors_or_odd(self):
        text = self.path.read_bytes()
        self.server.begin()
        for end in (0, 1, 50, len(text) // 2):
            (self.traces / "cut.json").write_bytes(text[:end])
            said, failed = self.server.tool("open", paths=["cut.json"])
            self.assertTrue(failed or "Odd about it" in said, said)

    def test_a_client_that_goes_away_ends_it(self):
        self.opened()
        self.server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                          "params": {"name": "query", "arguments": {"sql": ENDLESS}}})
        self.server.process.stdout.close()
        threading.Timer(0.3, lambda: self.server.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})).start()
        self.assertEqual(self.server.process.wait(common.PATIENCE), 0)
        self.server.process.stderr.close()
        try:
            self.server.process.stdin.close()
        except BrokenPipeError:
            pass


class Client(common.Case):
    """The protocol's own package, in the virtual environment of the tests."""

    def test_it_is_understood(self):
        python = common.BUILD / "venv/bin/python"
        if not python.exists() or subprocess.run([python, "-c", "import mcp"], capture_output=True).returncode:
            self.skipTest("the package mcp is not installed (tools/setup.sh test)")
        path = pathlib.Path(self.dir, "t.json")
        path.write_text(json.dumps(spans()))
        run = subprocess.run([python, pathlib.Path(__file__).with_name("mcp_client.py"), common.UNITRACE,
                              self.dir], capture_output=True, text=True, timeout=common.PATIENCE)
        self.assertEqual((run.returncode, run.stdout.strip()), (0, "ok"), run.stderr)


if __name__ == "__main__":
    unittest.main()
