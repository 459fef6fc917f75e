/*
 * place.h - a rendezvous directory of the test's own, for the adapter "shm".
 */
#ifndef TESTS_C_PLACE_H
#define TESTS_C_PLACE_H

#include <stdbool.h>

/*
 * Has the adapter meet other processes in a new directory, which the library
 * makes. To be called before anything of libdat, and before peers start, which
 * meet there too. The result is the path; place_end() removes it.
 */
const char *place_make(void);
void place_end(void);

/* The path, also in a peer; NULL when place_make() was not called. */
const char *place_path(void);

/* The number of entries whose names begin so; -1 when there is no directory. */
int place_count(const char *prefix);

#endif
