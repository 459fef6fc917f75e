/*
 * polled.c - threads that alternately poll and sleep, while other threads post.
 *
 * The library sometimes polls a connection, and sometimes gets notifications of it. Each message and completion
 * arrives, even if the library changes between both.
 */
#include "common/waiter.h"

#include <pthread.h>
#include <time.h>

enum { ROUNDS = 20000, FEWER_ROUNDS = 500, RECEIVES = 16 };

struct talk {
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET there; /* the peer's memory */
    unsigned long long seed;
    int rounds, done;
    int *over;
    struct link *link; /* on iWARP, the peer says "posted" for each receive that it posts again */
};

static unsigned any(struct talk *t, unsigned below)
{
    t->seed ^= t->seed << 13;
    t->seed ^= t->seed >> 7;
    t->seed ^= t->seed << 17;
    return (unsigned)(t->seed % below);
}

/* Returns immediately in most calls; otherwise it sleeps or spins. */
static void delay(struct talk *t)
{
    struct timespec time = { 0, (long)any(t, 100000) };
    volatile unsigned work = any(t, 20000);

    switch (any(t, 6)) {
    case 0: nanosleep(&time, NULL); break;
    case 1:
        while (work > 0)
            work--;
        break;
    default: break;
    }
}

/*
 * Gets the next event. First dequeues up to 999 times, so that the library polls the connection, then waits. Returns
 * whether there is an event.
 */
static bool take(struct talk *t, DAT_EVD_HANDLE evd, bool no_timeout, DAT_EVENT *e)
{
    DAT_COUNT more;

    for (unsigned looks = any(t, 3) == 0 ? 0 : any(t, 1000); looks > 0; looks--)
        if (dat_evd_dequeue(evd, e) == DAT_SUCCESS)
            return true;
    if (no_timeout)
        return dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, e, &more) == DAT_SUCCESS;
    return any(t, 4) == 0 ? poll_event(evd, e) : wait_event(evd, e);
}

static bool succeeds(struct talk *t, DAT_EVD_HANDLE evd, bool no_timeout, DAT_UINT64 number)
{
    DAT_EVENT e;

    return take(t, evd, no_timeout, &e) && e.event_number == DAT_DTO_COMPLETION_EVENT &&
           e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS &&
           e.event_data.dto_completion_event_data.user_cookie.as_64 == number;
}

static void receive(struct talk *t, DAT_UINT64 number)
{
    must_rc(post_recv(&t->s, &t->r, 64, 8, number), DAT_SUCCESS, "dat_ep_post_recv");
}

static void talk_make(struct talk *t, struct fx *fx, unsigned seed)
{
    side_make(&t->s, fx, NULL);
    region_make(fx, &t->r, 4096, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    t->seed = 88172645463325252u + seed;
    t->done = 0;
}

/* ---- The peer ---- */

/* Receives messages until the connection ends. */
static void *consume(void *arg)
{
    struct talk *t = arg;

    while (succeeds(t, t->s.recv, true, (DAT_UINT64)t->done)) {
        receive(t, (DAT_UINT64)(t->done + RECEIVES));
        if (env_is_iwarp())
            link_say(t->link, "posted");
        t->done++;
        delay(t);
    }
    return NULL;
}

/* Replies to messages until the connection ends. */
static void *answer(void *arg)
{
    struct talk *t = arg;

    while (succeeds(t, t->s.recv, true, (DAT_UINT64)t->done)) {
        receive(t, (DAT_UINT64)(t->done + RECEIVES));
        delay(t);
        if (post_send(&t->s, &t->r, 0, 8, (DAT_UINT64)t->done) != DAT_SUCCESS ||
            !succeeds(t, t->s.req, false, (DAT_UINT64)t->done))
            break;
        t->done++;
    }
    return NULL;
}

static int other(struct link *up)
{
    struct fx fx;
    struct talk t[2];
    pthread_t thread[2];

    fx_open(&fx);
    for (int i = 0; i < 2; i++) {
        talk_make(&t[i], &fx, (unsigned)i + 7);
        for (int n = 0; n < RECEIVES; n++)
            receive(&t[i], (DAT_UINT64)n);
        side_connect_peer(&t[i].s, up);
    }
    t[0].there = target(&t[0].r, 128, 64);
    t[0].link = up;
    must(LINK_SEND(up, t[0].there), "the place");
    must(pthread_create(&thread[0], NULL, consume, &t[0]) == 0, "no thread");
    must(pthread_create(&thread[1], NULL, answer, &t[1]) == 0, "no thread");
    must(link_hear(up, "bye"), "bye");
    for (int i = 0; i < 2; i++) {
        dat_ep_disconnect(t[i].s.ep, DAT_CLOSE_ABRUPT_FLAG);
        pthread_join(thread[i], NULL);
    }
    fx_close(&fx);
    return 0;
}

static const struct peer_role roles[] = { { "other", other }, { NULL, NULL } };

/* ---- The first process ---- */

/* Posts sends that the peer receives, and writes that complete without it, and waits for each completion. */
static void *post(void *arg)
{
    struct talk *t = arg;
    DAT_UINT64 number = 0;
    int sends = 0;

    while (t->done < t->rounds) {
        unsigned what = any(t, 3);
        DAT_UINT64 first = number;

        if (env_is_iwarp() && what != 0 && sends++ >= RECEIVES)
            must(link_hear(t->link, "posted"), "the other process does not answer");
        if (what != 0 && post_send(&t->s, &t->r, 0, 8, number++) != DAT_SUCCESS)
            break;
        if (what != 1 && post_write(&t->s, &t->r, 0, 8, t->there, number++) != DAT_SUCCESS)
            break;
        for (; first < number && succeeds(t, t->s.req, false, first); first++)
            ;
        if (first < number)
            break;
        t->done++;
        delay(t);
    }
    __atomic_store_n(t->over, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Exchanges messages while the other thread posts. Returns whether all arrived. */
static bool ask(struct talk *t)
{
    for (; !__atomic_load_n(t->over, __ATOMIC_SEQ_CST); t->done++) {
        receive(t, (DAT_UINT64)t->done);
        if (post_send(&t->s, &t->r, 0, 8, (DAT_UINT64)t->done) != DAT_SUCCESS ||
            !succeeds(t, t->s.recv, false, (DAT_UINT64)t->done) ||
            !succeeds(t, t->s.req, false, (DAT_UINT64)t->done))
            return false;
        delay(t);
    }
    return true;
}

/* Runs post() and ask() concurrently. If `watched` is true, a third thread waits for a message all the time. */
static void together(struct fx *fx, int rounds, bool watched)
{
    const char *beside = watched ? "beside one that waits for a message" : "and nobody else";
    struct talk posts, asks;
    struct waiter messages;
    struct peer p;
    pthread_t thread;
    int over = 0;
    bool answered;

    peer_start(&p, "other");
    talk_make(&posts, fx, 1);
    talk_make(&asks, fx, 2);
    posts.rounds = rounds;
    posts.link = &p.link;
    posts.over = asks.over = &over;
    receive(&posts, 0);
    side_accept_peer(&posts.s, &p.link);
    side_accept_peer(&asks.s, &p.link);
    must(LINK_RECV(&p.link, posts.there), "the place");
    if (watched)
        waiter_start(&messages, posts.s.recv, DAT_TIMEOUT_INFINITE, 1);
    must(pthread_create(&thread, NULL, post, &posts) == 0, "no thread");
    answered = ask(&asks);
    pthread_join(thread, NULL);
    is_int(posts.done, rounds, "threads that poll and sleep, %s: each request completes", beside);
    ok(answered, "threads that poll and sleep, %s: each message is answered", beside);
    diag("%d rounds of one thread beside %d of the other", posts.done, asks.done);
    if (watched)
        ok(!waiter_done(&messages, 0), "dat_evd_wait: for messages: completions of requests do not end it");
    link_say(&p.link, "bye");
    if (watched) {
        waiter_join(&messages);
        is_type(messages.rc, DAT_SUCCESS, "dat_evd_wait: the peer goes: the receive is flushed");
    }
    peer_ok(&p, "the other process has got what it needs");
    side_free(&posts.s);
    side_free(&asks.s);
}

int main(int argc, char **argv)
{
    int rounds;
    struct fx fx;

    env_init(argc, argv, roles);
    rounds = env_count(ROUNDS, FEWER_ROUNDS);
    fx_open(&fx);
    together(&fx, rounds, false);
    together(&fx, rounds, true);
    fx_close(&fx);
    return done_testing();
}
