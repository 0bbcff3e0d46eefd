<?php
/* hot.php - a loop and a function hot enough for opcache's JIT compiler. */
function triangle(int $n): int
{
	$sum = 0;
	for ($i = 1; $i <= $n; $i++)
		$sum += $i;
	return $sum;
}

$total = 0;
for ($n = 0; $n < 1000; $n++)
	$total += triangle($n);
echo $total, "\n";
