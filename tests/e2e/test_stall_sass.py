"""SASS that nvcc makes and nvdisasm prints, for two generations: a made-up sample on every instruction,
and what the report says about each is checked against the control bits and registers in the text, read
here by other means. Skipped without nvcc or nvdisasm."""
# ci: labels slow real
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from common import PATIENCE, SOURCE, UNITRACE, Case, main, skip

KERNELS = """
__global__ void chase(const unsigned int *next, unsigned int *end, int steps)
{
	unsigned int at = threadIdx.x + blockIdx.x * blockDim.x;

	for (int i = 0; i < steps; i++)
		at = next[at];
	end[threadIdx.x] = at;
}

__global__ void tiled(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[32][32], bs[32][32];
	int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
	float sum = 0;

	for (int t = 0; t < n / 32; t++) {
		as[threadIdx.y][threadIdx.x] = a[row * n + t * 32 + threadIdx.x];
		bs[threadIdx.y][threadIdx.x] = b[(t * 32 + threadIdx.y) * n + col];
		__syncthreads();
		for (int k = 0; k < 32; k++)
			sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
		__syncthreads();
	}
	c[row * n + col] = sqrtf(sum);
}

__global__ void doubles(double *x, unsigned long long m)
{
	x[threadIdx.x] = x[threadIdx.x + 32] / x[threadIdx.x] + (double)(m % (threadIdx.x + 3));
}
"""
REASONS = ["LongScoreboardStall", "ShortScoreboardStall", "WaitStall", "BarrierStall", "OtherStall"]


def find(tool, *places):
    path = shutil.which(tool)
    return path or next((str(p) for place in places for p in place), None)


NVCC = find("nvcc", [p for p in [pathlib.Path("/usr/local/cuda/bin/nvcc")] if p.exists()])
NVDISASM = find("nvdisasm", [p for p in [pathlib.Path("/usr/local/cuda/bin/nvdisasm")] if p.exists()],
                sorted((SOURCE / "build/venv").glob("lib/python3*/site-packages/nvidia/cu*/bin/nvdisasm")))
if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")
if not NVCC or not NVDISASM:
    skip("no toolkit: no nvcc (the CUDA toolkit)")


def instructions(text, symbol):
    """Address -> (text, waits, write, read) of one function, in order."""
    part = re.search(rf"\.section\s+\.text\.{symbol},.*?(?=\.section\s|\Z)", text, re.S)[0]
    found = {}
    for m in re.finditer(r"/\*([0-9a-f]{4,})\*/\s+(.*?;).*?/\* 0x([0-9a-f]{16}) \*/\s*\n\s*/\* 0x([0-9a-f]{16}) \*/", part):
        control = int(m[4], 16) >> 41
        found[int(m[1], 16)] = (m[2], control >> 11 & 63, control >> 5 & 7, control >> 8 & 7)
    return found


class Sass(Case):
    folder, made = None, {}

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ut_sass_"))
        (cls.folder / "k.cu").write_text(KERNELS)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def compile(self, arch):
        """Once for all tests: it takes seconds."""
        if arch not in self.made:
            path = self.folder / arch / "00000000b3a1f00d.cubin"
            path.parent.mkdir()
            done = subprocess.run([NVCC, "-O3", "-lineinfo", f"-arch={arch}", "-cubin", "-o", path, "k.cu"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode:
                self.skipTest(f"no toolkit: nvcc does not make {arch}: {done.stderr.strip()[:200]}")
            self.made[arch] = path
        return self.made[arch]

    def report(self, kernel, folder, addresses, reason):
        rows = ["Kernel, IP[Address], Active[Events], " + ", ".join(f"{r}[Events]" for r in REASONS)]
        rows += [f'"{kernel}", {a:08X}, 0, ' + ", ".join("1" if r == reason else "0" for r in REASONS)
                 for a in addresses]
        (self.dir / "stalls.csv").write_text("\n=== Device #0 Metrics ===\n\n" + "\n".join(rows) + "\n")
        env = dict(os.environ, UNITRACE_NVDISASM=NVDISASM)
        done = subprocess.run([UNITRACE, "metrics", "-k", kernel, "-s", folder, "-n", "-1", "-o", "x.svg", "-r", "r.txt",
                               "stalls.csv"], cwd=self.dir, env=env, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.dir / "r.txt").read_text()

    def findings(self, report):
        for block in report.split("\nInstruction\n")[1:]:
            head, _, causes = block.partition("is stalled")
            yield (int(re.search(r"\[([0-9A-F]{8})\]", head)[1], 16), head,
                   [(int(a, 16), t) for a, t in re.findall(r"\[([0-9A-F]{8})\] \*/.*?(?:Through: ([^\n]*)|\Z|(?=instruction))",
                                                          causes, re.S)])

    def check_scoreboards(self, arch):
        path = self.compile(arch)
        text = subprocess.run([NVDISASM, "-c", "-hex", path], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        for symbol, kernel in (("_Z5chasePKjPji", "chase(unsigned int const*, unsigned int*, int)"),
                               ("_Z5tiledPKfS0_Pfi", "tiled(float const*, float const*, float*, int)"),
                               ("_Z7doublesPdy", "doubles(double*, unsigned long long)")):
            code = instructions(text, symbol)
            waiting = {a: i for a, i in code.items() if i[1]}
            self.assertTrue(waiting, symbol)
            found = 0
            for reason in REASONS[:2]:
                for address, head, causes in self.findings(self.report(kernel, path.parent, waiting, reason)):
                    for cause, through in causes:
                        _, _, write, read = code[cause]
                        boards = [b for b in range(6) if waiting[address][1] >> b & 1]
                        if not through.startswith("scoreboard"):
                            continue
                        board = int(through.split()[1].rstrip(","))
                        self.assertIn(board, boards, (symbol, hex(address)))
                        self.assertIn(board, (write, read), (symbol, hex(cause)))
                        found += 1
                    self.assertTrue(causes, (symbol, reason, head))
            self.assertGreater(found, 0, symbol)

    def test_volta_and_later_say_who_waits_for_whom(self):
        for arch in ("sm_80", "sm_90"):
            with self.subTest(arch):
                self.check_scoreboards(arch)

    def test_a_chase_waits_for_its_load_at_its_line(self):
        path = self.compile("sm_90")
        text = subprocess.run([NVDISASM, "-c", "-hex", path], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        code = instructions(text, "_Z5chasePKjPji")
        uses = [a for a, i in code.items() if "IMAD.WIDE" in i[0] and "LDG" in code.get(a - 16, ("",))[0] and i[1]]
        self.assertGreater(len(uses), 3)
        report = self.report("_Z5chasePKjPji", path.parent, uses, REASONS[0])
        for address, head, causes in self.findings(report):
            self.assertIn("Line 7:  at = next[at];", head)
            self.assertEqual([c for c, _ in causes], [address - 16])
            register = re.match(r"LDG\S* (R\d+),", code[address - 16][0])[1]
            self.assertTrue(causes[0][1].endswith(f", {register}"), causes)

    def test_without_the_tool_a_line_says_what_to_do(self):
        path = self.compile("sm_90")
        (self.dir / "stalls.csv").write_text("\n=== Device #0 Metrics ===\n\nKernel, IP[Address], Active[Events], "
                                             "OtherStall[Events]\n\"chase\", 00000000, 1, 1\n")
        env = dict(os.environ, UNITRACE_NVDISASM="/no/such/nvdisasm")
        done = subprocess.run([UNITRACE, "metrics", "-k", "chase", "-s", path, "-o", "x.svg", "-r", "r.txt", "stalls.csv"],
                              cwd=self.dir, env=env, capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("/no/such/nvdisasm", done.stderr)
        self.assertFalse((self.dir / "r.txt").exists())


if __name__ == "__main__":
    main()
