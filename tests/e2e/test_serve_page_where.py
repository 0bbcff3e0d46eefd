"""The page of unitrace serve in Chromium: runs on another machine, of a process that runs already, of an MPI job."""
# ci: labels slow browser
# ci: no sanitizers
import json
import subprocess
import unittest

import common
import mpi_support
from browser_support import with_browser
from common import PATIENCE, program
from test_serve_page import STEPS, Page

common.need("burn")
LIES = json.dumps({"devices": [{"number": 0, "name": "<img src=x onerror=window.hacked=1>"}] + [{"number": n, "name": "x" * 9000} for n in range(20)],
                   "notes": ["not there <script>window.hacked=2</script>"]}).encode()


class Where(Page):
    def burner(self):
        process = subprocess.Popen([program("burn"), "shares", "600000"], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_another_machine(self):
        try:
            from sshd_support import Sshd, fingerprint, make_key
        except SystemExit:
            self.skipTest("no sshd: tools/setup.sh test installs openssh-server")
        sshd = Sshd(self.dir / "sshd").start()
        self.addCleanup(sshd.stop)
        sleeper = subprocess.Popen(["sleep", "600"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        endless = self.script("endless.sh", f"i=0\nwhile true; do {STEPS} begin tick sleep 20 end; i=$((i+1)); echo tick $i; done\n")
        device = next((line.partition(": ")[2] for line in self.unitrace("--device-list").stdout.decode().splitlines() if line.startswith("Device #0: ")), "")
        become = {"BARE": lambda: sshd.restart("OCL_ICD_VENDORS=/nonexistent"), "HOSTILE": lambda: sshd.lie(LIES)}

        def new_key():
            sshd.stop()
            sshd.host_key = make_key(sshd.folder / "other_key")
            sshd.start()

        become["KEY"] = new_key
        self.start()
        node = subprocess.Popen(self.command("machines", device=device, machine=sshd.machine(), fingerprint=fingerprint(sshd.host_key), program=str(STEPS),
                                             endless=endless, victim="sleep", pid=sleeper.pid),
                                env=with_browser(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(node.kill)
        for line in node.stdout:
            if line.strip() in become:
                become[line.strip()]()
                print("done", file=node.stdin, flush=True)
        errors = node.stderr.read()
        node.stdin.close()
        node.stdout.close()
        node.stderr.close()
        if node.wait(PATIENCE) == 77:
            self.skipTest(errors)
        self.keep_pictures("machines")
        self.assertEqual(node.returncode, 0, errors)

    def test_a_process_that_runs_already(self):
        burner = self.burner()
        tried = self.unitrace("--attach", str(burner.pid), "--duration", "200ms", "--sampling=1000", "-o", self.dir / "x.utr").stderr
        if not (self.dir / "x.utr").exists():
            self.skipTest(f"no samples here: {tried}")
        self.start()
        self.drive("attach", pid=burner.pid)
        self.assertIsNone(burner.poll())

    def test_ranks_of_a_job(self):
        library = next((l for l in mpi_support.libraries() if l.name == "mpich"), None)
        if not library:
            self.skipTest("no MPICH")
        job = library.build("imbalance.c", *mpi_support.ITT)
        (self.dir / "log").mkdir()
        self.start()
        self.drive("mpi", launcher="mpirun.mpich -n 3", program=str(job), parameters=f"{self.dir}/log 5 1 20")


if __name__ == "__main__":
    unittest.main()
