/*
 * closing.c - dat_ia_close during dat_ep_free, during another dat_ia_close, and by an agent. After all calls have
 * returned, no descriptor is left.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"
#include "common/usage.h"

#include <pthread.h>
#include <sched.h>

/* Less than the 10 s for which the library waits for an event that does not arrive. */
#define LONGEST_MS 9000

/* A call in another thread, which starts when go is set. */
struct beside {
    DAT_IA_HANDLE ia;
    DAT_EP_HANDLE ep; /* dat_ep_free() if set, otherwise dat_ia_close() */
    DAT_RETURN rc;
    uint64_t took;
    unsigned go;
    pthread_t thread;
};

static void *call(void *arg)
{
    struct beside *b = arg;
    uint64_t begin;

    while (!__atomic_load_n(&b->go, __ATOMIC_ACQUIRE))
        sched_yield();
    begin = now_ms();
    b->rc = b->ep != DAT_HANDLE_NULL ? dat_ep_free(b->ep) : dat_ia_close(b->ia, DAT_CLOSE_ABRUPT_FLAG);
    b->took = now_ms() - begin;
    return NULL;
}

/* Closes the adapter after the other thread has begun its call, with a delay that depends on the round. */
static DAT_RETURN close_beside(struct beside *b, int round, uint64_t *took)
{
    uint64_t begin;
    DAT_RETURN rc;

    must(pthread_create(&b->thread, NULL, call, b) == 0, "no thread");
    __atomic_store_n(&b->go, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < round % 16; i++)
        sched_yield();
    begin = now_ms();
    rc = dat_ia_close(b->ia, DAT_CLOSE_ABRUPT_FLAG);
    *took = now_ms() - begin;
    must(pthread_join(b->thread, NULL) == 0, "the thread does not end");
    return rc;
}

static bool gone(DAT_RETURN rc)
{
    return rc_is(rc, DAT_INVALID_HANDLE);
}

static void beside_a_free(int fds)
{
    int rounds = env_count(200, 15), bad = 0, left = 0;
    uint64_t longest = 0;

    for (int i = 0; i < rounds; i++) {
        struct fx fx;
        struct pair p;
        struct region r;
        struct beside b = { .go = 0 };
        uint64_t took;

        fx_open(&fx);
        pair_open(&p, &fx, NULL);
        region_make(&fx, &r, 64, MEM_LOCAL);
        must_rc(post_recv(&p.a, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        b.ia = fx.ia;
        b.ep = p.a.ep;
        bad += close_beside(&b, i, &took) != DAT_SUCCESS;
        bad += b.rc != DAT_SUCCESS && !gone(b.rc);
        longest = took > longest ? took : longest;
        longest = b.took > longest ? b.took : longest;
        left += descriptors_left(fds);
        r.lmr = DAT_HANDLE_NULL;
        region_free(&r);
    }
    is_int(bad, 0, "dat_ia_close: abrupt, beside dat_ep_free of a connected endpoint, %d times: success", rounds);
    ok(longest < LONGEST_MS, "dat_ia_close: beside dat_ep_free: neither waits in vain");
    diag("the longest call: %llu ms", (unsigned long long)longest);
    is_int(left, 0, "dat_ia_close: beside dat_ep_free: no descriptor is open any more when both have returned");
}

static void beside_a_close(int fds)
{
    int rounds = env_count(200, 15), once = 0, left = 0;

    for (int i = 0; i < rounds; i++) {
        struct fx fx;
        struct pair p;
        struct beside b = { .go = 0 };
        uint64_t took;
        DAT_RETURN rc;

        fx_open(&fx);
        pair_open(&p, &fx, NULL);
        b.ia = fx.ia;
        rc = close_beside(&b, i, &took);
        once += (rc == DAT_SUCCESS && gone(b.rc)) || (gone(rc) && b.rc == DAT_SUCCESS);
        left += descriptors_left(fds);
    }
    is_int(once, rounds, "dat_ia_close: by two threads, %d times: success for one, DAT_INVALID_HANDLE for the other", rounds);
    is_int(left, 0, "dat_ia_close: by two threads: no descriptor is open any more when both have returned");
}

struct closer {
    DAT_IA_HANDLE ia;
    DAT_RETURN rc;
    unsigned calls, done;
};

static void close_it(DAT_PVOID instance_data, DAT_EVD_HANDLE evd)
{
    struct closer *c = instance_data;

    (void)evd;
    if (__atomic_fetch_add(&c->calls, 1, __ATOMIC_ACQ_REL) > 0)
        return; /* the destruction of the CNO calls the agent again */
    c->rc = dat_ia_close(c->ia, DAT_CLOSE_ABRUPT_FLAG);
    __atomic_store_n(&c->done, 1, __ATOMIC_RELEASE);
}

static bool is_done(void *arg)
{
    return __atomic_load_n(&((struct closer *)arg)->done, __ATOMIC_ACQUIRE) != 0;
}

static void by_an_agent(void)
{
    static struct closer closer; /* static: the agent can be called after this function has returned */
    DAT_OS_WAIT_PROXY_AGENT agent = { .instance_data = &closer, .proxy_agent_func = close_it };
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd;
    DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
    struct fx fx;
    struct pair p;

    fx_open(&fx);
    pair_open(&p, &fx, NULL);
    closer.ia = fx.ia;
    must_rc(dat_cno_create(fx.ia, agent, &cno), DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_evd_create(fx.ia, 4, cno, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS, "dat_evd_create");
    event.evd_handle = evd;
    must_rc(dat_evd_post_se(evd, &event), DAT_SUCCESS, "dat_evd_post_se");
    ok(wait_until(is_done, &closer, SOON_MS) && closer.rc == DAT_SUCCESS, "dat_ia_close: by an agent: success");
    ok(gone(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG)), "dat_ia_close: closed by an agent: DAT_INVALID_HANDLE");
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct pair p;
    int fds;

    env_init(argc, argv, NULL);
    /* The first use allocates what the libraries keep, and what a sleeping thread needs. */
    fx_open(&fx);
    pair_open(&p, &fx, NULL);
    must(quiet(p.a.recv), "a completion");
    fx_close(&fx);
    fds = entries("/proc/self/fd");
    beside_a_free(fds);
    beside_a_close(fds);
    by_an_agent();
    return done_testing();
}
