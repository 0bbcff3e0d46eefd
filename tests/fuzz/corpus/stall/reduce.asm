//.kernel reduce
//.platform PVCXT
//.thread_config numGRF=128, numAcc=4, numSWSB=16
//.instCount 84
//.RA type	TRIVIAL_RA


// .inputs


// B000: Preds:{},  Succs:{B001}
per_thread_prolog:
(W)     mov (16|M0)              r127.0<1>:ud  0x0:ud                                                // $4
(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud                       // $4
(W)     and (1|M0)               r127.0<1>:uw  r0.4<0;1,0>:uw    0xFF:uw                             // $4
(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x80:uw              {I@2}          // $4
(W)     mad (1|M0)               r127.0<1>:ud  r127.2<0;0>:ud    r127.0<0;0>:uw    0xC0:uw              {I@1} // $4

// File: /tmp/ocl/1

// Line 26
        load.ugm.d32x32t.a32.ca.ca (1|M0)  r1:2 bti[255][r127:1]   {A@1,$0} // ex_desc:0xFF000000; desc:0x6228E500 // $90
(W)     add (1|M0)               r127.0<1>:ud  r127.0<0;1,0>:ud  0x80:uw              {$0.src}       // $4
        load.ugm.d32x16t.a32.ca.ca (1|M0)  r3:1 bti[255][r127:1]   {A@1,$1} // ex_desc:0xFF000000; desc:0x6218D500 // $90
// B001: Preds:{B000},  Succs:{B002}
// cross_thread_prolog:
(W)     and (1|M0)               r127.0<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud              {$1.src} // $4
        load.ugm.d32x32t.a32.ca.ca (1|M0)  r4:2 bti[255][r127:1]   {I@1,$2} // ex_desc:0xFF000000; desc:0x6228E500 // $90
// B002: Preds:{B001},  Succs:{B003, B004}
// _main:
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {Compacted,A@1} // $1

// Line 15
(W)     mul (1|M0)               acc0.0<1>:d   r5.8<0;1,0>:d     r0.2<0;1,0>:uw   {Compacted,A@1,$2.dst} // $6

// Line 12
        mov (32|M0)              r6.0<1>:d     r1.0<1;1,0>:uw                   {$0.dst}             // $8
(W)     macl (1|M0)              r2.0<1>:d     r5.8<0;1,0>:d     r0.1<0;1,0>:d    {Compacted}        // $8

// Line 15
        add3 (32|M0)             r8.0<1>:d     r2.0<0;0>:d       r6.0<1;0>:d       r4.0<0>:d        {Compacted,I@1} // $10 R{} IR{}{E:1,E:3,E:2,},  R{r2,r4,} IR{} {BC=1}
        cmp (32|M0)   (lt)f2.0   null<1>:d     r8.0<1;1,0>:d     r4.14<0;1,0>:d   {I@1}              // $11
(f2.0)  goto (32|M0)                         _0_022            _0_022                                // $12
// B003: [inDivergent],  Preds:{B002},  Succs:{B006}
_0_023:
        mov (32|M0)              r10.0<1>:ud   0x0:ud                              {Compacted}       // $14
        goto (32|M0)                         _0_022            _0_024                                // $15
// B004: [inDivergent],  Preds:{B002},  Succs:{B005}
_0_022:
        join (32|M0)                         _0_024                                                  // $4
L280:
        mov (32|M0)              r10.0<1>:ud   0x0:ud                              {Compacted}       // $17
// B005: [inDivergent],  Preds:{B005, B004},  Succs:{B006, B005}
_0_025:

// Line 16
        mov (16|M0)              r37.0<2>:ud   r8.0<1;1,0>:ud                   {Compacted}          // $21
        mov (16|M16)             r39.0<2>:ud   r9.0<1;1,0>:ud                   {Compacted}          // $21
        shl (16|M0)              r41.0<1>:q    r37.0<2;1,0>:d    2:w               {Compacted,I@2}   // $21
        shl (16|M16)             r43.0<1>:q    r39.0<2;1,0>:d    2:w               {Compacted,I@2}   // $21
        add (16|M0)              r12.0<1>:q    r41.0<1;1,0>:q    r4.5<0;1,0>:q    {Compacted,I@2}    // $22
        add (16|M16)             r14.0<1>:q    r43.0<1;1,0>:q    r4.5<0;1,0>:q    {Compacted,I@2}    // $22
        load.ugm.d32.a64 (32|M0)  r16:2         [r12:4]            {A@1,$3} // ex_desc:0x0; desc:0x8200580 // $23

// Line 15
        add (32|M0)              r8.0<1>:d     r8.0<1;1,0>:d     r5.2<0;1,0>:d    {Compacted}        // $26
        cmp (32|M0)   (lt)f2.0   null<1>:d     r8.0<1;1,0>:d     r4.14<0;1,0>:d   {I@1}              // $27

// Line 16
        add (32|M0)              r10.0<1>:f    r10.0<1;1,0>:f    r16.0<1;1,0>:f   {Compacted,$3.dst} // $24

// Line 15
(f2.0)  goto.b (32|M0)                       _0_024            _0_025                                // $28
// B006: Preds:{B005, B003},  Succs:{B007, B015}
_0_024:
        join (32|M0)                         L416                                                    // $4
L416:

// Line 17
        shl (32|M0)              r18.0<1>:d    r6.0<1;1,0>:d     2:w               {Compacted}       // $31
        store.slm.d32.a32 (32|M0)  [r18:2]      r10:2              {A@1,$4} // ex_desc:0x0; desc:0x4000504 // $32

// Line 18
(W)     send.slm (1|M0)          r3       r0      null:0  0x0            0x0210011F           {$1} // wr:1+0, rd:1; fence.slm.none.group // $34
(W)     mov (1|M0)               r20.2<1>:f    0x0:f                               {Compacted}       //  (0x00000000:f); $35
(W)     mov (2|M0)               r20.10<1>:ub  r0.11<0;1,0>:ub                  {F@1}                // $35
(W)     mov (8|M0)               null<1>:ud    r3.0<1;1,0>:ud                   {Compacted,$1.dst}   //  memory fence commit; $35
(W)     send.gtwy (1|M0)         null     r20     null:0  0x0            0x02000004           {I@2,$5} // wr:1+0, rd:0; signal barrier // $35
(W)     sync.bar                             0x0                                 {Compacted}         // $35

// Line 19
(W)     cmp (32|M0)   (lt)f1.0   null<1>:ud    r5.5<0;1,0>:ud    0x2:uw                              // $37
(W&f1.0) jmpi                                _0_026                                                  // $38
// B007: Preds:{B006},  Succs:{B008}
_0_027:
(W)     shr (1|M0)               r2.1<1>:d     r5.5<0;1,0>:ud    1:w                                 // $40

// Line 20
(W)     mov (1|M0)               r2.2<1>:d     r2.1<0;1,0>:d                    {I@1}                // $42
// B008: Preds:{B014, B007},  Succs:{B009, B010}
_0_028:
        cmp (32|M0)   (gt)f1.0   null<1>:d     r2.2<0;1,0>:d     r6.0<1;1,0>:d    {I@1}              // $44
(~f1.0) goto (32|M0)                         _0_029            _0_029                                // $45
// B009: [inDivergent],  Preds:{B008},  Succs:{B010}
_0_030:

// Line 21
        add (32|M0)              r21.0<1>:d    r2.2<0;1,0>:d     r6.0<1;1,0>:d    {Compacted}        // $48
        shl (32|M0)              r23.0<1>:d    r21.0<1;1,0>:d    2:w               {Compacted,I@1}   // $49
        load.slm.d32.a32 (32|M0)  r27:2         [r18:2]            {$8} // ex_desc:0x0; desc:0x4200500 // $51
        load.slm.d32.a32 (32|M0)  r25:2         [r23:2]            {I@1,$9} // ex_desc:0x0; desc:0x4200500 // $50
        sync.nop                             null                             {Compacted,$9.dst}     // $52
        sync.nop                             null                             {Compacted,$6.src}     // $52
        add (32|M0)              r29.0<1>:f    r27.0<1;1,0>:f    r25.0<1;1,0>:f   {Compacted,$8.dst} // $52
        store.slm.d32.a32 (32|M0)  [r18:2]      r29:2              {F@1,$6} // ex_desc:0x0; desc:0x4000504 // $53
// B010: Preds:{B009, B008},  Succs:{B011, B012}
_0_029:
        join (32|M0)                         L712                                                    // $4
L712:

// Line 22
(W)     send.slm (1|M0)          r31      r0      null:0  0x0            0x0210011F           {$10} // wr:1+0, rd:1; fence.slm.none.group // $56
(W)     mov (1|M0)               r32.2<1>:f    0x0:f                               {Compacted,$7.src} //  (0x00000000:f); $57
(W)     mov (2|M0)               r32.10<1>:ub  r0.11<0;1,0>:ub                  {F@1}                // $57
(W)     mov (8|M0)               null<1>:ud    r31.0<1;1,0>:ud                  {Compacted,$10.dst}  //  memory fence commit; $57
(W)     send.gtwy (1|M0)         null     r32     null:0  0x0            0x02000004           {I@2,$7} // wr:1+0, rd:0; signal barrier // $57
(W)     sync.bar                             0x0                                 {Compacted}         // $57

// Line 19
(W)     cmp (32|M0)   (lt)f0.0   null<1>:d     r2.2<0;1,0>:d     0:w                                 // $59
(W&f0.0) jmpi                                _0_031                                                  // $60
// B011: Preds:{B010},  Succs:{B013}
_0_032:
(W)     mov (1|M0)               r2.1<1>:d     r2.2<0;1,0>:d                                         // $62
(W)     jmpi                                 _0_033                                                  // $63
// B012: Preds:{B010},  Succs:{B013}
_0_031:
(W)     add (1|M0)               r2.1<1>:d     r2.2<0;1,0>:d     1:w                                 // $65
// B013: Preds:{B012, B011},  Succs:{B014, B015}
_0_033:
(W)     add (1|M0)               r2.3<1>:d     r2.2<0;1,0>:d     1:w                                 // $68
(W)     cmp (32|M0)   (lt)f3.0   null<1>:ud    r2.3<0;1,0>:ud    0x3:uw              {I@1}           // $69
(W&f3.0) jmpi                                _0_026                                                  // $70
// B014: Preds:{B013},  Succs:{B008}
_0_034:
(W)     asr (1|M0)               r2.1<1>:d     r2.1<0;1,0>:d     1:w                                 // $72
(W)     mov (1|M0)               r2.2<1>:d     r2.1<0;1,0>:d                    {I@1}                // $73
(W)     jmpi                                 _0_028                                                  // $74
// B015: Preds:{B013, B006},  Succs:{B016, B017}
_0_026: