SELECT DISTINCT STR_SPLIT('a;b;c', ';', 1) AS b, STR_SPLIT('a', ';', 3) AS none
