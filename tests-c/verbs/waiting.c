/*
 * waiting.c - no wakeup is lost if a completion arrives just when a waiting thread goes to sleep.
 *
 * A peer replies after a random pause, between 0 and slightly more than the time that a waiter polls before it sleeps. A
 * lost wakeup makes a wait time out.
 */
#define _POSIX_C_SOURCE 200809L
#include "adapters.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 10000, PAIRS = 4, SIZE = 32, PAUSE_US = 150 };

static struct fx fx;

/* A connection within this process, with a thread at each end. */
struct talk {
    struct pair pair;
    struct region r;
    DAT_CNO_HANDLE cno; /* side a waits on this CNO, or on its EVDs if it is NULL */
    DAT_COUNT burst;    /* messages of side a for each reply of side b; threshold of b's wait */
    int rounds, asked, answered;
    unsigned seed;
    const char *what;
    pthread_t asks, answers;
};

static void pause_a_while(unsigned *seed)
{
    struct timespec t, now;
    long us;

    *seed = *seed * 1103515245u + 12345u;
    us = (long)((*seed >> 16) % PAUSE_US);
    /* A sleep would always take longer. */
    clock_gettime(CLOCK_MONOTONIC, &t);
    do {
        breathe();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - t.tv_sec) * 1000000L + (now.tv_nsec - t.tv_nsec) / 1000 < us);
}

static bool is_good(const DAT_EVENT *e, DAT_UINT64 c)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e->event_data.dto_completion_event_data;

    return e->event_number == DAT_DTO_COMPLETION_EVENT && d->status == DAT_DTO_SUCCESS &&
           d->user_cookie.as_64 == c;
}

/*
 * Takes n events of the EVD: the first by a wait with threshold n, the others by dequeues. Returns whether all are
 * right.
 */
static bool wait_burst(DAT_EVD_HANDLE evd, DAT_COUNT n, DAT_UINT64 c)
{
    DAT_EVENT e;
    DAT_COUNT more = 0;
    DAT_RETURN rc = dat_evd_wait(evd, env_us(SOON_MS), n, &e, &more);

    if (rc != DAT_SUCCESS || more < n - 1 || !is_good(&e, c)) {
        diag("dat_evd_wait: threshold %d: %s, %d more", (int)n, rc_text(rc), (int)more);
        return false;
    }
    while (--n > 0) {
        rc = dat_evd_dequeue(evd, &e);
        if (rc != DAT_SUCCESS || !is_good(&e, c)) {
            diag("dat_evd_dequeue: %s, %d left of the burst", rc_text(rc), (int)n);
            return false;
        }
    }
    return true;
}

/* Waits on the CNO for the completions of sends and for the reply. Returns whether exactly these arrive. */
static bool wait_cno(struct talk *t, int round)
{
    DAT_EVD_HANDLE evd;
    DAT_EVENT e;
    int sends = t->burst, receives = 1;
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (sends > 0 || receives > 0) {
        DAT_RETURN rc;

        while (dat_evd_dequeue(t->pair.a.req, &e) == DAT_SUCCESS)
            sends--;
        while (dat_evd_dequeue(t->pair.a.recv, &e) == DAT_SUCCESS) {
            if (!is_good(&e, (DAT_UINT64)round))
                return false;
            receives--;
        }
        if (sends <= 0 && receives <= 0)
            break;
        rc = dat_cno_wait(t->cno, env_us(SOON_MS), &evd);
        if (rc != DAT_SUCCESS || now_ms() > end) {
            diag("dat_cno_wait: %s", rc_text(rc));
            return false;
        }
    }
    return sends == 0 && receives == 0;
}

static void *ask(void *arg)
{
    struct talk *t = arg;
    unsigned seed = t->seed;

    for (int i = 0; i < t->rounds; i++) {
        bool good = post_recv(&t->pair.a, &t->r, 0, SIZE, (DAT_UINT64)i) == DAT_SUCCESS;

        for (DAT_COUNT k = 0; good && k < t->burst; k++) {
            pause_a_while(&seed);
            good = post_send(&t->pair.a, &t->r, SIZE, SIZE, (DAT_UINT64)i) == DAT_SUCCESS;
        }
        if (t->cno != DAT_HANDLE_NULL)
            good = good && wait_cno(t, i);
        else
            good = good && wait_burst(t->pair.a.recv, 1, (DAT_UINT64)i) &&
                   wait_burst(t->pair.a.req, t->burst, (DAT_UINT64)i);
        if (!good) {
            diag("%s: the asking side stops in round %d", t->what, i);
            return NULL;
        }
        t->asked++;
    }
    return NULL;
}

static void *answer(void *arg)
{
    struct talk *t = arg;
    unsigned seed = t->seed + 7;

    for (int i = 0; i < t->rounds; i++) {
        bool good = wait_burst(t->pair.b.recv, t->burst, (DAT_UINT64)i);

        for (DAT_COUNT k = 0; good && k < t->burst; k++)
            good = post_recv(&t->pair.b, &t->r, 2 * SIZE, SIZE, (DAT_UINT64)i + 1) == DAT_SUCCESS;
        pause_a_while(&seed);
        good = good && post_send(&t->pair.b, &t->r, 3 * SIZE, SIZE, (DAT_UINT64)i) == DAT_SUCCESS &&
               wait_burst(t->pair.b.req, 1, (DAT_UINT64)i);
        if (!good) {
            diag("%s: the answering side stops in round %d", t->what, i);
            return NULL;
        }
        t->answered++;
    }
    return NULL;
}

static void begin(struct talk *t, const char *what, int rounds, DAT_COUNT burst, bool cno)
{
    memset(t, 0, sizeof *t);
    t->what = what;
    t->rounds = rounds;
    t->burst = burst;
    t->seed = (unsigned)rounds * 31u + (unsigned)burst * 7u + cno;
    pair_open(&t->pair, &fx, NULL);
    region_make(&fx, &t->r, 4 * SIZE, MEM_LOCAL);
    if (cno) {
        must_rc(dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &t->cno), DAT_SUCCESS,
                "dat_cno_create");
        must_rc(dat_evd_modify_cno(t->pair.a.recv, t->cno), DAT_SUCCESS, "dat_evd_modify_cno");
        must_rc(dat_evd_modify_cno(t->pair.a.req, t->cno), DAT_SUCCESS, "dat_evd_modify_cno");
        must_rc(dat_evd_modify_cno(t->pair.a.conn, t->cno), DAT_SUCCESS, "dat_evd_modify_cno");
    }
    for (DAT_COUNT k = 0; k < burst; k++)
        must_rc(post_recv(&t->pair.b, &t->r, 2 * SIZE, SIZE, 0), DAT_SUCCESS, "dat_ep_post_recv");
}

static void start(struct talk *t)
{
    must(pthread_create(&t->answers, NULL, answer, t) == 0 &&
             pthread_create(&t->asks, NULL, ask, t) == 0,
         "pthread_create");
}

static void finish(struct talk *t)
{
    must(pthread_join(t->asks, NULL) == 0 && pthread_join(t->answers, NULL) == 0, "pthread_join");
    is_int(t->asked, t->rounds, "%s: %d rounds: each answer is seen", t->what, t->rounds);
    is_int(t->answered, t->rounds, "%s: %d rounds: each message is seen", t->what, t->rounds);
    pair_close(&t->pair);
    if (t->cno != DAT_HANDLE_NULL)
        must_rc(dat_cno_free(t->cno), DAT_SUCCESS, "dat_cno_free");
    region_free(&t->r);
}

int main(int argc, char **argv)
{
    struct talk t, many[PAIRS];
    uint64_t before;
    int rounds;

    env_init(argc, argv, NULL);
    rounds = env_count(ROUNDS, 200);
    fx_open(&fx);
    before = now_ms();
    begin(&t, "dat_evd_wait, threshold 1", rounds / 2, 1, false);
    start(&t);
    finish(&t);
    begin(&t, "dat_evd_wait, threshold 8", rounds / 10, 8, false);
    start(&t);
    finish(&t);
    begin(&t, "dat_cno_wait, three EVDs", rounds / 5, 1, true);
    start(&t);
    finish(&t);
    /* Eight threads, most of which sleep. */
    begin(&many[0], "four at once: dat_evd_wait", rounds / 20, 1, false);
    begin(&many[1], "four at once: dat_evd_wait, threshold 3", rounds / 20, 3, false);
    begin(&many[2], "four at once: dat_cno_wait", rounds / 20, 1, true);
    begin(&many[3], "four at once: dat_cno_wait, threshold 4", rounds / 20, 4, true);
    for (int i = 0; i < PAIRS; i++)
        start(&many[i]);
    for (int i = 0; i < PAIRS; i++)
        finish(&many[i]);
    diag("%llu ms", (unsigned long long)(now_ms() - before));
    fx_close(&fx);
    return done_testing();
}
