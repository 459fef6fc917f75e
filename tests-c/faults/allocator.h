/*
 * allocator.h - the memory functions of the process, which fail where the test wants it.
 *
 * This program's malloc takes the place of the C library's, in the program and in every library.
 */
#ifndef TESTS_C_FAULTS_ALLOCATOR_H
#define TESTS_C_FAULTS_ALLOCATOR_H

/* Calls that asked for memory since allocator_fail(). */
long allocator_calls(void);

/* Of the calls from now on, counted from 1, those from first to last fail. */
void allocator_fail(long first, long last);

/* No call fails from now on. */
void allocator_mend(void);

/* An address in the code that made the first call that failed since allocator_fail(); NULL before. */
const void *allocator_refused(void);

/* The next call that fails writes the functions that led to it to standard error. */
void allocator_tell(void);

/* Blocks that were given out and not taken back, but for the dynamic loader's tables of threads. */
long allocator_live(void);

#endif
