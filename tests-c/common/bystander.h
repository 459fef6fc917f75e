/*
 * bystander.h - a third process, with which this one exchanges messages all the time, while something
 * else happens to this one.
 */
#ifndef TESTS_C_BYSTANDER_H
#define TESTS_C_BYSTANDER_H

#include "common/fixture.h"

#include <pthread.h>
#include <stdbool.h>

/* The traffic with it. The fields are those of the thread while it runs; read them with the functions. */
struct bystander {
    struct peer p;
    struct side s;
    struct region r;
    pthread_t thread;
    bool stop;
    bool fine;
    unsigned rounds;
    unsigned longest; /* ms that a round took */
};

/* The role "bystander" of the other process. */
int bystander_echo(struct link *up);

/* Starts the process, and a thread that exchanges messages with it from now on. */
void bystander_start(struct bystander *b, struct fx *fx);

/* The rounds so far. */
unsigned bystander_rounds(struct bystander *b);

/* The longest round in ms, since bystander_forget() or the start. */
unsigned bystander_longest(struct bystander *b);
void bystander_forget(struct bystander *b);

/* Ends the thread; b->fine tells whether all rounds went well. */
void bystander_stop(struct bystander *b);

/* Ends the process, which is a subtest. */
void bystander_end(struct bystander *b);

#endif
