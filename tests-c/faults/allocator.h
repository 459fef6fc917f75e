/*
 * allocator.h - memory functions of the process that fail on demand. They replace the C library's functions in the
 * program and in all libraries.
 */
#ifndef TESTS_C_FAULTS_ALLOCATOR_H
#define TESTS_C_FAULTS_ALLOCATOR_H

/* Returns the number of allocations since allocator_fail(). */
long allocator_calls(void);

/* After this call, the allocations number `first` to `last` fail, counted from 1. */
void allocator_fail(long first, long last);

/* Ends the failures. */
void allocator_restore(void);

/* After this call, the stack of the first failed allocation after each allocator_fail() is stored. */
void allocator_note(void);
/* Returns the depth of the stored stack, or 0 if no call has failed. The first frame is the innermost. */
int allocator_refused(void *const **frames);

/* Calls allocator_note(). The stack is also printed to standard error when the allocation fails. */
void allocator_print(void);

/* Returns the number of allocated blocks, without the dynamic loader's tables of threads. */
long allocator_live(void);

#endif
