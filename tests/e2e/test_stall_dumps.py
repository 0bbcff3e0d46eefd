"""Shader dumps that Intel's own compiler makes for PVC (ocloc of Debian, no device needed): addresses
agree with the size of the binary, tokens and blocks are understood, a made-up sample on every
instruction gets a report that ends. Skipped without ocloc."""
import os
import re
import subprocess

from common import PATIENCE, SOURCE, UNITRACE, Case, main, skip

PACKAGES = SOURCE / "build/packages"
OCLOC = PACKAGES / "intel-opencl-icd/usr/bin/ocloc"
LIBRARIES = ":".join(map(str, PACKAGES.glob("*/usr/lib/x86_64-linux-gnu")))
KERNELS = """
__kernel void gather(__global const int *next, __global int *end, int steps)
{
	int at = get_global_id(0);

	for (int i = 0; i < steps; i++)
		at = next[at];
	end[get_global_id(0)] = at;
}

__kernel void reduce(__global const float *in, __global float *out, int n, __local float *part)
{
	int me = get_local_id(0);
	float sum = 0;

	for (int i = get_global_id(0); i < n; i += get_global_size(0))
		sum += in[i];
	part[me] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int step = get_local_size(0) / 2; step; step /= 2) {
		if (me < step)
			part[me] += part[me + step];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (!me)
		out[get_group_id(0)] = native_sin(part[0]);
}

__kernel void add(__global const float *a, __global const float *b, __global float *c)
{
	int i = get_global_id(0);

	c[i] = a[i] + b[i];
}
"""
STALLS = ["ControlStall", "PipeStall", "SendStall", "DistStall", "SbidStall", "SyncStall", "InstrFetchStall",
          "OtherStall"]

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")
if not OCLOC.exists():
    skip("ocloc is not there (tools/setup.sh test)")


class Dumps(Case):
    def setUp(self):
        super().setUp()
        (self.dir / "k.cl").write_text(KERNELS)
        (self.dir / "dump").mkdir()
        env = dict(os.environ, LD_LIBRARY_PATH=LIBRARIES, IGC_ShaderDumpEnable="1",
                   IGC_DumpToCustomDir=str(self.dir / "dump"))
        done = subprocess.run([OCLOC, "compile", "-device", "pvc", "-options", "-gline-tables-only", "-file", "k.cl"],
                              cwd=self.dir, env=env, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode or not list((self.dir / "dump").glob("*.asm")):
            self.skipTest(f"ocloc makes no dumps here: {(done.stdout + done.stderr).strip()[-200:]}")

    def run_it(self, *args):
        return subprocess.run([UNITRACE, *args], cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE)

    def dumps(self):
        return {p.read_text().split()[1]: p for p in (self.dir / "dump").glob("*.asm")}

    def addressed(self, path):
        done = self.run_it("addrasm", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.findall(r"^/\* \[([0-9A-F]{8})\] \*/ (.*)$", done.stdout, re.M)

    def test_addresses_end_where_the_binary_does(self):
        self.assertEqual(sorted(self.dumps()), ["add", "gather", "reduce"])
        for name, path in self.dumps().items():
            lines = self.addressed(path)
            last, text = int(lines[-1][0], 16), lines[-1][1]
            size = last + (8 if "Compacted" in text else 16)
            binary = path.with_suffix(".dat").stat().st_size  # what the device gets, padded at its end
            self.assertLessEqual(size, binary, name)
            self.assertGreater(size + 512, binary, name)

    def stalls(self, kernel, addresses):
        rows = [", ".join(["Kernel", "IP[Address]", "Active[Events]", *(f"{s}[Events]" for s in STALLS)])]
        rows += [", ".join([f'"{kernel}"', a, "1", *["0" if s != "SbidStall" else str(1000 - i) for s in STALLS]])
                 for i, a in enumerate(addresses)]
        path = self.dir / "stalls.csv"
        path.write_text("\n=== Device #0 Metrics ===\n\n" + "\n".join(rows) + "\n")
        done = self.run_it("metrics", "-k", kernel, "-s", "dump", "-n", "-1", "-o", "x.svg", "-r", "r.txt", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.dir / "r.txt").read_text()

    def findings(self, report):
        """(address, text, source line, causes) of each stalled instruction."""
        for block in report.split("\nInstruction\n")[1:]:
            head, _, causes = block.partition("is stalled")
            yield (re.search(r"\[([0-9A-F]{8})\]", head)[1], head, re.search(r"Line (\d+)", head),
                   re.findall(r"^    /\* \[([0-9A-F]{8})\] \*/ (.*)$", causes, re.M))

    def test_every_wait_for_a_result_has_its_load(self):
        for name, path in self.dumps().items():
            lines = self.addressed(path)
            report = self.stalls(name, [a for a, _ in lines])
            self.assertIn(f"Assembly with instruction addresses: dump/{path.name}.ip", report)
            seen = 0
            for address, head, line, causes in self.findings(report):
                tokens = re.findall(r"[{,](\$\d+)\.(?:dst|src)", head.split("//")[0])
                for _, cause in causes:
                    taken = re.findall(r"[{,](\$\d+)(?=[,}])", cause.split("//")[0])
                    if tokens:
                        self.assertTrue(set(taken) & set(tokens), (name, address, cause))
                if tokens:
                    self.assertTrue(causes, (name, address, head))
                    seen += 1
            self.assertGreater(seen, 3, name)

    def test_a_gather_waits_for_its_own_loop(self):
        path = self.dumps()["gather"]
        lines = self.addressed(path)
        report = self.stalls("gather", [a for a, _ in lines])
        found = list(self.findings(report))
        load, token = next((address, re.search(r"[{,](\$\d+)[,}]", head)[1]) for address, head, line, _ in found
                           if line and line[1] == "7" and "load.ugm" in head)
        waiting = [causes for _, head, _, causes in found if token + ".dst" in head]
        self.assertTrue(any(load in [address for address, _ in causes] for causes in waiting), report[:2000])


if __name__ == "__main__":
    main()
