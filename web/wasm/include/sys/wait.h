/*
 * wait.h - how Linux encodes the end of a process.
 */
#ifndef UT_WASM_SYS_WAIT_H
#define UT_WASM_SYS_WAIT_H

#define WIFSIGNALED(status) (((status)&0x7f) != 0)
#define WTERMSIG(status)    ((status)&0x7f)
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)

#endif
