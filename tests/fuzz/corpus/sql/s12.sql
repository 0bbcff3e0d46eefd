CREATE PERFETTO TABLE table_x AS SELECT ts, dur, name AS x FROM slice WHERE name = 'load';
CREATE PERFETTO TABLE table_y AS SELECT ts, dur, name AS y FROM slice WHERE name = 'step';
CREATE VIRTUAL TABLE outer_join USING SPAN_OUTER_JOIN(table_x, table_y);
SELECT ts, dur, x, y FROM outer_join;
