"""A kernel whose instructions were sampled, in the viewer: a double click leads to its assembly and source with what
each waits for, and all of it is what `unitrace metrics -s --annotate assembly --json` says; over HTTP, in one file, and
where something is missing or damaged. In a headless Chromium where there is one; cubins need nvdisasm."""
# ci: labels slow browser
import json
import os
import random
import subprocess

from code_support import CRC, CUBIN, nvdisasm, same, write_sampled
from common import PATIENCE, SOURCE, UNITRACE, main
from view_server import View
from view_support import look

STALLS = SOURCE / "tests/golden/inputs/stalls"
CHASE = "chase(int*, int*)"
CHASED = {0x20: {"selected": 5, "short_scoreboard": 40}, 0x30: {"selected": 5, "wait": 30},
          0x40: {"selected": 5, "long_scoreboard": 500, "wait": 4}, 0x70: {"selected": 5, "long_scoreboard": 250, "not_selected": 60},
          0x90: {"selected": 5, "barrier": 60}, 0xA0: {"selected": 5, "short_scoreboard": 50}}
MATMUL = "matmul(int, float const*, float const*, float*)"
MATMULED = {0x1C0: {"long_scoreboard": 300, "selected": 7}, 0x210: {"long_scoreboard": 900, "short_scoreboard": 30}, 0x240: {"drain": 12}}


class Code(View):
    def setUp(self):
        super().setUp()
        self.modules = self.dir / "x.modules.7"
        self.modules.mkdir()
        os.environ.pop("UNITRACE_NVDISASM", None)

    def text(self):
        """A text of nvdisasm's, which needs no nvdisasm, and the source that it names."""
        write_sampled(self.dir, CHASE, CHASED)
        (self.modules / f"{CRC}.cubin.sass").write_text((STALLS / "modules/chase.sass").read_text())
        (self.dir / "in").mkdir()
        (self.dir / "in/chase.cu").write_text("".join(f"\tstatement {i + 1};\n" for i in range(20)))

    def cubin(self, data=None, tool=True):
        found = nvdisasm()
        if tool and not found:
            self.skipTest("nvdisasm is not there (tools/setup.sh test)")
        if tool:
            os.environ["UNITRACE_NVDISASM"] = str(found)
        write_sampled(self.dir, MATMUL, MATMULED)
        (self.modules / f"{CRC}.cubin").write_bytes(data or CUBIN.read_bytes())

    def told(self, kernel):
        """By the command line."""
        done = subprocess.run([UNITRACE, "metrics", "-k", kernel, "-s", self.modules.name, "--annotate", "assembly", "--json", "x.metrics.7.csv"],
                              cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return same(json.loads(done.stdout)["reports"][0])

    def look(self):
        """At a server of its own, whose address works once, and at a page."""
        page, before = self.dir / "x.html", (self.port, self.cookie, self.server)
        done = subprocess.run([UNITRACE, "view", "x.json", "--save", page], cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.start("x.json", enter=False)
        seen = look("view_code.js", self.dir / "seen.json", self.kernel, self.address, page.as_uri())
        self.port, self.cookie, self.server = before
        return seen

    def check_rows(self, seen, told):
        """Every cell of the table of instructions."""
        causes = {(f["instruction"]["address"], f["reason"]): f["causes"] for f in told["findings"]}
        self.assertEqual(len(seen), len(told["instructions"]))
        for row, i in zip(seen, told["instructions"]):
            self.assertEqual((row["address"], row["code"]), (f"0x{i['address']:04x}", i["text"].partition("*/ ")[2]))
            self.assertEqual((int(row["samples"] or 0), float(row["share"] or 0)), (i["samples"], i["share"]))
            self.assertEqual(row["reason"], i.get("reason", ""))
            if i["samples"] and "reason" in i:
                self.assertAlmostEqual(float(row["part"]), i["reason_samples"] / i["samples"])
            self.assertEqual(row["place"], f"{os.path.basename(i['file'])}:{i['line']}")
            cause = next(iter(causes.get((i["address"], i.get("reason")), [])), None)
            self.assertTrue(row["cause"].startswith(f"0x{cause['address']:04x} {cause['text'].partition('*/ ')[2]}") if cause else not row["cause"], row)

    def check_pages(self, kernel):
        self.kernel = kernel
        told = self.told(kernel)
        self.start("x.json")
        self.assertEqual(same(self.ask("stalls", name=kernel)["report"]), told)
        pages = self.look()
        for seen in pages:
            self.assertEqual(seen["errors"], [])
            self.assertEqual(seen["before"], 0)  # nothing is read before somebody asks
            self.assertEqual(same(seen["answer"]["report"]), told)
            self.check_rows(seen["rows"], told)
            self.assertEqual(seen["width"], 420)
            self.assertEqual(seen["axe"], [])
        return told, pages

    def test_a_double_click_leads_to_the_code(self):
        self.text()
        told, pages = self.check_pages(CHASE)
        for seen in pages:
            self.assertEqual([r["source"] for r in seen["rows"]][4], "statement 12;")
            self.assertEqual([(r["place"], r["code"], int(r["samples"])) for r in seen["lines"]],
                             [(f"chase.cu:{i['line']}", f"statement {i['line']};", i["samples"]) for i in told["lines"]])
            for word in ("IMAD.WIDE.U32 R8, R7, 0x4, R4 ;", "waits SB2", "statement 12;", "LDG.E R7, desc[UR4][R6.64] ;", "scoreboard 2, R7"):
                self.assertIn(word, seen["chosen"])
            self.assertIn("STS [R9], R0 ;", seen["picked"])

    def test_a_cubin(self):
        self.cubin()
        _, pages = self.check_pages(MATMUL)
        for seen in pages:
            self.assertIn("FFMA R11, R0, R2, R11 ;", [r["code"] for r in seen["rows"]])
            self.assertIn("FFMA R11, R0, R2, R11 ;", seen["chosen"])
            self.assertIn("LDG.E R2, desc[UR6][R2.64] ;", seen["chosen"])

    def lacks(self, kernel, *words):
        """There is no report, and one line says why; the page shows what it always did."""
        got = self.ask("stalls", name=kernel)
        self.assertIsNone(got["report"])
        self.assertEqual(len(got["notes"]), 1, got["notes"])
        for word in words:
            self.assertIn(word, got["notes"][0])
        return got["notes"][0]

    def test_without_nvdisasm(self):
        """It stays as it was, and says what is missing; who brings it need not start anew."""
        self.cubin(tool=False)
        os.environ["UNITRACE_NVDISASM"] = "/nonexistent/nvdisasm"
        self.start("x.json")
        said = self.lacks(MATMUL, "nvdisasm of the CUDA toolkit is needed", "/nonexistent/nvdisasm is not there", f"> {CRC}.cubin.sass")
        self.kernel = MATMUL
        for seen in self.look():
            self.assertEqual((seen["errors"], seen["notes"], seen["rows"]), ([], [said], []))
            self.assertEqual([r["samples"] for r in seen["addresses"]], ["930", "307", "12"])
        found = nvdisasm()
        if not found:
            self.skipTest("nvdisasm is not there (tools/setup.sh test)")
        text = subprocess.run([found, "-c", "-hex", "-gi", CUBIN], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        (self.modules / f"{CRC}.cubin.sass").write_text(text)
        self.assertEqual(same(self.ask("stalls", name=MATMUL)["report"]), self.told(MATMUL))

    def test_without_the_module(self):
        write_sampled(self.dir, MATMUL, MATMULED)
        self.start("x.json")
        self.lacks(MATMUL, f"{CRC}.cubin", "NAME.modules.PID")
        (self.modules / "0000000000000001.cubin").write_bytes(CUBIN.read_bytes())  # another build of it
        self.lacks(MATMUL, f"{CRC}.cubin", "NAME.modules.PID")
        self.lacks("nobody", "no instruction of this kernel was sampled")
        self.modules.rename(self.dir / "away")
        self.lacks(MATMUL, f"{CRC}.cubin")

    def test_modules_with_a_kernel_of_one_name(self):
        """The one with most samples is shown, and the others can be chosen; nothing of them is mixed."""
        self.text()
        told = self.told(CHASE)
        trace = json.loads((self.dir / "x.json").read_text())
        trace["stackFrames"]["other"] = {"name": CHASE, "category": "00000000000000aa.cubin", "address": "0x40"}
        trace["samples"].append({**trace["samples"][0], "ts": 4000, "sf": "other", "cat": "wait", "weight": 99})
        (self.dir / "x.json").write_text(json.dumps(trace))
        self.start("x.json")
        got = self.ask("stalls", name=CHASE)
        self.assertEqual(got["modules"], [{"module": f"{CRC}.cubin", "samples": told["samples"]}, {"module": "00000000000000aa.cubin", "samples": 99}])
        self.assertEqual((got["module"], same(got["report"])), (f"{CRC}.cubin", told))
        other = self.ask("stalls", name=CHASE, module="00000000000000aa.cubin")
        self.assertIsNone(other["report"])
        self.assertIn("00000000000000aa.cubin", other["notes"][0])
        (self.modules / "00000000000000aa.sass").write_text((STALLS / "modules/chase.sass").read_text())
        other = self.ask("stalls", name=CHASE, module="00000000000000aa.cubin")["report"]
        self.assertEqual((other["samples"], other["instructions"][4]["samples"]), (99, 99))

    def test_damaged_cubins(self):
        """They may say anything, and the viewer goes on."""
        self.cubin()
        whole, rnd = CUBIN.read_bytes(), random.Random(11)
        self.start("x.json")
        for data in (b"", b"\x7fELF", whole[:64], whole[:2000], whole[:-800], bytes(len(whole)), b"no code\n" * 1000):
            (self.modules / f"{CRC}.cubin").write_bytes(data)
            self.lacks(MATMUL)
        for _ in range(20):
            data = bytearray(whole)
            for at in rnd.sample(range(len(data)), 60):
                data[at] = rnd.randrange(256)
            (self.modules / f"{CRC}.cubin").write_bytes(data)
            got = self.ask("stalls", name=MATMUL)
            if got["report"]:  # the damage is elsewhere
                self.assertEqual(got["report"]["samples"], sum(sum(c.values()) for c in MATMULED.values()))
                break
            self.assertTrue(got["notes"][0])
        self.assertEqual(self.server.poll(), None)

    def test_of_a_huge_kernel_what_lies_around_samples(self):
        write_sampled(self.dir, "huge(int)", {80: {"wait": 5}, 16 * 20000: {"long_scoreboard": 50}})
        lines = "".join(f"        /*{16 * i:04x}*/ IADD3 R{i % 200}, R1, R2, R3 ; /* 0x0000000000007981 */\n"
                        "            /* 0x000e220000000000 */\n" for i in range(50000))
        (self.modules / f"{CRC}.sass").write_text('\t.section\t.text._Z4hugei,"ax",@progbits\n_Z4hugei:\n.text._Z4hugei:\n' + lines)
        self.start("x.json")
        got = self.ask("stalls", name="huge(int)")
        self.assertEqual(got["notes"], ["it has 50000 instructions: those around samples are listed"])
        self.assertEqual([i["address"] // 16 for i in got["report"]["instructions"]], [*range(14), *range(19992, 20009)])
        self.assertEqual([i["samples"] for i in got["report"]["instructions"] if i["samples"]], [5, 50])

    def test_it_is_read_once(self):
        """And not before it is asked for."""
        self.cubin()
        tool = self.dir / "tool.sh"
        tool.write_text(f'#!/bin/sh\necho run >> "{self.dir}/runs"\nexec {os.environ["UNITRACE_NVDISASM"]} "$@"\n')
        tool.chmod(0o755)
        os.environ["UNITRACE_NVDISASM"] = str(tool)
        self.start("x.json")
        self.ask("sheet", tool="metrics", name="metrics")
        self.assertFalse((self.dir / "runs").exists())
        answers = [self.ask("stalls", name=MATMUL) for _ in range(3)]
        self.assertEqual(answers, [answers[0]] * 3)
        self.assertEqual((self.dir / "runs").read_text(), "run\n")

    def test_files_that_are_no_source_are_not_shown(self):
        """Code may name any file as its source."""
        self.text()
        (self.dir / "in/chase.cu").unlink()
        (self.dir / "in/secret.key").write_text("secret\n" * 30)
        sass = self.modules / f"{CRC}.cubin.sass"
        sass.write_text(sass.read_text().replace("in/chase.cu", "in/secret.key"))
        self.start("x.json")
        self.assertNotIn("secret", json.dumps(self.ask("stalls", name=CHASE)).replace("in/secret.key", ""))


if __name__ == "__main__":
    main()
