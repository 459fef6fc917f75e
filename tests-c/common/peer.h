/*
 * peer.h - a second process that plays a role of the same test program.
 *
 * The second process is made by fork and exec of the program itself with the
 * name of a role; it shares nothing with the first but two pipes. Messages on
 * them are whole (length first) and every receive has a deadline. A process
 * started here does not outlive the one that started it.
 *
 * If $DAT_TEST_PEERS names a directory, the second process is the program of the same
 * name there, which was built for the other version of uDAPL.
 */
#ifndef TESTS_C_PEER_H
#define TESTS_C_PEER_H

#include "tap.h"

#include <stddef.h>
#include <sys/types.h>

/* The two pipes, seen from one end. */
struct link {
    int in;
    int out;
};

/* A part that a second process can play. The result is its exit status. */
struct peer_role {
    const char *name;
    int (*run)(struct link *up);
};

struct peer {
    pid_t pid; /* 0 when there is none */
    struct link link;
    char role[32];
};

/* Starts a process in that role. Bails out when that is not possible. */
void peer_start(struct peer *p, const char *role);

/* Waits for its end. Returns its exit status, 128 + n for signal n, -1 at the deadline. */
int peer_join(struct peer *p, unsigned ms);

/* A subtest: the process ended with status 0 in time. */
bool peer_ok(struct peer *p, const char *fmt, ...) TAP_PRINTF(2, 3);

/* Sends SIGKILL and reaps. */
void peer_kill(struct peer *p);

/* Kills and reaps whatever is still there. done_testing() and bail() do it. */
void peer_end_all(void);

/* Runs the role named in argv and exits; env_init() calls it. */
void peer_enter(int argc, char **argv, const struct peer_role *roles) TAP_NORETURN;

/* Sends one message. False when the other end is gone. */
bool link_send(struct link *l, const void *data, size_t size);

/*
 * Receives one message of exactly that size. False at the deadline, the end, another size. A deadline of SOON_MS or more is
 * three times as long in the first process, and thirty times in a second one, which may have little to do for minutes.
 */
bool link_recv(struct link *l, void *data, size_t size, unsigned ms);

/* Messages that are a word: used as a barrier between two steps. */
bool link_say(struct link *l, const char *word);
bool link_hear(struct link *l, const char *word); /* as LINK_RECV */

#define LINK_SEND(l, object) link_send((l), &(object), sizeof(object))
#define LINK_RECV(l, object) link_recv((l), &(object), sizeof(object), SOON_MS)

/* In a role: what must be true; otherwise a message on standard error and exit 1. */
void must(bool cond, const char *fmt, ...) TAP_PRINTF(2, 3);
void must_rc(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...) TAP_PRINTF(3, 4);

/* True in a process that was started as a peer. */
bool peer_is_one(void);

#endif
