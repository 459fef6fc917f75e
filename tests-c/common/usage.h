/*
 * usage.h - the resources that a process holds: descriptors, threads, memory.
 */
#ifndef TESTS_C_USAGE_H
#define TESTS_C_USAGE_H

/* The number of entries of a directory, such as /proc/self/fd; -1 when it cannot be read. */
int entries(const char *path);

/* Memory of this process. */
long resident_kib(void);

#endif
