#define _POSIX_C_SOURCE 200809L
#include "waiter.h"

#include <string.h>
#include <time.h>

static volatile int about_to_call;

static void *body(void *arg)
{
    struct waiter *w = arg;
    uint64_t start = now_ms();

    __atomic_store_n(&about_to_call, 1, __ATOMIC_SEQ_CST);
    if (w->evd != DAT_HANDLE_NULL)
        w->rc = dat_evd_wait(w->evd, w->timeout, w->threshold, &w->event, &w->more);
    else
        w->rc = dat_cno_wait(w->cno, w->timeout, &w->hint);
    w->elapsed = now_ms() - start;
    __atomic_store_n(&w->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void start(struct waiter *w)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);

    __atomic_store_n(&about_to_call, 0, __ATOMIC_SEQ_CST);
    must(pthread_create(&w->thread, NULL, body, w) == 0, "no thread");
    while (!__atomic_load_n(&about_to_call, __ATOMIC_SEQ_CST)) {
        must(now_ms() < end, "the thread does not start");
        breathe();
    }
}

void waiter_start(struct waiter *w, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    DAT_EVENT event;
    DAT_RETURN rc;

    memset(w, 0, sizeof *w);
    w->evd = evd;
    w->timeout = timeout;
    w->threshold = threshold;
    w->more = -7;
    start(w);
    while (!rc_is(rc = dat_evd_dequeue(evd, &event), DAT_INVALID_STATE) && !waiter_done(w, 0)) {
        must(rc_is(rc, DAT_QUEUE_EMPTY), "dat_evd_dequeue while another thread begins to wait: %s",
             rc_text(rc));
        must(now_ms() < end, "dat_evd_dequeue never shows the waiter");
        breathe();
    }
}

void waiter_start_cno(struct waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout)
{
    memset(w, 0, sizeof *w);
    w->cno = cno;
    w->timeout = timeout;
    w->hint = UNTOUCHED;
    start(w);
}

bool waiter_done(struct waiter *w, unsigned ms)
{
    uint64_t end = now_ms() + env_ms(ms);

    while (!__atomic_load_n(&w->done, __ATOMIC_SEQ_CST)) {
        struct timespec tick = { 0, 1000000 };

        if (now_ms() >= end)
            return false;
        nanosleep(&tick, NULL);
    }
    return true;
}

void waiter_join(struct waiter *w)
{
    if (w->joined)
        return;
    must(waiter_done(w, SOON_MS), "the wait of a thread does not return");
    pthread_join(w->thread, NULL);
    w->joined = true;
}
