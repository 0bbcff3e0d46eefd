SELECT cast_int!('5') AS i, cast_double!('1.5') AS d, cast_string!(7) AS s
