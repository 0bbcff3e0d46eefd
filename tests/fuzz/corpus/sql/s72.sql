SELECT slice.ts, MAX(CASE WHEN args.key = 'args.bytes' THEN args.int_value END) AS bytes
FROM slice JOIN args ON slice.arg_set_id = args.arg_set_id WHERE slice.name = 'matmul' GROUP BY slice.id
