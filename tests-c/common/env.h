/*
 * env.h - the settings that a test program gets from its caller.
 *
 *   argv[1] or $DAT_IA     name of the interface adapter, "shm" by default
 *   $DAT_TEST_SCALE        factor for every deadline (valgrind, emulators)
 *   $DAT_TEST_QUICK        any value but 0: fewer repetitions
 *   $DAT_TEST_SLOT         number of this program among those that run in parallel
 *
 * xtask sets $DAT_OVERRIDE to a private dat.conf, in which shm has its own rendezvous directory.
 */
#ifndef TESTS_C_ENV_H
#define TESTS_C_ENV_H

#include "dat.h"

#include <stdbool.h>
#include <stdint.h>

struct peer_role;

/* Deadline for an expected event, in ms before scaling. */
#define SOON_MS 20000u

/* Time in which no event may arrive, in ms, not scaled. */
#define QUIET_MS 60u

/*
 * Reads the settings. Must be the first call of main(). roles is NULL, or a list that a NULL name
 * ends. In a process that peer_start() started, runs the role and does not return.
 */
void env_init(int argc, char **argv, const struct peer_role *roles);

DAT_NAME_PTR env_ia(void);
const char *env_self(void);

/* Return the scaled time, in milliseconds and in microseconds. */
unsigned env_ms(unsigned ms);
DAT_TIMEOUT env_us(unsigned ms);

/* Returns quick if $DAT_TEST_QUICK has any value but 0, otherwise full. */
int env_count(int full, int quick);

bool env_valgrind(void);

bool env_is_shm(void);

/* Returns whether the adapter uses an RDMA device. */
bool env_has_device(void);

/*
 * Returns whether the adapter is on an iWARP device. There a message without a receive ends the
 * connection, and a send completes when the kernel has taken its bytes.
 */
bool env_is_iwarp(void);

/* Returns the monotonic time in ms. */
uint64_t now_ms(void);

/*
 * Returns a qualifier that none of up to 8 parallel programs uses: above 0xffff if wide is true,
 * otherwise below.
 */
DAT_CONN_QUAL unique_qual(bool wide);

#endif
