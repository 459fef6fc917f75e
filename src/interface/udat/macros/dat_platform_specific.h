/** Creates a constant of 64 bits, on platforms that do not define UINT64_C. */
#ifndef UINT64_C
#define UINT64_C(c) c##ULL
#endif

/* Marks of the direction of an argument, for programs that use them. The library ignores them. */

/** Marks an argument that the function reads. */
#ifndef IN
#define IN
#endif

/** Marks an argument that the function writes. */
#ifndef OUT
#define OUT
#endif

/** Marks an argument that the function reads and writes. */
#ifndef INOUT
#define INOUT
#endif
