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

/*
 * Returns whether there are more than count entries of /proc/self/fd after dat_ia_close(). On iWARP it waits, because
 * there the kernel destroys a connection or an attempt only after the peer's answer.
 */
bool descriptors_left(int count);

/* Prints what each descriptor of this process is, and what each thread does, after a test of a number has failed. */
void descriptors_show(void);

long resident_kib(void);

long cpu_ms(long pid);

#endif
