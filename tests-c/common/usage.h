/*
 * usage.h - the resources that a process holds: descriptors, threads, memory.
 */
#ifndef TESTS_C_USAGE_H
#define TESTS_C_USAGE_H

#include <stdbool.h>

/* The number of entries of a directory, such as /proc/self/fd; -1 when it cannot be read. */
int entries(const char *path);

/* Threads of this process. */
int threads(void);

/*
 * For wait_until(): whether there are no more threads than the int behind count says. The thread of an adapter that was
 * closed may still be on its way out, and holds descriptors and memory so long.
 */
bool threads_at_most(void *count);

/* The same for descriptors. */
bool descriptors_at_most(void *count);

/* Memory of this process. */
long resident_kib(void);

/* Processor time of a process, in ms. */
long cpu_ms(long pid);

#endif
