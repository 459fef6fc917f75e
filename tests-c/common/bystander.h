/* bystander.h - a third process that constantly exchanges messages with this one during a test. */
#ifndef TESTS_C_BYSTANDER_H
#define TESTS_C_BYSTANDER_H

#include "common/fixture.h"

#include <pthread.h>
#include <stdbool.h>

/* While the thread runs, use the functions to read `rounds` and `longest`. */
struct bystander {
    struct peer p;
    struct side s;
    struct region r;
    pthread_t thread;
    bool stop;
    bool fine;
    unsigned rounds;
    unsigned longest; /* longest round, in ms */
};

int bystander_echo(struct link *up);

/* Starts the process, and a thread that exchanges messages with it. */
void bystander_start(struct bystander *b, struct fx *fx);

unsigned bystander_rounds(struct bystander *b);

/* Returns the longest round in ms since bystander_start() or the last bystander_forget(). */
unsigned bystander_longest(struct bystander *b);
void bystander_forget(struct bystander *b);

/* Ends the thread. b->fine is true if all rounds succeeded. */
void bystander_stop(struct bystander *b);

/* Ends the process, and checks as a subtest that it exits with status 0. */
void bystander_end(struct bystander *b);

#endif
