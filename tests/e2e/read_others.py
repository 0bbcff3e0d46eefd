"""For test_read.py: what pandas, polars, pyarrow and DuckDB make of our tables, against each other."""
import csv
import glob
import sys

sys.path.insert(0, sys.argv[1])
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.ipc
import unitrace

trace = unitrace.open(sys.argv[2])
slices, stats = trace.slices(), trace.stats()
expected = {row[0]: (row[1], row[2]) for row in
            trace.query("select name, count(*), sum(dur) from slice group by 1")}

frame = slices.to_pandas()
by_pandas = frame.groupby(frame["name"].astype("object"), dropna=False)["dur"].agg(["count", "sum"])
mine = {None if pandas.isna(name) else name: (row["count"], row["sum"])
        for name, row in by_pandas.iterrows()}
assert mine == expected, mine

by_polars = slices.to_polars().with_columns(polars.col("name").cast(polars.String)).group_by("name").agg(
    polars.len().alias("n"), polars.col("dur").sum())
assert {row[0]: row[1:] for row in by_polars.rows()} == expected

rows = duckdb.sql("select name, count(*), sum(dur) from slices group by 1").fetchall()
assert {row[0]: row[1:] for row in rows} == expected, rows

table = pyarrow.table(slices)
table.validate(full=True)
assert table.num_rows == sum(count for count, _ in expected.values())
assert pyarrow.table(stats).column_names == stats.columns
assert pyarrow.table(trace.query("select 1 as a where 0")).num_rows == 0

# Arrow's file format: three readers, the CSV of the same trace, and a folder with a part for each rank.
folder, rows_csv = sys.argv[3], list(csv.DictReader(open(sys.argv[4], newline="")))
parts = sorted(glob.glob(folder + "/rank=*/*.arrow"))
whole = pyarrow.concat_tables(pyarrow.ipc.open_file(part).read_all() for part in parts)
whole.validate(full=True)
streamed = [pyarrow.ipc.open_stream(open(part, "rb").read()[8:]).read_all() for part in parts]
assert pyarrow.concat_tables(streamed).equals(whole)
assert sum(len(polars.read_ipc(part)) for part in parts) == whole.num_rows == len(rows_csv)
as_text = sorted(tuple("" if row[key] is None else str(row[key]) for key in ("pid", "tid", "kind", "ts_ns",
                 "dur_ns", "name", "category", "depth", "flags", "args")) for row in whole.to_pylist())
assert as_text == sorted(tuple(row[key] for key in ("pid", "tid", "kind", "ts_ns", "dur_ns", "name",
                         "category", "depth", "flags", "args")) for row in rows_csv)
lake = pyarrow.dataset.dataset(folder, format="arrow", partitioning="hive")
assert lake.schema.field("rank") is not None
spans = duckdb.sql("""select name, count(*), sum(dur_ns) from lake where kind = 'span' group by 1""").fetchall()
sql = trace.query("select name, count(*), sum(dur) from slice where not async and not instant group by 1")
assert dict((row[0], row[1:]) for row in spans) == dict((row[0], row[1:]) for row in sql), spans
print("ok")
