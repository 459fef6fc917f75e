/*
 * env.h - the settings that a test program gets from its caller.
 *
 *   argv[1] or $DAT_IA     name of the interface adapter, "shm" by default
 *   $DAT_TEST_SCALE        factor for every deadline (valgrind, emulators)
 *   $DAT_TEST_QUICK        set to anything but 0: smaller numbers
 *   $DAT_TEST_SLOT         number among the programs that run in parallel
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
 * The first call of main(). roles is NULL, or a list that a NULL name ends. In a process that
 * peer_start() started, runs the role and does not return.
 */
void env_init(int argc, char **argv, const struct peer_role *roles);

DAT_NAME_PTR env_ia(void);
const char *env_self(void);

/* Return the scaled time, in milliseconds and in microseconds. */
unsigned env_ms(unsigned ms);
DAT_TIMEOUT env_us(unsigned ms);

/* Returns quick if $DAT_TEST_QUICK is set, otherwise full. */
int env_count(int full, int quick);

bool env_valgrind(void);

bool env_is_shm(void);

/* True when the adapter uses an RDMA device. */
bool env_has_device(void);

/*
 * Returns whether the adapter is on an iWARP device. There a message without a receive ends the
 * connection, and a send completes when the kernel has taken its bytes.
 */
bool env_is_iwarp(void);

/* Returns the monotonic time in ms. */
uint64_t now_ms(void);

/* Returns a qualifier that no other program of this run uses, above 16 bits if wide is true. */
DAT_CONN_QUAL unique_qual(bool wide);

#endif
