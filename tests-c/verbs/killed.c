/*
 * killed.c - kills the peer 100 times ($DAT_TEST_KILLS) at random points: while it connects, accepts, transfers or
 * disconnects. In every other round the peer listens.
 */
#define _DEFAULT_SOURCE
#include "adapters.h"
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100, BUFFERS = 64, MESSAGES = 30 };

struct card {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

/* ---- the victim: repeatedly connects, transfers and disconnects ---- */

static DAT_RMR_TRIPLET bulk(struct flow *f)
{
    return target(&f->r, 0, FLOW_BULK);
}

static void live(struct flow *f, int messages)
{
    while (f->ends == 0 && (!f->up || f->completed < (uint64_t)messages)) {
        flow_step(f, true);
        pool_fill(f->pool);
    }
    if (f->ends == 0)
        must_rc(dat_ep_disconnect(f->s.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    while (!flow_done(f)) {
        flow_step(f, false);
        pool_fill(f->pool);
    }
    flow_free(f);
}

static int caller(struct link *up)
{
    struct card card;
    struct fx fx;
    struct pool pool;

    fx_open(&fx);
    pool_open(&pool, &fx, BUFFERS);
    must(LINK_RECV(up, card), "no address");
    link_say(up, "ready");
    for (;;) {
        struct flow f;
        DAT_RMR_TRIPLET mine;

        flow_make(&f, &pool);
        mine = bulk(&f);
        must_rc(dat_ep_connect(f.s.ep, (DAT_IA_ADDRESS_PTR)&card.address, card.qual,
                               env_us(SOON_MS), sizeof mine, &mine, DAT_QOS_BEST_EFFORT,
                               DAT_CONNECT_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_connect");
        live(&f, MESSAGES);
    }
    return 1; /* not reached */
}

static int listener(struct link *up)
{
    struct card card;
    struct fx fx;
    struct pool pool;
    DAT_EVENT e;

    fx_open(&fx);
    pool_open(&pool, &fx, BUFFERS);
    memset(&card, 0, sizeof card);
    fx_listen(&fx, &card.qual);
    card.address = fx.address;
    must(LINK_SEND(up, card), "the other process is gone");
    for (;;) {
        struct flow f;

        must(poll_event(fx.cr, &e), "no request");
        flow_accept(&f, &pool, &e);
        live(&f, MESSAGES);
    }
    return 1; /* not reached */
}

/* ---- the surviving process ---- */

static struct service svc;
static DAT_CONN_QUAL qual;

static void call(const struct card *card)
{
    struct flow *f = service_place(&svc);
    DAT_RMR_TRIPLET mine;

    flow_make(f, &svc.pool);
    mine = bulk(f);
    must_rc(dat_ep_connect(f->s.ep, (DAT_IA_ADDRESS_PTR)&card->address, card->qual, env_us(SOON_MS),
                           sizeof mine, &mine, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
}

/*
 * Starts the peer, which calls or listens, and kills it after `after` microseconds. Returns whether it was still alive
 * then, each connection ends and every buffer is back.
 */
static bool round_of(bool calls, unsigned after)
{
    struct peer p;
    struct card card;
    struct timespec t, now;
    char word[32], what[64];
    bool good;

    memset(&card, 0, sizeof card);
    peer_start(&p, calls ? "caller" : "listener");
    card.address = svc.fx.address;
    card.qual = qual;
    if (calls) {
        must(LINK_SEND(&p.link, card) && link_recv(&p.link, word, sizeof word, SOON_MS),
             "the other process is gone");
    } else {
        must(LINK_RECV(&p.link, card), "the other process is gone");
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    do {
        if (!calls && service_busy(&svc) == 0)
            call(&card);
        service_step(&svc);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((uint64_t)(now.tv_sec - t.tv_sec) * 1000000u + (uint64_t)(now.tv_nsec / 1000) -
                 (uint64_t)(t.tv_nsec / 1000) <
             after);
    good = waitpid(p.pid, NULL, WNOHANG) == 0;
    if (!good)
        diag("the other process has ended by itself");
    peer_kill(&p);
    snprintf(what, sizeof what, "%s killed after %u us", calls ? "caller" : "listener", after);
    return service_settle(&svc, what) && good;
}

/* Serves late requests of killed processes. */
static void last_ones(void)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    uint64_t calm = now_ms() + env_ms(QUIET_MS);

    while (now_ms() < calm && now_ms() < end) {
        service_step(&svc);
        if (service_busy(&svc) > 0)
            calm = now_ms() + env_ms(QUIET_MS);
    }
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "caller", caller },
                                              { "listener", listener },
                                              { NULL, NULL } };
    const char *given = getenv("DAT_TEST_SEED");
    unsigned seed;
    int rounds, good = 0, before, fds;
    unsigned stretch = 1;
    bool closed;
    long memory = 0;
    uint64_t begin;
    DAT_PSP_HANDLE psp;

    env_init(argc, argv, roles);
    seed = given != NULL ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL) ^ (unsigned)getpid();
    diag("seed %u ($DAT_TEST_SEED)", seed);
    srandom(seed);
    rounds = getenv("DAT_TEST_KILLS") != NULL ? atoi(getenv("DAT_TEST_KILLS")) : env_count(ROUNDS, 10);

    /* Open the descriptors that libraries keep after their first use, and that a thread keeps after its first sleep. */
    fx_open(&svc.fx);
    {
        struct pair pair;

        pair_open(&pair, &svc.fx, NULL);
        must(quiet(svc.fx.async), "an asynchronous event");
        must(quiet(pair.b.recv), "a completion");
    }
    fx_close(&svc.fx);
    before = entries("/proc/self/fd");
    say_descriptors("after the first use");

    service_open(&svc, BUFFERS, true);
    psp = fx_listen(&svc.fx, &qual);
    fds = entries("/proc/self/fd");
    begin = now_ms();
    for (int i = 0; i < rounds; i++) {
        /* Most kills hit connection setup, which takes many steps. */
        unsigned reach = random() % 3 == 0 ? 200000 : 30000;

        /* Kill later if connections are slow. */
        if (svc.up * 3 < i && stretch < 512)
            stretch *= 2;
        good += round_of(i % 2 == 0, (unsigned)random() % env_ms(reach * stretch));
        if (i == rounds / 5)
            memory = resident_kib();
    }
    last_ones();
    is_int(good, rounds, "the peer is killed at any moment, %d times: each connection ends, once, all "
                         "requests complete, all buffers are there", rounds);
    is_int(svc.faults, 0, "completions: in the order of the posts, each once, each byte right");
    service_say(&svc);
    diag("  %llu ms", (unsigned long long)(now_ms() - begin));
    ok(svc.up >= rounds / 4, "many of them had a connection");
    ok(wait_until(descriptors_at_most, &fds, SOON_MS), "no descriptor more than before the first one was killed");
    ok(resident_kib() - memory < 8 * 1024, "memory does not grow");
    diag("  resident: %ld KiB, %ld KiB after a fifth of them", resident_kib(), memory);

    /* Other connections still work. */
    {
        struct pair pair;

        pair_open(&pair, &svc.fx, NULL);
        ok(sides_talk(&pair.a, &pair.b), "an ordinary connection afterwards");
        pair_close(&pair);
    }
    is_success(dat_psp_free(psp), "dat_psp_free: success");
    service_close(&svc);
    closed = wait_until(descriptors_at_most, &before, SOON_MS);
    if (!closed)
        descriptors_show();
    ok(closed, "dat_ia_close: no descriptor is left open");
    say_descriptors("in the end");
    return done_testing();
}
