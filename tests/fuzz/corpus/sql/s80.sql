SELECT name, int_value, str_value FROM metadata WHERE name = 'cr-a-unknown'
