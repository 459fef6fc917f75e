/* waiter.h - a thread that blocks in dat_evd_wait() or dat_cno_wait(). */
#ifndef TESTS_C_WAITER_H
#define TESTS_C_WAITER_H

#include "fixture.h"

#include <pthread.h>

struct waiter {
    DAT_EVD_HANDLE evd;
    DAT_CNO_HANDLE cno;
    DAT_TIMEOUT timeout;
    DAT_COUNT threshold;
    pthread_t thread;
    bool joined;
    volatile int done; /* the call has returned */
    /* Valid if `done` is set. */
    DAT_RETURN rc;
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_EVD_HANDLE hint;
    uint64_t elapsed; /* in ms */
};

/*
 * Starts a thread that calls dat_evd_wait() on an empty EVD. Returns when the thread waits, which
 * dat_evd_dequeue() shows by DAT_INVALID_STATE, or when its call has returned.
 */
void waiter_start(struct waiter *w, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold);

/*
 * Starts a thread that calls dat_cno_wait(), and returns just before that call. If the CNO is
 * triggered before the call, it stores the trigger.
 */
void waiter_start_cno(struct waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout);

/* Waits up to ms (scaled) until the thread's call returns. Returns whether it has returned. */
bool waiter_done(struct waiter *w, unsigned ms);

/* Joins the thread. Bails out if the call does not return. */
void waiter_join(struct waiter *w);

#endif
