SETS = []
