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
import pyarrow.parquet
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

# Parquet: the same table as Arrow's file, by three readers; bounds that let readers leave groups out.
for mine, theirs in zip(sys.argv[5].split(","), sys.argv[6].split(",")):
    as_arrow = pyarrow.ipc.open_file(mine).read_all()
    as_parquet = pyarrow.parquet.read_table(theirs)
    as_parquet.validate(full=True)
    assert as_parquet.schema.equals(as_arrow.schema), as_parquet.schema
    assert as_parquet.combine_chunks().equals(as_arrow.combine_chunks())
    assert polars.read_parquet(theirs).equals(polars.from_arrow(as_arrow))
    total = "select count(*), sum(dur_ns), count(distinct name), sum(length(args)), count(rank), sum(value) from {}"
    assert duckdb.sql(total.format(f"'{theirs}'")).fetchall() == duckdb.sql(total.format("as_arrow")).fetchall()
    about = pyarrow.parquet.ParquetFile(theirs).metadata
    for group in range(about.num_row_groups):
        times = about.row_group(group).column(as_arrow.column_names.index("ts_ns"))
        rows = as_parquet.slice(sum(about.row_group(i).num_rows for i in range(group)), times.num_values)["ts_ns"]
        assert times.statistics.min == min(rows.to_pylist()) and times.statistics.max == max(rows.to_pylist())
assert about.num_row_groups > 1, "the last one is large"

# Every odd shape of the shared list: slices, pandas, DuckDB, and SQL say the same.
for shape in sorted(glob.glob(sys.argv[9] + "/*.json")):
    with unitrace.open(shape) as one:
        rows = one.query("select id, ts, dur, name, cat, track_id from slice order by id").fetchall()
        odd = one.slices()
        table = pyarrow.table(odd).select(["id", "ts", "dur", "name", "cat", "track_id"])
        got = sorted(tuple(row.values()) for row in table.to_pylist())
        assert got == rows, (shape, got, rows)
        by_sql = one.query("select coalesce(name, ''), count(*), sum(dur) from slice group by 1 order by 1").fetchall()
        by_duck = duckdb.sql("select coalesce(name, ''), count(*), sum(dur)::bigint from odd group by 1 "
                             "order by 1").fetchall()
        assert by_duck == by_sql, (shape, by_duck, by_sql)
        frame = odd.to_pandas()
        names = frame["name"].astype("object").where(frame["name"].notna(), "")
        by_pandas = frame.groupby(names)["dur"].agg(["count", "sum"])
        assert [(n, int(r["count"]), int(r["sum"])) for n, r in by_pandas.sort_index().iterrows()] == by_sql, shape
        assert pyarrow.table(one.flows()).num_rows == one.query("select count(*) from flow").fetchall()[0][0], shape

# A lake of many ranks: DuckDB over the folder says what SQL over the traces does.
ranks = unitrace.open(*glob.glob(sys.argv[7] + "/*.json"))
mine = ranks.query("select rank, name, count(*), sum(dur) from slice where not async and not instant "
                   "group by 1, 2 order by 1, 2").fetchall()
for lake in sys.argv[8].split(","):
    rows = duckdb.sql(f"select rank, name, count(*), sum(dur_ns)::bigint from read_parquet('{lake}/*/*.parquet', "
                      "hive_partitioning = true) where kind = 'span' group by all order by 1, 2 nulls first").fetchall()
    assert [(int(r[0]), *r[1:]) for r in rows] == mine, (lake, rows[:3], mine[:3])
    assert len({r[0] for r in rows}) == 4
print("ok")
