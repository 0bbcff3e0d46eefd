"""python -m unitrace.op_table TRACE [ROWS]: PyTorch's operators, the dearest first.

Calls, time of their own and with what is inside, share, and the time that devices worked on what
they have launched. `unitrace query` does the work; TRACE is whatever it reads.
"""
import subprocess
import sys

from .__main__ import launcher

SQL = """
with op as (
  select name, count(*) as calls, sum(self_dur) as self, sum(dur) as total
  from slice where category = 'PyTorch' group by name),
work as (
  select arg(slice.id, 'task') as name, sum(slice.dur) as device
  from slice join thread_track on slice.track_id = thread_track.id
       join thread using (utid) join process using (upid)
  where process.name glob 'DEVICE *' group by 1)
select op.name as operator, calls, round(self / 1e6, 3) as self_ms, round(total / 1e6, 3) as total_ms,
       round(100.0 * self / (select sum(self) from op), 1) as share,
       round(coalesce(device, 0) / 1e6, 3) as device_ms
from op left join work using (name) order by self desc limit {rows}
"""


def main(words):
    if not words or len(words) > 2 or (len(words) == 2 and not words[1].isdigit()):
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    program = launcher()
    if not program:
        print("unitrace: the program unitrace was not found", file=sys.stderr)
        return 127
    rows = int(words[1]) if len(words) == 2 else 30
    return subprocess.run([program, "query", words[0], SQL.format(rows=rows)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
