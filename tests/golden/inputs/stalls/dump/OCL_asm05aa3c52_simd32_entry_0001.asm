//.kernel _ZTSZ4mainEUlvE_
//.platform PVCXT

// B000: Preds:{},  Succs:{B001}
// File: /src/k.cpp

// Line 11:  int i = it;
(W)     mov (16|M0)              r127.0<1>:ud  0x0:ud                                                // $1
// B001: Preds:{B000, B002},  Succs:{B002, B003}

// Line 12:  x = a[i];
        load.ugm.d32.a64 (32|M0)  r18:2         [r14:4]            {I@1,$5} // ex_desc:0x0; desc:0x8200580 // $14
(W)     add (1|M0)               r127.0<1>:ud  r127.0<0;1,0>:ud  0x40:uw              {Compacted,$5.src} // $4

// Line 13:  y = x + b[i];
        sync.nop                             null                             {Compacted,$5.dst}     // $15
        add (32|M0)              r20.0<1>:f    r12.0<1;1,0>:f    r18.0<1;1,0>:f   {Compacted,$4.dst} // $16
// B002: Preds:{B001},  Succs:{B001}
        math.sin (16|M0)         r34.0<1>:f    r5.0<0;1,0>:f                    {$4}                 // $83
// B003: Preds:{B001},  Succs:{}
(W)     sync.bar                             0x0                                 {Compacted}         // $35
(W)     send.gtwy (8|M0)         null     r127    null:0  0x0            0x02000010           {EOT} // wr:1+0, rd:0; end of thread // $20
