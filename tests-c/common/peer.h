/*
 * peer.h - a second process that runs a role of the same test program.
 *
 * fork and exec start the program again. Two pipes transfer whole messages, with deadlines. The kernel
 * kills the second process when the first one ends.
 *
 * If $DAT_TEST_PEERS is set, the second process runs the program of the same name, such as
 * flow/messages, from that directory. Its programs are compiled for the other version of uDAPL.
 */
#ifndef TESTS_C_PEER_H
#define TESTS_C_PEER_H

#include "tap.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct link {
    int in;
    int out;
};

/* A role of the second process. run() returns the exit status. */
struct peer_role {
    const char *name;
    int (*run)(struct link *up);
};

struct peer {
    pid_t pid; /* 0 if there is no process */
    struct link link;
    char role[32];
};

/* Starts a process in this role. Bails out if no process can be created. */
void peer_start(struct peer *p, const char *role);

/*
 * Waits for the process. Returns its exit status, 128 + n for signal n, or -1 after the deadline or
 * if there is no process.
 */
int peer_join(struct peer *p, unsigned ms);

/*
 * Checks as a subtest that the process exits with status 0 within SOON_MS (scaled). Kills it after
 * that time.
 */
bool peer_ok(struct peer *p, const char *fmt, ...) TAP_PRINTF(2, 3);

void peer_kill(struct peer *p);

/* Kills and reaps all second processes. */
void peer_end_all(void);

/* Runs the role that argv names. env_init() calls it. */
void peer_enter(int argc, char **argv, const struct peer_role *roles) TAP_NORETURN;

/* Sends one message. Returns false if the other process has exited. */
bool link_send(struct link *l, const void *data, size_t size);

/*
 * Receives one message. Returns false after the deadline, for another size, or if the other process
 * has exited. A deadline of SOON_MS or more is 3 times as long in the first process, and 30 times
 * in a second one.
 */
bool link_recv(struct link *l, void *data, size_t size, unsigned ms);

/*
 * Synchronize two processes between two steps: link_say() sends a word, link_hear() waits for it.
 * link_hear() returns false after SOON_MS, for another word, or if the other process has exited.
 */
bool link_say(struct link *l, const char *word);
bool link_hear(struct link *l, const char *word);

#define LINK_SEND(l, object) link_send((l), &(object), sizeof(object))
#define LINK_RECV(l, object) link_recv((l), &(object), sizeof(object), SOON_MS)

/*
 * Require a condition, or a type of a return code. On failure, the first process bails out, and a
 * second one exits with 1.
 */
void must(bool cond, const char *fmt, ...) TAP_PRINTF(2, 3);
void must_rc(DAT_RETURN rc, DAT_UINT32 type, const char *fmt, ...) TAP_PRINTF(3, 4);

/* Returns whether this process is a second process. */
bool peer_is_one(void);

/* Prints a diagnostic: to standard error in a second process, which has no TAP stream. */
#define REMARK(...)                                  \
    do {                                             \
        if (peer_is_one()) {                         \
            fprintf(stderr, "# peer: " __VA_ARGS__); \
            fputc('\n', stderr);                     \
        } else {                                     \
            diag(__VA_ARGS__);                       \
        }                                            \
    } while (0)

#endif
