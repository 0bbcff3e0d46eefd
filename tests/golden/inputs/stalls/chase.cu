// line 1
// line 2
// line 3
// line 4
// line 5
// line 6
// line 7
// line 8
statement 9;
statement 10;
statement 11;
statement 12;
statement 13;
statement 14;
statement 15;
statement 16;
// line 17
// line 18
// line 19
