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
    /* Valid if done. */
    DAT_RETURN rc;
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_EVD_HANDLE hint;
    uint64_t elapsed; /* in ms */
};

/*
 * Starts dat_evd_wait() on an empty EVD, and returns when the thread waits: then dat_evd_dequeue()
 * returns DAT_INVALID_STATE.
 */
void waiter_start(struct waiter *w, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold);

/* Starts dat_cno_wait(), and returns just before the call. The CNO stores an earlier trigger. */
void waiter_start_cno(struct waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout);

/* Waits up to ms for the call. Returns whether it has returned. */
bool waiter_done(struct waiter *w, unsigned ms);

/* Joins the thread. Bails out if the call does not return. */
void waiter_join(struct waiter *w);

#endif
