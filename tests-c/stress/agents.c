/*
 * agents.c - dat_cno_modify_agent during agent calls, and dat_evd_modify_cno in two threads.
 *
 * After the replacement of an agent the library no longer calls it. An EVD triggers the CNO of its last change.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Instance data of an agent. replaced is set after the agent's replacement has returned. */
struct data {
    unsigned replaced;
};

static unsigned calls, late;

static void agent(DAT_PVOID instance_data, DAT_EVD_HANDLE evd)
{
    struct data *data = instance_data;

    (void)evd;
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&data->replaced, __ATOMIC_ACQUIRE))
        __atomic_fetch_add(&late, 1, __ATOMIC_RELAXED);
}

struct poster {
    DAT_EVD_HANDLE evd;
    unsigned stop;
};

static void *post_events(void *arg)
{
    struct poster *p = arg;
    DAT_EVENT e, taken;

    memset(&e, 0, sizeof e);
    e.evd_handle = p->evd;
    e.event_number = DAT_SOFTWARE_EVENT;
    while (!__atomic_load_n(&p->stop, __ATOMIC_ACQUIRE)) {
        dat_evd_post_se(p->evd, &e);
        dat_evd_dequeue(p->evd, &taken);
    }
    return NULL;
}

static void replaced_agents(struct fx *fx)
{
    int rounds = env_count(20000, 300), bad = 0, done = 0;
    uint64_t first, until;
    struct data *data = calloc((size_t)rounds, sizeof *data);
    DAT_OS_WAIT_PROXY_AGENT a = { .proxy_agent_func = agent };
    struct poster p = { .stop = 0 };
    DAT_CNO_HANDLE cno;
    pthread_t thread;

    must(data != NULL, "no memory");
    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_evd_create(fx->ia, 4, cno, DAT_EVD_SOFTWARE_FLAG, &p.evd), DAT_SUCCESS, "dat_evd_create");
    must(pthread_create(&thread, NULL, post_events, &p) == 0, "no thread");
    first = now_ms() + env_ms(SOON_MS);
    until = now_ms() + 2000;
    for (int i = 0; i < rounds && (i < 50 || now_ms() < until); i++) {
        unsigned before = __atomic_load_n(&calls, __ATOMIC_RELAXED);

        a.instance_data = &data[i];
        bad += dat_cno_modify_agent(cno, a) != DAT_SUCCESS;
        if (i > 0)
            __atomic_store_n(&data[i - 1].replaced, 1, __ATOMIC_RELEASE);
        /* In some rounds, waits for an event that calls the agent. In the first round, waits until it comes. */
        for (int k = 0; __atomic_load_n(&calls, __ATOMIC_RELAXED) == before && (i == 0 ? now_ms() < first : k < i % 64);
             k++)
            sched_yield();
        done = i;
    }
    bad += dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL) != DAT_SUCCESS;
    __atomic_store_n(&data[done].replaced, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&p.stop, 1, __ATOMIC_RELEASE);
    must(pthread_join(thread, NULL) == 0, "the thread does not end");
    must_rc(dat_evd_free(p.evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    is_int(bad, 0, "dat_cno_modify_agent: beside events: success");
    ok(calls > 0, "dat_cno_modify_agent: beside events: agents are called (%u times)", calls);
    is_int((long)late, 0, "dat_cno_modify_agent: an agent that was replaced is not called any more");
    free(data);
}

struct changer {
    DAT_EVD_HANDLE evd;
    DAT_CNO_HANDLE cno;
    int rounds;
};

static void *change(void *arg)
{
    struct changer *c = arg;
    uintptr_t bad = 0;

    for (int i = 0; i < c->rounds; i++)
        bad += dat_evd_modify_cno(c->evd, c->cno) != DAT_SUCCESS;
    return (void *)bad;
}

/*
 * Changes the CNO of an EVD in two threads, then sets it. Checks the CNO with the completion of a receive, which the
 * thread in dat_cno_wait must find by polling.
 */
static void changed_objects(struct fx *fx)
{
    struct pair p;
    struct region r;
    struct changer on = { .rounds = env_count(20000, 300) }, off;
    pthread_t threads[2];
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    void *bad[2];

    region_make(fx, &r, 128, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    must_rc(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &on.cno), DAT_SUCCESS, "dat_cno_create");
    on.evd = p.b.recv;
    off = on;
    off.cno = DAT_HANDLE_NULL;
    must(pthread_create(&threads[0], NULL, change, &on) == 0 && pthread_create(&threads[1], NULL, change, &off) == 0,
         "no thread");
    for (int i = 0; i < 2; i++)
        must(pthread_join(threads[i], &bad[i]) == 0, "a thread does not end");
    ok(bad[0] == NULL && bad[1] == NULL, "dat_evd_modify_cno: in two threads: success");
    must_rc(dat_evd_modify_cno(on.evd, on.cno), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(post_recv(&p.b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &r, 64, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(dat_cno_wait(on.cno, env_us(SOON_MS), &hint) == DAT_SUCCESS && hint == on.evd,
       "dat_evd_modify_cno: the object that it has in the end is triggered");
    must(wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL), "the message does not come");
    must_rc(dat_evd_modify_cno(on.evd, DAT_HANDLE_NULL), DAT_SUCCESS, "dat_evd_modify_cno");
    must_rc(dat_cno_free(on.cno), DAT_SUCCESS, "dat_cno_free");
    pair_close(&p);
    region_free(&r);
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    replaced_agents(&fx);
    changed_objects(&fx);
    fx_close(&fx);
    return done_testing();
}
