"""The page of unitrace serve in Chromium: the recipes that people come with, step by step, and every GPU analysis."""
# ci: no sanitizers
import os
import subprocess
import sys
import unittest

from code_support import nvdisasm
from common import BUILD, SOURCE, program
from device_support import backend
from test_serve_page import STEPS, Page

VENV = BUILD / "venv/bin/python"

KERNEL = """
import os, time
import itt

domain = itt.domain_create("kernel")


def compiled(name):
    itt.task_begin(domain, name)
    end = time.time() + 0.05
    while time.time() < end:
        sum(range(1000))
    itt.task_end(domain)


# warmup iters.
print("warm-up", flush=True)
while not os.path.exists("go"):
    compiled("warm-up")

# Start Profiling
itt.resume()
i = 0
while i < 10 or not os.path.exists("seen"):
    compiled("compiled(args)")
    i += 1
# Fully detach all the collectors when done
itt.detach()
compiled("afterwards")
print("done", flush=True)
"""

SAMPLE = """
import torch
import torch.nn as nn

class ITTSample(nn.Module):
    def __init__(self):
        super(ITTSample, self).__init__()
        self.conv = nn.Conv2d(3, 5, 3)
        self.linear = nn.Linear(292820, 1000)

    def forward(self, x):
        x = self.conv(x)
        x = x.view(x.shape[0], -1)
        x = self.linear(x)
        return x

def main():
    m = ITTSample()
    x = torch.rand(10, 3, 244, 244)
    with torch.autograd.profiler.emit_itt():
        for i in range(3):
            with torch.profiler.itt.range(f'iteration_{i}'):
                m(x)

if __name__ == '__main__':
    main()
"""

TRAIN = """
import os
import itt
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(name):
    with torch.profiler.itt.range(name):
        optimizer.zero_grad()
        model(torch.rand(32, 64)).sum().backward()
        optimizer.step()


with torch.autograd.profiler.emit_itt():
    step("warm-up")
    print("warm", flush=True)
    while not os.path.exists("go"):
        step("warm-up")
    itt.resume()
    for i in range(40):
        step(f"step_{i}")
    itt.detach()
    step("afterwards")
"""

LAUNCH = """#!/bin/bash
BASEFOLDER=$( cd -- "$( dirname -- "${{BASH_SOURCE[0]}}" )" &> /dev/null && pwd )
cd ${{BASEFOLDER}}
{python} sample.py
"""


class Recipes(Page):
    def test_kernel_profiling_started_paused_and_resumed_by_the_program(self):
        folder = self.dir / "kernel"
        folder.mkdir()
        (folder / "triton_kernel.py").write_text(KERNEL)
        (folder / "run.sh").write_text(f"#! /bin/bash\n{sys.executable} triton_kernel.py\n")
        self.start()
        self.drive("kernels", folder=str(folder))

    def need_torch(self):
        if not VENV.exists() or subprocess.run([VENV, "-c", "import importlib.util as u; exit(not u.find_spec('torch'))"]).returncode:
            self.skipTest("PyTorch is not installed (tools/setup.sh test)")

    def test_pytorch_started_paused_and_resumed_from_python(self):
        self.need_torch()
        folder = self.dir / "train"
        folder.mkdir()
        (folder / "train.py").write_text(TRAIN)
        self.start()
        self.drive("torchPaused", folder=str(folder), python=str(VENV))

    def test_pytorch_with_itt(self):
        self.need_torch()
        self.script("sample.py", SAMPLE)
        self.start()
        self.drive("torch", script=self.script("launch.sh", LAUNCH.format(python=VENV)))


class Gpu(Page):
    def test_every_gpu_analysis_has_its_tabs(self):
        """A fake CUPTI plays the device; a real one: tests/device/test_serve.py."""
        if not backend("cuda").exists() or not program("fake_cuda").exists():
            self.skipTest("the backend cuda or its fake is not built")
        cupti, tool = program("libfake_cupti.so"), nvdisasm()
        os.environ["UNITRACE_NVDISASM"] = str(tool or "/nonexistent/nvdisasm")
        self.start()
        self.drive("gpu", instruction="LDC R13, c[0x0][0x210] ;" if tool else "", program=str(program("fake_cuda")), parameters=f"{backend('cuda')} {cupti} 10",
                   variables={"UNITRACE_CUPTI": str(cupti), "FAKE_CUPTI_LONG": "1",
                              "FAKE_CUPTI_CUBIN": str(SOURCE / "tests/data/cuda/kernels.cubin")})

    def test_a_program_that_uses_no_device(self):
        self.start()
        self.drive("noGpu", program=str(STEPS))


if __name__ == "__main__":
    unittest.main()
