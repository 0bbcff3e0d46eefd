CREATE PERFETTO TABLE names AS SELECT name, dur FROM slice;
CREATE PERFETTO INDEX by_name ON names(name);
SELECT count(*) FROM names WHERE name = 'matmul';
