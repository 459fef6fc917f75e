/* waiting.c - dat_evd_wait: thresholds, timeouts, the single waiter, the end of a wait. */
#define _POSIX_C_SOURCE 200809L
#include "common/waiter.h"

#include <signal.h>
#include <string.h>

static DAT_RETURN post(DAT_EVD_HANDLE evd, uintptr_t n)
{
    DAT_EVENT e;

    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    e.event_data.software_event_data.pointer = (void *)n;
    return dat_evd_post_se(evd, &e);
}

static uintptr_t number(const DAT_EVENT *e)
{
    return (uintptr_t)e->event_data.software_event_data.pointer;
}

static void thresholds(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 16, DAT_EVD_SOFTWARE_FLAG);
    DAT_EVENT e;
    DAT_COUNT more = -7;

    for (uintptr_t i = 0; i < 3; i++)
        must_rc(post(evd, i), DAT_SUCCESS, "dat_evd_post_se");
    is_type(dat_evd_wait(evd, 0, 4, &e, &more), DAT_TIMEOUT_EXPIRED,
            "dat_evd_wait: threshold 4, 3 events, timeout 0: DAT_TIMEOUT_EXPIRED");
    is_int(more, 3, "dat_evd_wait: threshold not met: nmore is the number queued");
    {
        uint64_t start = now_ms();

        more = -7;
        is_type(dat_evd_wait(evd, 50000, 4, &e, &more), DAT_TIMEOUT_EXPIRED,
                "dat_evd_wait: threshold 4, 3 events, 50 ms: DAT_TIMEOUT_EXPIRED");
        ok(now_ms() - start >= 49, "dat_evd_wait: 50 ms: not earlier");
        is_int(more, 3, "dat_evd_wait: timeout: nmore is the number queued");
    }
    must_rc(post(evd, 3), DAT_SUCCESS, "dat_evd_post_se");
    is_success(dat_evd_wait(evd, 0, 4, &e, &more), "dat_evd_wait: threshold 4, 4 events: success");
    is_int((long long)number(&e), 0, "dat_evd_wait: threshold met: the oldest event");
    is_int(more, 3, "dat_evd_wait: threshold met: nmore is what remains");
    is_success(dat_evd_wait(evd, 0, 1, &e, &more), "dat_evd_wait: threshold 1, 3 events: success");
    is_int((long long)number(&e), 1, "dat_evd_wait: the next one");
    is_int(more, 2, "dat_evd_wait: threshold 1: nmore is what remains");
    is_success(dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 2, &e, &more),
               "dat_evd_wait: infinite, threshold met: success");
    is_int(more, 1, "dat_evd_wait: threshold 2: nmore is what remains");
    drain(evd);

    {
        struct waiter w;

        waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 3);
        must_rc(post(evd, 10), DAT_SUCCESS, "dat_evd_post_se");
        must_rc(post(evd, 11), DAT_SUCCESS, "dat_evd_post_se");
        ok(!waiter_done(&w, QUIET_MS), "dat_evd_wait: blocked, threshold 3, 2 events: still blocked");
        {
            DAT_EVD_PARAM p, q;

            dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p);
            is_type(dat_evd_resize(evd, 2), DAT_INVALID_STATE,
                    "dat_evd_resize: below the threshold of a waiter: DAT_INVALID_STATE");
            dat_evd_query(evd, DAT_EVD_FIELD_ALL, &q);
            is_int(q.evd_qlen, p.evd_qlen,
                   "dat_evd_resize: below the threshold of a waiter: the length is unchanged");
            is_success(dat_evd_resize(evd, 3), "dat_evd_resize: to the threshold of a waiter: success");
            ok(!waiter_done(&w, 0), "dat_evd_resize: under a waiter: still blocked");
        }
        must_rc(post(evd, 12), DAT_SUCCESS, "dat_evd_post_se");
        waiter_join(&w);
        is_success(w.rc, "dat_evd_wait: blocked, threshold 3, 3 events: success");
        is_int((long long)number(&w.event), 10, "dat_evd_wait: blocked: the oldest event");
        is_int(w.more, 2, "dat_evd_wait: blocked: nmore is what remains");
        drain(evd);
    }
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void timeouts(struct fx *fx)
{
    static const unsigned ms[] = { 1, 10, 200 };
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
    DAT_EVENT e;
    DAT_COUNT more;
    struct waiter w;

    for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
        uint64_t start = now_ms(), took;

        is_type(dat_evd_wait(evd, ms[i] * 1000, 1, &e, &more), DAT_TIMEOUT_EXPIRED,
                "dat_evd_wait: empty, %u ms: DAT_TIMEOUT_EXPIRED", ms[i]);
        took = now_ms() - start;
        ok(took + 1 >= ms[i] && took <= ms[i] + env_ms(SOON_MS), "dat_evd_wait: %u ms: that long",
           ms[i]);
    }
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    ok(!waiter_done(&w, 300), "dat_evd_wait: infinite: does not end by itself");
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    is_success(w.rc, "dat_evd_wait: infinite: ends with an event");
    /* The largest finite timeout exceeds an hour and must not wrap. */
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE - 1, 1);
    ok(!waiter_done(&w, QUIET_MS), "dat_evd_wait: the largest timeout: does not end at once");
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    is_success(w.rc, "dat_evd_wait: the largest timeout: ends with an event");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void one_waiter(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
    struct waiter w;
    DAT_EVENT e;
    DAT_COUNT more;
    DAT_EVD_PARAM p;
    DAT_RETURN rc;

    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    is_code(dat_evd_wait(evd, 0, 1, &e, &more), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER,
            "dat_evd_wait: another thread waits: DAT_INVALID_STATE");
    is_code(dat_evd_dequeue(evd, &e), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER,
            "dat_evd_dequeue: another thread waits: DAT_INVALID_STATE");
    is_success(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &p),
               "dat_evd_query: another thread waits: success");
    is_success(dat_evd_disable(evd), "dat_evd_disable: another thread waits: success");
    is_success(dat_evd_resize(evd, 100), "dat_evd_resize: another thread waits: success");
    ok(!waiter_done(&w, QUIET_MS), "dat_evd_resize: the waiter goes on waiting");
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    is_success(w.rc, "dat_evd_wait: disabled and resized meanwhile: success");
    is_type(dat_evd_dequeue(evd, &e), DAT_QUEUE_EMPTY,
            "dat_evd_dequeue: nobody waits any more: DAT_QUEUE_EMPTY");

    /* Freeing the EVD of a waiter fails, or ends the wait. */
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    rc = dat_evd_free(evd);
    if (rc == DAT_SUCCESS) {
        waiter_join(&w);
        is_type(w.rc, DAT_ABORT, "dat_evd_free: under a waiter: the wait ends with DAT_ABORT");
    } else {
        is_code(rc, DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER,
                "dat_evd_free: under a waiter: DAT_INVALID_STATE");
        must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
        waiter_join(&w);
        is_success(w.rc, "dat_evd_free: refused: the wait goes on");
        is_success(dat_evd_free(evd), "dat_evd_free: the waiter is gone: success");
    }
}

static void unwaitable(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
    struct waiter w;
    DAT_EVENT e;

    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    is_success(dat_evd_set_unwaitable(evd), "dat_evd_set_unwaitable: under a waiter: success");
    waiter_join(&w);
    is_code(w.rc, DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE,
            "dat_evd_set_unwaitable: under a waiter: its wait ends with DAT_INVALID_STATE");
    must_rc(post(evd, 7), DAT_SUCCESS, "dat_evd_post_se");
    is_success(dat_evd_dequeue(evd, &e), "dat_evd_dequeue: unwaitable: success");
    is_success(dat_evd_clear_unwaitable(evd), "dat_evd_clear_unwaitable: success");
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    must_rc(dat_evd_set_unwaitable(evd), DAT_SUCCESS, "dat_evd_set_unwaitable");
    must_rc(dat_evd_clear_unwaitable(evd), DAT_SUCCESS, "dat_evd_clear_unwaitable");
    waiter_join(&w);
    is_code(w.rc, DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE,
            "dat_evd_set_unwaitable: waitable again at once: the wait ends with DAT_INVALID_STATE");
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    must_rc(post(evd, 8), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    is_success(w.rc, "dat_evd_wait: after dat_evd_clear_unwaitable: success");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void closed(void)
{
    struct fx fx;
    struct waiter w, v;

    fx_open(&fx);
    waiter_start(&w, fx.cr, DAT_TIMEOUT_INFINITE, 1);
    waiter_start(&v, fx.async, DAT_TIMEOUT_INFINITE, 1);
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ia_close: abrupt, under two waiters: success");
    waiter_join(&w);
    waiter_join(&v);
    is_type(w.rc, DAT_ABORT, "dat_ia_close: under a waiter: its wait ends with DAT_ABORT");
    is_type(v.rc, DAT_ABORT,
            "dat_evd_wait: on the asynchronous EVD of an adapter that is closed: DAT_ABORT");
}

static void handler(int signo)
{
    (void)signo;
}

/*
 * A signal without SA_RESTART ends the wait. The test repeats the signal, because it can arrive before the wait.
 */
static void interrupted(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
    struct sigaction act, old;
    struct waiter w;
    uint64_t end = now_ms() + env_ms(SOON_MS);

    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    sigaction(SIGUSR1, &act, &old);
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    while (!waiter_done(&w, 20) && now_ms() < end)
        pthread_kill(w.thread, SIGUSR1);
    if (!waiter_done(&w, 0)) {
        fail("dat_evd_wait: a signal: DAT_INTERRUPTED_CALL");
        post(evd, 1);
        waiter_join(&w);
    } else {
        DAT_EVENT e;

        waiter_join(&w);
        is_type(w.rc, DAT_INTERRUPTED_CALL, "dat_evd_wait: a signal: DAT_INTERRUPTED_CALL");
        must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
        is_success(dat_evd_dequeue(evd, &e), "dat_evd_dequeue: after an interrupted wait: success");
    }
    sigaction(SIGUSR1, &old, NULL);
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void disabled(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_SOFTWARE_FLAG);
    struct waiter w;

    must_rc(dat_evd_disable(evd), DAT_SUCCESS, "dat_evd_disable");
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    must_rc(post(evd, 1), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    is_success(w.rc, "dat_evd_wait: disabled: success");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

/* A thread that dequeues, concurrently with others. The threads must get each event once. */
struct taker {
    DAT_EVD_HANDLE evd;
    unsigned char *seen;
    volatile int *left;
    int twice, out_of_order, errors;
};

static void *take(void *arg)
{
    struct taker *t = arg;
    long last = -1;

    while (__atomic_load_n(t->left, __ATOMIC_SEQ_CST) > 0) {
        DAT_EVENT e;
        DAT_RETURN rc = dat_evd_dequeue(t->evd, &e);

        if (rc == DAT_SUCCESS) {
            long n = (long)number(&e);

            t->twice += __atomic_fetch_add(&t->seen[n], 1, __ATOMIC_SEQ_CST) != 0;
            t->out_of_order += n <= last;
            last = n;
            __atomic_fetch_sub(t->left, 1, __ATOMIC_SEQ_CST);
        } else if (rc_is(rc, DAT_QUEUE_EMPTY)) {
            breathe();
        } else {
            t->errors++;
            break;
        }
    }
    return NULL;
}

static void concurrent(struct fx *fx)
{
    enum { THREADS = 3 };
    static unsigned char seen[20000];
    int events = env_count(20000, 2000);
    volatile int left = events;
    uint64_t end;
    DAT_EVD_HANDLE evd = fx_evd(fx, 64, DAT_EVD_SOFTWARE_FLAG);
    pthread_t thread[THREADS];
    struct taker t[THREADS];
    int twice = 0, disorder = 0, errors = 0, missing = 0;

    for (int i = 0; i < THREADS; i++) {
        memset(&t[i], 0, sizeof t[i]);
        t[i].evd = evd;
        t[i].seen = seen;
        t[i].left = &left;
        must(pthread_create(&thread[i], NULL, take, &t[i]) == 0, "no thread");
    }
    for (int i = 0; i < events;) {
        DAT_RETURN rc = post(evd, (uintptr_t)i);

        if (rc == DAT_SUCCESS)
            i++;
        else if (rc_is(rc, DAT_QUEUE_FULL))
            breathe();
        else
            must_rc(rc, DAT_SUCCESS, "dat_evd_post_se");
    }
    end = now_ms() + env_ms(SOON_MS);
    while (__atomic_load_n(&left, __ATOMIC_SEQ_CST) > 0 && now_ms() < end)
        breathe();
    __atomic_store_n(&left, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        twice += t[i].twice;
        disorder += t[i].out_of_order;
        errors += t[i].errors;
    }
    for (int i = 0; i < events; i++)
        missing += seen[i] == 0;
    is_int(missing, 0, "dat_evd_dequeue: three threads: no event is lost");
    is_int(twice, 0, "dat_evd_dequeue: three threads: no event comes twice");
    is_int(disorder, 0, "dat_evd_dequeue: three threads: each sees them in order");
    is_int(errors, 0, "dat_evd_dequeue: three threads: no error");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

static void other_streams(struct fx *fx)
{
    struct pair p;
    struct region r;
    struct waiter w;

    region_make(fx, &r, 128, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    must_rc(post_recv(&p.b, &r, 0, 64, 77), DAT_SUCCESS, "dat_ep_post_recv");
    waiter_start(&w, p.b.recv, DAT_TIMEOUT_INFINITE, 1);
    must_rc(post_send(&p.a, &r, 64, 64, 78), DAT_SUCCESS, "dat_ep_post_send");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_number == DAT_DTO_COMPLETION_EVENT &&
           w.event.event_data.dto_completion_event_data.user_cookie.as_64 == 77,
       "dat_evd_wait: blocked: a message wakes it");
    waiter_start(&w, p.b.conn, DAT_TIMEOUT_INFINITE, 1);
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED,
       "dat_evd_wait: blocked: DISCONNECTED wakes it");
    pair_close(&p);

    {
        struct side caller;
        DAT_CONN_QUAL qual;
        DAT_PSP_HANDLE psp = fx_listen(fx, &qual);

        side_make(&caller, fx, NULL);
        waiter_start(&w, fx->cr, DAT_TIMEOUT_INFINITE, 1);
        must_rc(side_connect(&caller, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        waiter_join(&w);
        ok(w.rc == DAT_SUCCESS && w.event.event_number == DAT_CONNECTION_REQUEST_EVENT,
           "dat_evd_wait: blocked: a connection request wakes it");
        side_free(&caller);
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    }
    pair_open(&p, fx, NULL);
    for (unsigned i = 0; i < 8; i++)
        must_rc(post_recv(&p.b, &r, 0, 8, i), DAT_SUCCESS, "dat_ep_post_recv");
    waiter_start(&w, p.b.recv, DAT_TIMEOUT_INFINITE, 8);
    for (unsigned i = 0; i < 7; i++)
        must_rc(post_send(&p.a, &r, 64, 8, i), DAT_SUCCESS, "dat_ep_post_send");
    must(drain_dtos(p.a.req, 7) == 7, "sends do not complete");
    ok(!waiter_done(&w, QUIET_MS), "dat_evd_wait: threshold 8, 7 messages: still blocked");
    must_rc(post_send(&p.a, &r, 64, 8, 7), DAT_SUCCESS, "dat_ep_post_send");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_data.dto_completion_event_data.user_cookie.as_64 == 0 &&
           w.more == 7,
       "dat_evd_wait: threshold 8, 8 messages: the oldest, 7 more");
    pair_close(&p);
    region_free(&r);
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    thresholds(&fx);
    timeouts(&fx);
    one_waiter(&fx);
    unwaitable(&fx);
    disabled(&fx);
    closed();
    interrupted(&fx);
    concurrent(&fx);
    other_streams(&fx);
    fx_close(&fx);
    return done_testing();
}
