/** Suffix for constants of 64 bits, where the platform has none. */
#ifndef UINT64_C
#define UINT64_C(c) c##ULL
#endif

/* Marks of the direction of an argument, for programs that use them. They mean nothing here. */

/** Read by the function. */
#ifndef IN
#define IN
#endif

/** Written by the function. */
#ifndef OUT
#define OUT
#endif

/** Read and written by the function. */
#ifndef INOUT
#define INOUT
#endif
