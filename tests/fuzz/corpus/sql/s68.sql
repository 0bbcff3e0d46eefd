SELECT name, EXTRACT_ARG(arg_set_id, 'args.bytes') AS bytes, EXTRACT_ARG(arg_set_id, 'args.shape.m') AS m FROM slice
