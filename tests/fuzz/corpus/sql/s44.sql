INCLUDE PERFETTO MODULE slices.with_context;
SELECT ts, dur, SUBSTR(name, INSTR(name, ' ') + 1, INSTR(name, ' to ') - INSTR(name, ' ') - 1) as process_name,
  SUBSTR(name, INSTR(name, ' to ') + 4) AS group_id
FROM thread_slice WHERE process_name = 'train' AND thread_name = 'loader' AND name LIKE 'copy %';
