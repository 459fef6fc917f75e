/*
 * shared.c - threads that use the same objects concurrently.
 *
 * They post, dequeue, wait, change, connect and disconnect, while threads receive signals and are cancelled. In the end
 * no object is locked, and each message and completion has been counted once.
 *
 *   DAT_TEST_SECONDS=N   duration, default 3
 */
#define _GNU_SOURCE
#include "common/usage.h"
#include "srq/srq_common.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POSTERS = 3, TAKERS = 2, WAITERS = 2, SLEEPERS = 3, CHANGERS = 2, CALLERS = 2, BUFFERS = 64, SIZE = 256 };
enum { DEPTH = 48 };

static struct fx fx;
static struct srq pool;
static struct side a, b; /* a sends to b, which receives from the pool */
static struct side c, d; /* these connect and disconnect */
static DAT_CNO_HANDLE cno;
static DAT_EVD_HANDLE idle;   /* has no events, triggers the CNO */
static DAT_CONN_QUAL qual;
static struct region out;

static int running;
static long posted, completed, filled, received, refused, faults, cancelled, signals, cycles;

static void add(long *what, long n)
{
    __atomic_fetch_add(what, n, __ATOMIC_SEQ_CST);
}

static long get(long *what)
{
    return __atomic_load_n(what, __ATOMIC_SEQ_CST);
}

static bool is_running(void)
{
    return __atomic_load_n(&running, __ATOMIC_SEQ_CST) != 0;
}

static unsigned chance(unsigned *seed, unsigned n)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % n;
}

static char first_fault[128];

/* Counts an error. Does not print it, because printing is a cancellation point. */
static void fault(const char *what, DAT_RETURN rc)
{
    if (__atomic_fetch_add(&faults, 1, __ATOMIC_SEQ_CST) == 0)
        snprintf(first_fault, sizeof first_fault, "%s: %s", what, rc_text(rc));
}

/* ---- Traffic ---- */

/* Returns whether to send a message: on iWARP, only if each thread that may send one now has a buffer. */
static bool has_buffer(void)
{
    return !env_is_iwarp() || get(&posted) + POSTERS <= get(&filled);
}

static void *poster(void *arg)
{
    unsigned seed = 1 + (unsigned)(uintptr_t)arg;

    while (is_running()) {
        DAT_LMR_TRIPLET t = segment(&out, 0, 1 + chance(&seed, SIZE));
        DAT_RETURN rc;

        if (get(&posted) - get(&completed) >= DEPTH || !has_buffer()) {
            breathe();
            continue;
        }
        rc = dat_ep_post_send(a.ep, 1, &t, cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
        if (rc == DAT_SUCCESS)
            add(&posted, 1);
        else if (rc_is(rc, DAT_INSUFFICIENT_RESOURCES))
            add(&refused, 1);
        else
            fault("dat_ep_post_send", rc);
    }
    return NULL;
}

static void count(const DAT_EVENT *e, long *what)
{
    if (e->event_number != DAT_DTO_COMPLETION_EVENT ||
        e->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
        fault("a completion that is none", DAT_SUCCESS);
    add(what, 1);
}

/* Posts buffers again, up to a number that fits the smallest size of the queue. */
static void fill(void)
{
    while (get(&filled) - get(&received) < BUFFERS - POSTERS - TAKERS - WAITERS) {
        DAT_LMR_TRIPLET t = segment(&pool.mem, 0, SIZE);
        DAT_RETURN rc = dat_srq_post_recv(pool.handle, 1, &t, cookie(2));

        if (rc != DAT_SUCCESS) {
            if (!rc_is(rc, DAT_INSUFFICIENT_RESOURCES))
                fault("dat_srq_post_recv", rc);
            return;
        }
        add(&filled, 1);
    }
}

static void take(void)
{
    DAT_EVENT e;

    while (dat_evd_dequeue(a.req, &e) == DAT_SUCCESS)
        count(&e, &completed);
    while (dat_evd_dequeue(b.recv, &e) == DAT_SUCCESS)
        count(&e, &received);
}

static void *taker(void *arg)
{
    (void)arg;
    while (is_running()) {
        take();
        fill();
        breathe();
    }
    return NULL;
}

/* Takes completions by dat_evd_wait until main cancels the thread. A wait that is cancelled has dequeued no event. */
static void *waiter(void *arg)
{
    DAT_EVD_HANDLE evd = (uintptr_t)arg % 2 ? a.req : b.recv;

    for (;;) {
        DAT_EVENT e;
        DAT_COUNT more;
        DAT_RETURN rc = dat_evd_wait(evd, 3000, 1, &e, &more);

        if (rc == DAT_SUCCESS)
            count(&e, evd == a.req ? &completed : &received);
        else if (!rc_is(rc, DAT_TIMEOUT_EXPIRED) && !rc_is(rc, DAT_INVALID_STATE) &&
                 !rc_is(rc, DAT_INTERRUPTED_CALL))
            fault("dat_evd_wait", rc);
        pthread_testcancel();
    }
    return NULL;
}

/* Sleeps on the CNO and on `idle` in turn, until main cancels the thread. */
static void *sleeper(void *arg)
{
    unsigned turn = (unsigned)(uintptr_t)arg;

    for (;; turn++) {
        DAT_EVENT e;
        DAT_EVD_HANDLE which;
        DAT_COUNT more;

        if (turn % 2 == 0)
            dat_cno_wait(cno, 2000, &which);
        else
            dat_evd_wait(idle, 2000, 1, &e, &more);
        pthread_testcancel();
    }
    return NULL;
}

/* ---- Changes ---- */

static void *changer(void *arg)
{
    unsigned seed = 77 + (unsigned)(uintptr_t)arg;

    while (is_running()) {
        DAT_SRQ_PARAM srq;
        DAT_EVD_PARAM evd;
        DAT_EP_PARAM ep;
        DAT_EVENT e;
        DAT_RETURN rc = DAT_SUCCESS;
        const char *what = "";

        switch (chance(&seed, 6)) {
        case 0: rc = dat_srq_resize(pool.handle, BUFFERS + (DAT_COUNT)chance(&seed, 64)); what = "resize"; break;
        case 1: rc = dat_srq_set_lw(pool.handle, (DAT_COUNT)chance(&seed, 16)); what = "set_lw"; break;
        case 2: rc = dat_evd_resize(b.recv, 2 * BUFFERS + (DAT_COUNT)chance(&seed, 64)); what = "evd_resize"; break;
        case 3: rc = dat_srq_query(pool.handle, DAT_SRQ_FIELD_ALL, &srq); what = "srq_query"; break;
        case 4: rc = dat_evd_query(a.req, DAT_EVD_FIELD_ALL, &evd); what = "evd_query"; break;
        default: rc = dat_ep_query(b.ep, DAT_EP_FIELD_ALL, &ep); what = "ep_query"; break;
        }
            /* A resize can find more buffers or events than the new size permits. */
        if (rc != DAT_SUCCESS && !rc_is(rc, DAT_INVALID_STATE))
            fault(what, rc);
        while (dat_evd_dequeue(fx.async, &e) == DAT_SUCCESS)
            if (e.event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW)
                fault("an EVD overflows", DAT_SUCCESS);
        breathe();
    }
    return NULL;
}

/*
 * Runs in two threads: connects, disconnects, resets and modifies c. Each call returns a code that some state
 * permits.
 */
static void *caller(void *arg)
{
    unsigned seed = 5 + (unsigned)(uintptr_t)arg;

    while (is_running()) {
        DAT_EVENT e;
        DAT_RETURN rc;

        switch (chance(&seed, 5)) {
        case 0:
        case 1:
            rc = dat_ep_connect(c.ep, fx_address(&fx), qual, env_us(2000), 0, NULL, DAT_QOS_BEST_EFFORT,
                                DAT_CONNECT_DEFAULT_FLAG);
            if (rc == DAT_SUCCESS)
                add(&cycles, 1);
            break;
        case 2:
            rc = dat_ep_disconnect(c.ep, chance(&seed, 2) ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG);
            break;
        case 3: rc = dat_ep_reset(c.ep); break;
        default: {
            DAT_EP_PARAM param;

            memset(&param, 0, sizeof param);
            param.ep_attr.max_request_dtos = 8 + (DAT_COUNT)chance(&seed, 8);
            rc = dat_ep_modify(c.ep, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param);
        }
        }
        if (rc != DAT_SUCCESS && !rc_is(rc, DAT_INVALID_STATE))
            fault("an endpoint that two threads connect and disconnect", rc);
        while (dat_evd_dequeue(c.conn, &e) == DAT_SUCCESS || dat_evd_dequeue(d.conn, &e) == DAT_SUCCESS)
            ;
            /* Accept a request if there is one. */
        if (dat_evd_dequeue(fx.cr, &e) == DAT_SUCCESS) {
            DAT_CR_HANDLE cr = e.event_data.cr_arrival_event_data.cr_handle;

            if (dat_cr_accept(cr, d.ep, 0, NULL) != DAT_SUCCESS)
                dat_cr_reject(cr);
        }
        if (ep_state(d.ep) == DAT_EP_STATE_DISCONNECTED)
            dat_ep_reset(d.ep);
        breathe();
    }
    return NULL;
}

/* ---- Signals ---- */

static void handler(int number)
{
    (void)number;
    add(&signals, 1);
}

enum { THREADS = POSTERS + TAKERS + WAITERS + SLEEPERS + CHANGERS + CALLERS };

static struct {
    pthread_t thread;
    void *(*run)(void *);
    uintptr_t arg;
    bool cancel;
} thread[THREADS];

static void start(int i)
{
    must(pthread_create(&thread[i].thread, NULL, thread[i].run, (void *)thread[i].arg) == 0, "no thread");
}

static void stop(int i)
{
    if (thread[i].cancel)
        pthread_cancel(thread[i].thread);
    must(pthread_join(thread[i].thread, NULL) == 0, "pthread_join");
    if (thread[i].cancel)
        add(&cancelled, 1);
}

static void many(int n, void *(*run)(void *), bool cancel)
{
    static int i;

    for (int k = 0; k < n; k++, i++) {
        thread[i].run = run;
        thread[i].arg = (uintptr_t)k;
        thread[i].cancel = cancel;
    }
}

/* Returns whether each send has completed and been received. Posts buffers, because the threads for this have ended. */
static bool all_back(void *arg)
{
    (void)arg;
    take();
    fill();
    return get(&completed) == get(&posted) && get(&received) == get(&posted);
}

static bool is_enough(void)
{
    return get(&posted) > 5 && get(&cancelled) > 5 && get(&signals) > 20 && get(&cycles) > 0;
}

int main(int argc, char **argv)
{
    const char *given = getenv("DAT_TEST_SECONDS");
    struct sigaction act;
    DAT_EP_ATTR attr;
    DAT_PSP_HANDLE psp;
    DAT_SRQ_PARAM books;
    uint64_t end;
    unsigned seed = 3;

    env_init(argc, argv, NULL);
    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &act, NULL);
    act.sa_flags = 0;
    sigaction(SIGUSR2, &act, NULL);

    fx_open(&fx);
    psp = fx_listen(&fx, &qual);
    srq_open(&pool, &fx, BUFFERS, BUFFERS, SIZE);
    region_make(&fx, &out, SIZE, MEM_LOCAL);
    attr_default(&attr);
    attr.max_request_dtos = DEPTH + POSTERS;
    side_make(&a, &fx, &attr);
    side_make_srq(&b, &fx, pool.handle, &attr);
    must_rc(dat_evd_resize(a.req, 4 * DEPTH), DAT_SUCCESS, "dat_evd_resize");
    must_rc(dat_evd_resize(b.recv, 2 * BUFFERS), DAT_SUCCESS, "dat_evd_resize");
    sides_connect(&a, &b);
    side_make(&c, &fx, NULL);
    side_make(&d, &fx, NULL);
    must_rc(dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_evd_create(fx.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &idle), DAT_SUCCESS, "dat_evd_create");
    fill();

    many(POSTERS, poster, false);
    many(TAKERS, taker, false);
    many(CHANGERS, changer, false);
    many(CALLERS, caller, false);
    many(WAITERS, waiter, true);
    many(SLEEPERS, sleeper, true);
    __atomic_store_n(&running, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < THREADS; i++)
        start(i);
    end = now_ms() + (given != NULL ? strtoul(given, NULL, 0) * 1000 : (unsigned)env_count(3000, 1000));
    /* On a slow machine, continue until every kind of call has run. */
    while (now_ms() < end || (!is_enough() && now_ms() < end + env_ms(SOON_MS))) {
        for (int k = 0; k < 8; k++)
            pthread_kill(thread[chance(&seed, THREADS)].thread, chance(&seed, 2) ? SIGUSR1 : SIGUSR2);
        if (chance(&seed, 4) == 0) {
            int i = THREADS - 1 - (int)chance(&seed, WAITERS + SLEEPERS);

            stop(i);
            start(i);
        }
        breathe();
    }
    __atomic_store_n(&running, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < THREADS; i++)
        stop(i);
    diag("%ld messages, %ld threads cancelled, %ld signals, %ld connects, %ld posts refused", get(&posted),
         get(&cancelled), get(&signals), get(&cycles), get(&refused));
    wait_until(all_back, NULL, SOON_MS);
    is_int(get(&completed), get(&posted), "threads on shared handles: each request completes once");
    is_int(get(&received), get(&posted), "threads on shared handles: each message is received once");
    is_int(get(&faults), 0, "threads on shared handles: every call answers as it may");
    if (get(&faults) > 0)
        diag("%s", first_fault);
    ok(is_enough(), "threads on shared handles: they did much");
    books = srq_param(pool.handle);
    is_int(books.outstanding_dto_count, get(&filled) - get(&received),
           "threads on shared handles: the books of the shared receive queue are right");
    side_free(&c);
    side_free(&d);
    side_free(&a);
    side_free(&b);
    is_success(dat_evd_free(idle), "threads on shared handles: dat_evd_free: success");
    is_success(dat_cno_free(cno), "threads on shared handles: dat_cno_free: success");
    is_success(dat_psp_free(psp), "threads on shared handles: dat_psp_free: success");
    region_free(&out);
    srq_close(&pool);
    fx_close(&fx);
    {
        struct pair p;

        fx_open(&fx);
        pair_open(&p, &fx, NULL);
        ok(sides_talk(&p.a, &p.b), "threads on shared handles: afterwards a connection works");
        pair_close(&p);
        fx_close(&fx);
    }
    return done_testing();
}
