CREATE PERFETTO TABLE constant_table AS SELECT column1 as ts, column2 as dur FROM (VALUES (100, 10), (200, 20));
SELECT sum(dur) FROM constant_table;
