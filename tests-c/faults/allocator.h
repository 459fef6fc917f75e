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

/*
 * From now on the functions that led to the first call that fails after each allocator_fail() are noted. allocator_refused()
 * gives their number and addresses, the innermost first; 0 when no call has failed.
 */
void allocator_note(void);
int allocator_refused(void *const **frames);

/* The next call that fails writes the functions that led to it to standard error. */
void allocator_tell(void);

/* Blocks that were given out and not taken back, but for the dynamic loader's tables of threads. */
long allocator_live(void);

#endif
