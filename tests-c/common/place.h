/* place.h - a private rendezvous directory for the adapter "shm". */
#ifndef TESTS_C_PLACE_H
#define TESTS_C_PLACE_H

#include <stdbool.h>

/*
 * Configures shm with a new directory, which the library creates, and returns the path. Must
 * precede all calls of libdat and peer_start(). place_end() removes the directory.
 */
const char *place_make(void);
void place_end(void);

/* Returns the path, also in a second process. Returns NULL without place_make(). */
const char *place_path(void);

/* Returns the number of entries of the directory with this prefix, or -1 if it does not exist. */
int place_count(const char *prefix);

#endif
