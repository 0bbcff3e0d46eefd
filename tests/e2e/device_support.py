"""What the tests of backends share: what devices did, as a timeline shows it."""
import shutil

import common

BACKENDS = (common.BUILD / "lib" / "unitrace" / "backends").resolve()  # as the launcher finds it
KINDS = ("kernel", "copy", "fill", "sync", "other")


class DeviceTrace:
    """The device's side of a checked timeline."""

    def __init__(self, trace):
        self.trace = trace
        self.devices = {e["pid"]: e["args"]["name"] for e in trace.meta
                        if e["name"] == "process_name"
                        and e["args"]["name"].startswith("DEVICE [")}
        self.work = sorted((s for s in trace.spans if s.event["pid"] in self.devices),
                           key=lambda s: s.begin)
        self.calls = [s for s in trace.spans
                      if s.event["pid"] not in self.devices and s.cat != "control"]
        self.rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace.meta
                     if e["name"] == "thread_name" and e["pid"] in self.devices}

    def names(self):
        return [s.name for s in self.work]

    def named(self, name):
        return [s for s in self.work if s.name == name]

    def submissions(self):
        """Pairs of a call and the work that it submitted, by the arrows between them."""
        by_place = {(s.event["pid"], s.tid, s.begin): s for s in self.trace.spans}
        pairs = []
        for out, into in self.trace.arrows:
            call = by_place[out["pid"], out["tid"], common.to_ns(out["ts"])]
            work = by_place[into["pid"], into["tid"], common.to_ns(into["ts"])]
            pairs.append((call, work))
        return pairs


def wait_until_told(case, count):
    """Until a look at the recording under way shows so much work of devices."""
    path = case.dir / "live" / "look.json"

    def told():
        for session in case.dir.glob("*.session"):
            got = case.unitrace("export", "--live", "--overwrite", "-o", path, session)
            if got.returncode == 0 and path.exists():
                return len(DeviceTrace(common.Trace(path)).work) >= count
        return False

    path.parent.mkdir()
    common.wait_for(told, f"look that shows {count} pieces of work")
    shutil.rmtree(path.parent)


def backend(name):
    return BACKENDS / f"{name}.so"


def need_backend(name):
    common.need()
    if not backend(name).exists():
        common.skip(f"the backend {name} is not built")
