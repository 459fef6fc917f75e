/* usage.h - resources of this process, and the CPU time of any process. */
#ifndef TESTS_C_USAGE_H
#define TESTS_C_USAGE_H

#include <stdbool.h>

/*
 * Returns the number of entries of a directory, including "." and "..", or -1 if it cannot be read.
 */
int entries(const char *path);

int threads(void);

/*
 * Predicates for wait_until(). Return whether threads(), or entries("/proc/self/fd"), is at most the
 * int at count. After dat_ia_close(), wait for them: the adapter's thread can still be exiting, and
 * hold descriptors and memory.
 */
bool threads_at_most(void *count);

bool descriptors_at_most(void *count);

long resident_kib(void);

long cpu_ms(long pid);

#endif
