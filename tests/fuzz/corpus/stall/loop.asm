//.kernel _Z1kPi
// B0: Preds:{B1},  Succs:{B1}
// File: a.cl
// Line 3:  x
add r3 r1 {$7.dst} // $1
load r3 {Compacted,$7,$6.src} // $1
// B1: Preds:{B0, B1},  Succs:{B0, B1}
sync.allwr ($7,$6) // $2
