/*
 * world.h - two hosts and a wire: two network namespaces, each with an interface w0, and a process that forwards their
 * frames. This process can drop, delay or filter frames.
 *
 * The program runs on the near host, 10.99.0.1 and fd99::1. A peer that calls world_enter() runs on the far host,
 * 10.99.0.2 and fd99::2.
 */
#ifndef TESTS_C_WORLD_H
#define TESTS_C_WORLD_H

#include "common/fixture.h"

#define NEAR "10.99.0.1"
#define FAR "10.99.0.2"

/* Settings and counters of the forwarding process, in shared memory. */
struct wire {
    volatile int cut;      /* 1: drops all frames */
    volatile int delay_us; /* delay of each frame */
    volatile int lost;     /* dropped frames of 1000 */
    volatile int port;     /* 0, or the only TCP port of the far host that the firewall permits */
    volatile unsigned carried, dropped, refused;
};

/*
 * Creates the hosts and the wire, and moves this process to the near host. Call it first. env_ia() is then "wire"; the
 * adapters "near6" and "far6" use IPv6. Skips the program if the system does not permit this.
 */
struct wire *world_make(int argc, char **argv, const struct peer_role *roles);

/* Moves this process to the far host. Call it before any dat_ function. */
void world_enter(void);

/* Sets a kernel parameter of this host's network, such as "net/ipv4/tcp_retries2". */
void world_set(const char *name, const char *value);

#endif
