/*
 * auxv.h - what Linux tells a program about itself: nothing here.
 */
#ifndef UT_WASM_SYS_AUXV_H
#define UT_WASM_SYS_AUXV_H

#define AT_EXECFN 31

#define getauxval(what) 0ul

#endif
