/* place.h - a private rendezvous directory for the adapter "shm". */
#ifndef TESTS_C_PLACE_H
#define TESTS_C_PLACE_H

#include <stdbool.h>

/*
 * Configures shm with a new directory, which the library creates, and returns its path. Must be
 * called before libdat and before peer_start(); second processes use the same directory.
 * place_end() removes it.
 */
const char *place_make(void);
void place_end(void);

/* Returns the path, also in a second process. Returns NULL without place_make(). */
const char *place_path(void);

/* Returns the number of entries with this prefix, or -1 if there is no directory. */
int place_count(const char *prefix);

#endif
