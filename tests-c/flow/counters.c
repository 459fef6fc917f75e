/* counters.c - counters of endpoints and adapters, as provider-specific attributes. */
#include "common/fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BIG 8000

/* Returns the value of an attribute, or -1 if it does not exist or is no number. */
static long long value_of(const DAT_NAMED_ATTR *attr, DAT_COUNT n, const char *name)
{
    for (DAT_COUNT i = 0; i < n; i++)
        if (strcmp(attr[i].name, name) == 0) {
            char *end;
            long long value = strtoll(attr[i].value, &end, 10);

            return end != attr[i].value && *end == '\0' ? value : -1;
        }
    return -1;
}

static long long of_ep(DAT_EP_HANDLE ep, const char *name)
{
    DAT_EP_PARAM p;

    must_rc(dat_ep_query(ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    return value_of(p.ep_attr.ep_provider_specific, p.ep_attr.ep_provider_specific_count, name);
}

static long long of_ia(DAT_IA_HANDLE ia, const char *name)
{
    DAT_PROVIDER_ATTR p;

    must_rc(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &p), DAT_SUCCESS, "dat_ia_query");
    return value_of(p.provider_specific_attr, p.num_provider_specific_attr, name);
}

static void names(struct fx *fx, struct pair *p)
{
    static const char *const both[] = {
        "DAT_COUNTER_SENDS",          "DAT_COUNTER_SEND_BYTES",       "DAT_COUNTER_RDMA_WRITES",
        "DAT_COUNTER_RDMA_WRITE_BYTES", "DAT_COUNTER_RDMA_READS",     "DAT_COUNTER_RDMA_READ_BYTES",
        "DAT_COUNTER_RECEIVES",       "DAT_COUNTER_RECEIVE_BYTES",    "DAT_COUNTER_REQUEST_STALLS",
        "DAT_COUNTER_RECEIVE_STALLS", "DAT_COUNTER_PEER_WAKEUPS",     "DAT_COUNTER_LOST_DATAGRAMS",
    };
    int good = 1;

    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        if (of_ep(p->a.ep, both[i]) != 0)
            good = fail("dat_ep_query: %s: not 0 at first", both[i]);
        if (of_ia(fx->ia, both[i]) < 0)
            good = fail("dat_ia_query: %s: no number", both[i]);
    }
    ok(good, "dat_ep_query, dat_ia_query: all counters are told");
    ok(of_ia(fx->ia, "DAT_COUNTER_WAKEUPS") >= 0, "dat_ia_query: DAT_COUNTER_WAKEUPS");
    is_int(of_ep(p->a.ep, "DAT_COUNTER_WAKEUPS"), -1, "dat_ep_query: DAT_COUNTER_WAKEUPS is the adapter's alone");
}

static void transfers(struct fx *fx)
{
    struct pair p;
    struct region r, t;
    DAT_EP_PARAM before, after;
    long long all;

    region_make(fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &t, 4096, DAT_MEM_PRIV_ALL_FLAG);
    pair_open(&p, fx, NULL);
    names(fx, &p);
    all = of_ia(fx->ia, "DAT_COUNTER_SENDS");
    must_rc(dat_ep_query(p.a.ep, DAT_EP_FIELD_ALL, &before), DAT_SUCCESS, "dat_ep_query");
    must_rc(post_recv(&p.b, &t, 0, 100, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_recv(&p.b, &t, 0, 2000, 2), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &r, 0, 7, 1), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_send(&p.a, &r, 0, 1000, 2), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_write(&p.a, &r, 0, 300, target(&t, 0, 300), 3), DAT_SUCCESS, "dat_ep_post_rdma_write");
    must_rc(post_read(&p.a, &r, 0, 40, target(&t, 0, 40), 4), DAT_SUCCESS, "dat_ep_post_rdma_read");
    must(drain_dtos(p.a.req, 4) == 4 && drain_dtos(p.b.recv, 2) == 2, "the completions do not arrive");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_SENDS"), 2, "two sends: counted");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_SEND_BYTES"), 1007, "two sends: their bytes");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_RDMA_WRITES"), 1, "an RDMA write: counted");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_RDMA_WRITE_BYTES"), 300, "an RDMA write: its bytes");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_RDMA_READS"), 1, "an RDMA read: counted");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_RDMA_READ_BYTES"), 40, "an RDMA read: its bytes");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_RECEIVES"), 0, "the sender has received nothing");
    is_int(of_ep(p.b.ep, "DAT_COUNTER_RECEIVES"), 2, "two messages: counted by the receiver");
    is_int(of_ep(p.b.ep, "DAT_COUNTER_RECEIVE_BYTES"), 1007, "two messages: their bytes");
    is_int(of_ep(p.b.ep, "DAT_COUNTER_SENDS"), 0, "the receiver has sent nothing");
    is_int(of_ia(fx->ia, "DAT_COUNTER_SENDS") - all, 2, "the adapter counts them too");
    must_rc(dat_ep_query(p.a.ep, DAT_EP_FIELD_ALL, &after), DAT_SUCCESS, "dat_ep_query");
    is_ptr(after.ep_attr.ep_provider_specific, before.ep_attr.ep_provider_specific,
           "dat_ep_query: the list of an endpoint stays in place");
    pair_close(&p);
    is_int(of_ia(fx->ia, "DAT_COUNTER_SENDS") - all, 2, "the endpoints are freed: the adapter still counts them");
    region_free(&r);
    region_free(&t);
}

/* The counters of an endpoint continue on its next connection. */
static void lives(struct fx *fx)
{
    struct pair p;
    struct region r;

    region_make(fx, &r, 4096, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    for (int life = 1; life <= 2; life++) {
        must_rc(post_recv(&p.b, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_recv(&p.b, &r, 64, 64, 2), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &r, 1024, 64, 1), DAT_SUCCESS, "dat_ep_post_send");
        must(drain_dtos(p.a.req, 1) == 1 && drain_dtos(p.b.recv, 1) == 1, "the completions do not arrive");
        must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED) &&
                 wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
             "the connection does not end");
        must(wait_dto(p.b.recv, 2, DAT_DTO_ERR_FLUSHED, NULL), "the receive is not flushed");
        is_int(of_ep(p.b.ep, "DAT_COUNTER_RECEIVES"), life, "connection %d: a flushed receive does not count", life);
        is_int(of_ep(p.a.ep, "DAT_COUNTER_SENDS"), life, "connection %d: those before it count", life);
        if (life == 1) {
            must_rc(dat_ep_reset(p.a.ep), DAT_SUCCESS, "dat_ep_reset");
            must_rc(dat_ep_reset(p.b.ep), DAT_SUCCESS, "dat_ep_reset");
            sides_connect(&p.a, &p.b);
        }
    }
    pair_close(&p);
    region_free(&r);
}

static void copied(struct fx *fx)
{
    struct side s;
    DAT_EP_PARAM p;
    DAT_EP_HANDLE other = DAT_HANDLE_NULL;

    side_make(&s, fx, NULL);
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    is_success(dat_ep_create(fx->ia, fx->pz, s.recv, s.req, s.conn, &p.ep_attr, &other),
               "dat_ep_create: with the attributes of another endpoint: success");
    must_rc(dat_ep_free(other), DAT_SUCCESS, "dat_ep_free");
    p.ep_attr.ep_provider_specific_count--;
    is_type(dat_ep_create(fx->ia, fx->pz, s.recv, s.req, s.conn, &p.ep_attr, &other), DAT_INVALID_PARAMETER,
            "dat_ep_create: with one of its named attributes less: DAT_INVALID_PARAMETER");
    side_free(&s);
}

static void outlived(void)
{
    struct fx fx;
    struct side s;
    DAT_EP_PARAM p;
    DAT_PROVIDER_ATTR provider;
    DAT_EP_HANDLE other = DAT_HANDLE_NULL;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    must_rc(dat_ep_free(s.ep), DAT_SUCCESS, "dat_ep_free");
    is_success(dat_ep_create(fx.ia, fx.pz, s.recv, s.req, s.conn, &p.ep_attr, &s.ep),
               "dat_ep_create: with the attributes of a freed endpoint: success");
    is_success(dat_ep_modify(s.ep,
                             DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, &p),
               "dat_ep_modify: with the named attributes of a freed endpoint: success");
    side_free(&s);
    must_rc(dat_ia_query(fx.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &provider), DAT_SUCCESS, "dat_ia_query");
    fx_close(&fx);
    ok(value_of(provider.provider_specific_attr, provider.num_provider_specific_attr, "DAT_COUNTER_SENDS") >= 0,
       "dat_ia_query: the attributes can be read after the adapter is closed");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    is_success(dat_ep_create(fx.ia, fx.pz, s.recv, s.req, s.conn, &p.ep_attr, &other),
               "dat_ep_create: with the attributes of an endpoint of an adapter that was closed: success");
    must_rc(dat_ep_free(other), DAT_SUCCESS, "dat_ep_free");
    side_free(&s);
    fx_close(&fx);
}

/* Returns whether a stall is counted. Polls first: that finds the stalled message, unless another thread polls now. */
static bool has_stalled(void *side)
{
    struct side *s = side;

    drain(s->recv);
    return of_ep(s->ep, "DAT_COUNTER_RECEIVE_STALLS") > 0;
}

/* Messages without receives fill the shm ring. Then requests wait. */
static void stalls(struct fx *fx)
{
    enum { COUNT = 8 };
    struct pair p;
    struct region r, t;

    region_make(fx, &r, BIG, MEM_LOCAL);
    region_make(fx, &t, BIG, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    for (unsigned i = 0; i < COUNT; i++)
        must_rc(post_send(&p.a, &r, 0, BIG, i), DAT_SUCCESS, "dat_ep_post_send");
    must(wait_until(has_stalled, &p.b, SOON_MS), "no message waits");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_REQUEST_STALLS"), 1, "messages without receives: requests begin to wait once");
    is_int(of_ep(p.b.ep, "DAT_COUNTER_RECEIVE_STALLS"), 1, "messages without receives: a message waits");
    for (unsigned i = 0; i < COUNT; i++) {
        must_rc(post_recv(&p.b, &t, 0, BIG, i), DAT_SUCCESS, "dat_ep_post_recv");
        must(wait_dto(p.b.recv, i, DAT_DTO_SUCCESS, NULL), "a message does not arrive");
    }
    must(drain_dtos(p.a.req, COUNT) == COUNT, "the completions do not arrive");
    is_int(of_ep(p.a.ep, "DAT_COUNTER_SENDS"), COUNT, "all are sent");
    pair_close(&p);
    region_free(&r);
    region_free(&t);
}

struct sleeper {
    struct side *side;
    pthread_mutex_t lock;
    int taken;
    int wanted;
};

static int taken(struct sleeper *s)
{
    int n;

    pthread_mutex_lock(&s->lock);
    n = s->taken;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static void *sleep_and_take(void *arg)
{
    struct sleeper *s = arg;
    DAT_EVENT e;

    while (taken(s) < s->wanted && wait_event(s->side->recv, &e)) {
        pthread_mutex_lock(&s->lock);
        s->taken++;
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

/*
 * Returns by how much a wait that times out increases DAT_COUNTER_WAKEUPS. The library sleeps several
 * times during the wait, but no event wakes it.
 */
static long sleeps_of_timeout(const struct fx *fx, DAT_EVD_HANDLE evd)
{
    long long before = of_ia(fx->ia, "DAT_COUNTER_WAKEUPS");
    DAT_EVENT e;
    DAT_COUNT more;

    must_rc(dat_evd_wait(evd, 400000, 1, &e, &more), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
    return (long)(of_ia(fx->ia, "DAT_COUNTER_WAKEUPS") - before);
}

/* Checks that at least one of the messages arrives while the waiting thread sleeps, and wakes it. */
static void wakeups(struct fx *fx)
{
    enum { COUNT = 40 };
    struct pair p;
    struct region r;
    struct sleeper s = { NULL, PTHREAD_MUTEX_INITIALIZER, 0, COUNT };
    pthread_t thread;
    long long before = of_ia(fx->ia, "DAT_COUNTER_WAKEUPS");

    region_make(fx, &r, 128, MEM_LOCAL);
    pair_open(&p, fx, NULL);
    s.side = &p.b;
    must(pthread_create(&thread, NULL, sleep_and_take, &s) == 0, "no thread");
    for (int i = 0; i < COUNT; i++) {
        uint64_t limit = now_ms() + env_ms(SOON_MS), until = now_ms() + 2;

        must_rc(post_recv(&p.b, &r, 0, 64, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
        while (now_ms() < until)
            breathe();
        must_rc(post_send(&p.a, &r, 64, 64, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_send");
        must(drain_dtos(p.a.req, 1) == 1, "the completion does not arrive");
        while (taken(&s) <= i && now_ms() < limit)
            breathe();
        must(taken(&s) > i, "the message does not arrive");
    }
    must(pthread_join(thread, NULL) == 0, "the thread does not end");
    ok(of_ia(fx->ia, "DAT_COUNTER_WAKEUPS") > before, "dat_evd_wait: the adapter counts sleeps");
    is_int(sleeps_of_timeout(fx, p.b.recv), 1, "one wait that takes long: one sleep");
    if (env_is_shm())
        ok(of_ep(p.a.ep, "DAT_COUNTER_PEER_WAKEUPS") > 0, "shm: the sender counts that it woke the receiver");
    pair_close(&p);
    region_free(&r);
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    transfers(&fx);
    lives(&fx);
    copied(&fx);
    if (env_is_shm())
        stalls(&fx);
    wakeups(&fx);
    fx_close(&fx);
    outlived();
    return done_testing();
}
