"""GPU analyses as the page starts them, through the interface, and what their results must hold: the same checks for
a fake CUPTI (test_serve_gpu.py) and for a real device (tests/device/test_serve.py)."""
import json

from serve_support import Server

WITH_KERNELS = {"kernels", "advice"}  # tabs of every result that has device work


def column(table, key):
    """The values of a column of a table of the viewer's."""
    return table["data"][[c["key"] for c in table["columns"]].index(key)]


class GpuRuns(Server):
    """One server for each test. what(): the application, its arguments and its environment, as a request has them."""
    chosen = ""    # part of the name of a kernel that is chosen where kernels can be
    interval = 50  # us, of samples of counters

    def setUp(self):
        super().setUp()
        self.start("--enable-server-profiling")
        self.project()

    def what(self):
        raise NotImplementedError

    def analyse(self, analysis, **options):
        """Starts it, waits, and gives the result's name and the tabs it has."""
        asked = {"what": "launch", **self.what(), "analysis": analysis, "options": options}
        line = self.do("POST", "/command", {**asked, "project": "p"})
        self.assertEqual(line["problems"], [])
        name = self.do("POST", "/projects/p/runs", asked)["result"]
        got = self.wait_for("p", name)
        output = self.get(f"/projects/p/results/{name}/output")["text"]
        self.assertEqual((got["state"], got["status"], got["trouble"]), ("ready", 0, ""), output)
        info = self.until(lambda i: not i["live"] and "read" not in i, lambda: self.ask("p", name, "info"))
        tabs = {t["id"] for t in info["tools"]}
        self.assertLessEqual(WITH_KERNELS, tabs, output)
        self.assertEqual(info["losses"], [])
        print(f"{analysis}: {info['slices']} slices, {info['samples']} samples, tabs {sorted(tabs)}\n  {got['asked']['shell']}", flush=True)
        return name, tabs

    def sheet(self, name, tool, sheet):
        return self.ask("p", name, "sheet", tool=tool, name=sheet)

    def kernels(self, name):
        return [k["name"] for k in self.sheet(name, "kernels", "verdicts")["kernels"]]

    def measured(self, name):
        """Kernels that have metrics: name -> {metric: value}."""
        table = self.sheet(name, "metrics", "metrics")["kernels"]
        keys = [c["key"] for c in table["columns"] if "__" in c["key"]]
        launches = column(table, "measured")
        return {kernel: {k: column(table, k)[i] for k in keys} for i, kernel in enumerate(column(table, "kernel")) if launches[i]}

    def has_verdict(self, name):
        """What to do first is said in the tree."""
        got = self.until(lambda r: bool(r["say"]), lambda: self.result("p", name))
        self.assertTrue(got["verdict"], got)

    def check_offload(self):
        name, tabs = self.analyse("gpu-offload")
        self.assertTrue(self.kernels(name))
        devices = self.ask("p", name, "aggregate", scope={})["devices"]
        self.assertGreaterEqual(devices["rows"], 1)
        self.has_verdict(name)
        return name

    def check_hotspots(self):
        for group, metric in (("Memory", "dram__bytes_read.sum[bytes]"), ("ComputeBasic", "sm__warps_active.avg.pct_of_peak_sustained_active[%]")):
            name, tabs = self.analyse("gpu-hotspots", group=group, instances="1-2", **{"include-kernels": self.chosen})
            self.assertIn("metrics", tabs)
            found = self.measured(name)
            self.assertTrue(found)
            self.assertTrue(all(self.chosen in kernel for kernel in found), found.keys())
            values = {m: v for metrics in found.values() for m, v in metrics.items()}
            self.assertIsNotNone(next((v for m, v in values.items() if m.partition("[")[0] == metric.partition("[")[0]), None), values.keys())
        memory = self.sheet(name, "metrics", "metrics")["memory"]
        self.assertEqual([level["level"] for level in memory[0]["levels"]], ["dram", "l3", "l2", "l1", "shared"])
        return name

    def check_metrics_over_time(self):
        name, tabs = self.analyse("gpu-metrics", group="ComputeBasic", interval=self.interval)
        self.assertIn("metrics", tabs)
        counters = self.ask("p", name, "aggregate", scope={})["counters"]
        self.assertGreater(counters["rows"], 3)
        self.assertTrue(self.measured(name))
        return name

    def check_stalls(self):
        name, tabs = self.analyse("stalls", **{"include-kernels": self.chosen})
        self.assertIn("metrics", tabs)
        stalls = self.sheet(name, "metrics", "metrics")["stalls"]
        self.assertTrue(stalls)
        for kernel in stalls:
            self.assertGreater(kernel["samples"], 0)
            self.assertTrue(column(kernel["instructions"], "address"))
            self.check_code(name, kernel["kernel"])
        return name

    def check_code(self, name, kernel):
        """What its instructions wait for is what the command line says of the files of the result."""
        got = self.ask("p", name, "stalls", name=kernel)
        if not got["report"]:
            self.assertRegex(got["notes"][0], "nvdisasm of the CUDA toolkit is needed")
            print(f"SKIP: the code of {kernel}: {got['notes'][0]}", flush=True)
            return
        folder = self.data / "p" / name
        modules, = folder.glob("**/*modules*")
        file, = folder.glob("**/*metrics*.csv")
        done = self.unitrace("metrics", "-k", kernel, "-s", modules, "-n", "200", "--annotate", "assembly", "--json", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)["reports"][0]
        self.assertEqual({**got["report"], "assembly": ""}, {**told, "assembly": ""})
        self.assertTrue(any(i["samples"] for i in told["instructions"]))

    def check_roofline(self):
        name, tabs = self.analyse("roofline", **{"include-kernels": self.chosen})
        self.assertLessEqual({"metrics", "roofline"}, tabs)
        sheet = self.sheet(name, "roofline", "roofline")
        self.assertTrue(column(sheet["kernels"], "kernel"))
        self.assertTrue(all(column(sheet["kernels"], "bound")))
        self.assertTrue(sheet["charts"])
        return name
