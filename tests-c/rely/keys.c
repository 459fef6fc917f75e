/*
 * keys.c - a program has created all keys of pthread_key_create(). The library needs no key, in old and
 * new threads.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/waiter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t taken;

static int take_all_keys(void)
{
    pthread_key_t key;
    int n = 0;

    while (pthread_key_create(&key, NULL) == 0)
        n++;
    return n;
}

static void on_trigger(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    (void)evd;
    __atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
}

/* Uses the library, also in other threads. Returns the number of successful steps. */
static int whole_life(void)
{
    DAT_OS_WAIT_PROXY_AGENT agent;
    DAT_CNO_HANDLE cno, plain;
    DAT_EVD_HANDLE evd, hint;
    struct region r;
    struct pair p;
    struct fx fx;
    struct waiter w;
    DAT_EVENT e;
    void *ended;
    uint64_t end;
    int calls = 0, right = 0;

    fx_open(&fx);
    region_make(&fx, &r, 65536, DAT_MEM_PRIV_ALL_FLAG);
    pair_open(&p, &fx, NULL);
    right += sides_talk(&p.a, &p.b);
    must_rc(post_recv(&p.b, &r, 32768, 32768, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &r, 0, 32768, 2), DAT_SUCCESS, "dat_ep_post_send");
    right += wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL);
    right += wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL);

    /* Waits in this thread and in two other threads, of which the second is cancelled. */
    evd = fx_evd(&fx, 8, DAT_EVD_SOFTWARE_FLAG);
    right += !wait_event_ms(evd, 20, &e);
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    must_rc(dat_evd_post_se(evd, &e), DAT_SUCCESS, "dat_evd_post_se");
    waiter_join(&w);
    right += w.rc == DAT_SUCCESS;
    waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
    right += pthread_cancel(w.thread) == 0 && pthread_join(w.thread, &ended) == 0 &&
             ended == PTHREAD_CANCELED && rc_is(dat_evd_dequeue(evd, &e), DAT_QUEUE_EMPTY);

    agent.instance_data = &calls;
    agent.proxy_agent_func = on_trigger;
    must_rc(dat_cno_create(fx.ia, agent, &cno), DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &plain), DAT_SUCCESS,
            "dat_cno_create");
    right += rc_is(dat_cno_wait(plain, 20000, &hint), DAT_QUEUE_EMPTY);
    must_rc(dat_evd_modify_cno(evd, cno), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_evd_post_se(evd, &e), DAT_SUCCESS, "dat_evd_post_se");
    for (end = now_ms() + env_ms(SOON_MS);
         __atomic_load_n(&calls, __ATOMIC_SEQ_CST) == 0 && now_ms() < end;)
        dat_cno_wait(plain, 1000, &hint);
    right += calls == 1;

    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    right += wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    right += wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    pair_close(&p);
    region_free(&r);
    fx_close(&fx);
    return right;
}

enum { STEPS = 10 };

static void *early(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&taken);
    return (void *)(intptr_t)whole_life();
}

static void *late(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)whole_life();
}

int main(int argc, char **argv)
{
    enum { THREADS = 4 };
    pthread_t before[THREADS], after[THREADS];
    void *right;
    pthread_key_t one_more;

    env_init(argc, argv, NULL);
    must(pthread_barrier_init(&taken, NULL, THREADS + 1) == 0, "pthread_barrier_init");
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&before[i], NULL, early, NULL) == 0, "pthread_create");
    diag("%d keys taken", take_all_keys());
    ok(pthread_key_create(&one_more, NULL) != 0, "no key is left");
    pthread_barrier_wait(&taken);
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&after[i], NULL, late, NULL) == 0, "pthread_create");
    is_int(whole_life(), STEPS, "all keys taken: the main thread: everything works");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(before[i], &right);
        is_int((intptr_t)right, STEPS, "all keys taken: a thread from before: everything works");
        pthread_join(after[i], &right);
        is_int((intptr_t)right, STEPS, "all keys taken: a thread from afterwards: everything works");
    }
    is_int(whole_life(), STEPS, "all keys taken: once more: everything works");
    return done_testing();
}
