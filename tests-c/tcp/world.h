/*
 * world.h - two hosts and the wire between them: two network namespaces, each with an interface w0, and a process that
 * carries the frames of one to the other. It can lose, delay and refuse some of them, or be cut.
 *
 * The program is on the near host, 10.99.0.1 and fd99::1; a peer that calls world_enter() is on the far one, 10.99.0.2
 * and fd99::2. Nobody else is on the wire.
 */
#ifndef TESTS_C_WORLD_H
#define TESTS_C_WORLD_H

#include "common/fixture.h"

#define NEAR "10.99.0.1"
#define FAR "10.99.0.2"

/* What the process does with frames; both look at it. */
struct wire {
    volatile int cut;      /* none arrives */
    volatile int delay_us; /* each takes that long */
    volatile int lost;     /* of each 1000, so many get lost */
    volatile int port;     /* if not 0, a firewall: TCP goes to this port of the far host, and back, alone */
    volatile unsigned carried, dropped, refused;
};

/*
 * Makes both. To be called first: this process moves, and the adapter of env_ia() is "wire" from then on; "near6" and
 * "far6" are those of IPv6. Skips the program where that is not possible.
 */
struct wire *world_make(int argc, char **argv, const struct peer_role *roles);

/* Goes over to the far host, before anything of libdat. */
void world_enter(void);

/* Sets a number of the kernel's for the network of this host, such as "net/ipv4/tcp_retries2". */
void world_set(const char *name, const char *value);

#endif
