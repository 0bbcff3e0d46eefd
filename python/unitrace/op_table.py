"""python -m unitrace.op_table TRACE [ROWS]: PyTorch's operators, the dearest first.

Calls, time of their own and with the operators inside, share, and the time that devices worked on
what they have launched. What libraries and Python do inside an operator is the operator's own time.
`unitrace query` does the work; TRACE is whatever it reads.
"""
import os
import subprocess
import sys

from .__main__ import launcher

SQL = """
with recursive own(op, id, dur) as (
  select id, id, self_dur from slice where category = 'PyTorch'
  union all
  select own.op, slice.id, slice.self_dur from own join slice on slice.parent_id = own.id
  where slice.category <> 'PyTorch'),
op as (
  select name, sum(own.id = op) as calls, sum(own.dur) as self
  from own join slice on slice.id = op group by name),
span as (
  select name, total from slice_stats('name,category') where cat = 'PyTorch'),
work as (
  select arg(slice.id, 'task') as name, sum(slice.dur) as device
  from slice join thread_track on slice.track_id = thread_track.id
       join thread using (utid) join process using (upid)
  where process.name glob 'DEVICE *' group by 1)
select op.name as operator, calls, round(self / 1e6, 3) as self_ms, round(total / 1e6, 3) as total_ms,
       round(100.0 * self / (select sum(self) from op), 1) as share,
       round(coalesce(device, 0) / 1e6, 3) as device_ms
from op join span using (name) left join work using (name) order by self desc limit {rows}
"""
HEAD = 2  # lines above the first row


def main(words):
    if not words or len(words) > 2 or (len(words) == 2 and not words[1].isdigit()):
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    program = launcher()
    if not program:
        print("unitrace: the program unitrace was not found", file=sys.stderr)
        return 127
    rows = int(words[1]) if len(words) == 2 else 30
    done = subprocess.run([program, "query", words[0], SQL.format(rows=rows)], check=False,
                          stdout=subprocess.PIPE)
    try:
        sys.stdout.buffer.write(done.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if done.returncode == 0 and done.stdout.count(b"\n") <= HEAD and rows:
        print(f"unitrace: {words[0]}: no operators of PyTorch; record them with emit_itt() or "
              "unitrace.torch.observe()", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
