/*
 * waiter.h - a thread that blocks in dat_evd_wait() or dat_cno_wait().
 */
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
    /* Valid once done. */
    DAT_RETURN rc;
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_EVD_HANDLE hint;
    uint64_t elapsed; /* ms */
};

/*
 * Starts dat_evd_wait() in a thread and returns when it is inside: that shows
 * in dat_evd_dequeue(), which answers DAT_INVALID_STATE then. The EVD is empty.
 */
void waiter_start(struct waiter *w, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold);

/*
 * Starts dat_cno_wait() in a thread and returns when it is about to call; a
 * trigger that comes first is remembered by the CNO.
 */
void waiter_start_cno(struct waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout);

/* True when the call has returned, waiting up to ms for it. */
bool waiter_done(struct waiter *w, unsigned ms);

/* Joins the thread; bails out when it does not come. */
void waiter_join(struct waiter *w);

#endif
