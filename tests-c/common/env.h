/*
 * env.h - the settings that a test program gets from its caller.
 *
 *   argv[1] or $DAT_IA     name of the interface adapter, "shm" by default
 *   $DAT_TEST_SCALE        factor for every deadline (valgrind, emulators)
 *   $DAT_TEST_QUICK        set to anything but 0: smaller numbers of everything
 *   $DAT_TEST_SLOT         number among the programs that run side by side
 *
 * Programs need not provide a configuration file: xtask writes a private one, in
 * which shm has a rendezvous directory of its own, and names it in $DAT_OVERRIDE.
 */
#ifndef TESTS_C_ENV_H
#define TESTS_C_ENV_H

#include "dat.h"

#include <stdbool.h>
#include <stdint.h>

struct peer_role;

/* How long to wait for something that must happen, in ms before scaling. */
#define SOON_MS 20000u

/*
 * How long to listen for something that must not happen, in ms, not scaled
 * upwards without bound: a longer silence proves no more.
 */
#define QUIET_MS 60u

/*
 * First call of main(). roles (NULL, or a list ended by a NULL name) are the
 * parts that a second process can play; when this process was started as one
 * (peer.h), the role runs here and the call does not return.
 */
void env_init(int argc, char **argv, const struct peer_role *roles);

/* Name of the interface adapter, in the type that dat_ia_open() wants. */
DAT_NAME_PTR env_ia(void);

/* Path of the program, for starting it again. */
const char *env_self(void);

/* Milliseconds, scaled by $DAT_TEST_SCALE. */
unsigned env_ms(unsigned ms);

/* The same as a DAT_TIMEOUT, in microseconds. */
DAT_TIMEOUT env_us(unsigned ms);

/* full, or quick when $DAT_TEST_QUICK asks for less. */
int env_count(int full, int quick);

/* True under valgrind ($DAT_TEST_VALGRIND), which has descriptors and memory of its own. */
bool env_valgrind(void);

/* True when the adapter is the shared-memory one. */
bool env_is_shm(void);

/*
 * True when the adapter is on an iWARP device. There a message that finds no receive ends the connection, and a send
 * completes when the kernel has taken its bytes.
 */
bool env_is_iwarp(void);

/* Milliseconds of a clock that only goes forward. */
uint64_t now_ms(void);

/*
 * A connection qualifier that nobody else in this run uses: derived from the
 * process id and a counter. Above 16 bits only when wide is true.
 */
DAT_CONN_QUAL unique_qual(bool wide);

#endif
