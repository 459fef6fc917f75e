/* threads.c - threads that use separate and shared objects of one adapter concurrently. */
#include "common/fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4

struct worker {
    struct fx *fx;
    struct pair p;
    int rounds, done, id;
    unsigned random;
};

static unsigned next_random(struct worker *w)
{
    w->random = w->random * 1103515245u + 12345u;
    return w->random >> 8;
}

static void *move_data(void *arg)
{
    struct worker *w = arg;
    struct region r, t;

    region_make(w->fx, &r, 65536, DAT_MEM_PRIV_ALL_FLAG);
    region_make(w->fx, &t, 65536, DAT_MEM_PRIV_ALL_FLAG);
    for (w->done = 0; w->done < w->rounds; w->done++) {
        size_t n = next_random(w) % 65536 + 1;
        unsigned seed = next_random(w), way = next_random(w) % 3;
        DAT_EVENT e;

        pattern_fill(way == 2 ? t.mem : r.mem, n, seed);
        memset(way == 2 ? r.mem : t.mem, 0, n);
        if (way == 0) {
            if (post_recv(&w->p.b, &t, 0, n, 1) != DAT_SUCCESS ||
                post_send(&w->p.a, &r, 0, n, 2) != DAT_SUCCESS || !poll_event(w->p.b.recv, &e))
                break;
        } else if ((way == 1 ? post_write(&w->p.a, &r, 0, n, target(&t, 0, n), 2)
                             : post_read(&w->p.a, &r, 0, n, target(&t, 0, n), 2)) != DAT_SUCCESS) {
            break;
        }
        if (!wait_dto(w->p.a.req, 2, DAT_DTO_SUCCESS, NULL) ||
            (way == 1 ? !written(t.mem, n, seed) : pattern_check(way == 2 ? r.mem : t.mem, n, seed) >= 0))
            break;
    }
    region_free(&r);
    region_free(&t);
    return NULL;
}

static void data(struct fx *fx)
{
    struct worker w[THREADS];
    pthread_t thread[THREADS];
    int rounds = env_count(2000, 50), good = 0;

    for (int i = 0; i < THREADS; i++) {
        memset(&w[i], 0, sizeof w[i]);
        w[i].fx = fx;
        w[i].rounds = rounds;
        w[i].random = (unsigned)i + 77;
        pair_open(&w[i].p, fx, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&thread[i], NULL, move_data, &w[i]) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        good += w[i].done;
        pair_close(&w[i].p);
    }
    is_int(good, rounds * THREADS, "%d threads, each with its connection: %d transfers", THREADS,
           rounds * THREADS);
}

/* Creates, connects, uses and frees objects of its own. */
static void *live(void *arg)
{
    struct worker *w = arg;
    struct fx fx = *w->fx; /* shares the adapter, but not the EVD of connection requests */

    fx.cr = fx_evd(w->fx, 8, DAT_EVD_CR_FLAG);
    for (w->done = 0; w->done < w->rounds; w->done++) {
        struct pair p;
        DAT_PZ_HANDLE pz;
        DAT_SRQ_HANDLE srq;
        DAT_SRQ_ATTR attr = { 4, 1, 0 };

        pair_open(&p, &fx, NULL);
        if (!sides_talk(&p.a, &p.b) || dat_pz_create(fx.ia, &pz) != DAT_SUCCESS ||
            dat_srq_create(fx.ia, pz, &attr, &srq) != DAT_SUCCESS ||
            dat_srq_free(srq) != DAT_SUCCESS || dat_pz_free(pz) != DAT_SUCCESS)
            break;
        if (w->done % 2) {
            dat_ep_disconnect(p.a.ep, w->done % 4 == 1 ? DAT_CLOSE_ABRUPT_FLAG
                                                       : DAT_CLOSE_GRACEFUL_FLAG);
            if (!wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED))
                break;
        }
        pair_close(&p);
    }
    must_rc(dat_evd_free(fx.cr), DAT_SUCCESS, "dat_evd_free");
    return NULL;
}

static void objects(struct fx *fx)
{
    struct worker w[THREADS];
    pthread_t thread[THREADS];
    int rounds = env_count(200, 10), good = 0;

    for (int i = 0; i < THREADS; i++) {
        memset(&w[i], 0, sizeof w[i]);
        w[i].fx = fx;
        w[i].rounds = rounds;
        must(pthread_create(&thread[i], NULL, live, &w[i]) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        good += w[i].done;
    }
    is_int(good, rounds * THREADS, "%d threads make, connect, use and free their own objects: %d rounds",
           THREADS, rounds * THREADS);
}

static void *open_close(void *arg)
{
    struct worker *w = arg;

    for (w->done = 0; w->done < w->rounds; w->done++) {
        struct fx fx;
        struct pair p;

        fx_open(&fx);
        pair_open(&p, &fx, NULL);
        if (!sides_talk(&p.a, &p.b))
            break;
        if (w->done % 2)
            pair_close(&p);
        fx_close(&fx);
    }
    return NULL;
}

static void adapters(void)
{
    struct worker w[THREADS];
    pthread_t thread[THREADS];
    int rounds = env_count(50, 5), good = 0;

    for (int i = 0; i < THREADS; i++) {
        memset(&w[i], 0, sizeof w[i]);
        w[i].rounds = rounds;
        must(pthread_create(&thread[i], NULL, open_close, &w[i]) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        good += w[i].done;
    }
    is_int(good, rounds * THREADS, "%d threads open and close the adapter: %d rounds", THREADS,
           rounds * THREADS);
}

/* Several endpoints queue completions on one EVD, and several threads dequeue them. */
struct shared {
    DAT_EVD_HANDLE evd;
    volatile int left;
    volatile int wrong;
    unsigned char *seen;
};

static void *take(void *arg)
{
    struct shared *s = arg;

    while (__atomic_load_n(&s->left, __ATOMIC_SEQ_CST) > 0) {
        DAT_EVENT e;

        if (dat_evd_dequeue(s->evd, &e) != DAT_SUCCESS) {
            breathe();
            continue;
        }
        if (e.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS ||
            __atomic_fetch_add(&s->seen[e.event_data.dto_completion_event_data.user_cookie.as_64], 1,
                               __ATOMIC_SEQ_CST) != 0)
            __atomic_fetch_add(&s->wrong, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_sub(&s->left, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

struct poster {
    struct side a, b;
    struct region r;
    int first, n;
};

static void *post_all(void *arg)
{
    struct poster *q = arg;

    for (int i = 0; i < q->n; i++) {
        if (post_recv(&q->b, &q->r, 64, 64, (DAT_UINT64)(q->first + i)) != DAT_SUCCESS ||
            post_send(&q->a, &q->r, 0, 64, 1) != DAT_SUCCESS ||
            !wait_dto(q->a.req, 1, DAT_DTO_SUCCESS, NULL))
            break;
    }
    return NULL;
}

static void one_evd(struct fx *fx)
{
    enum { POSTERS = 3, TAKERS = 2 };
    static unsigned char seen[POSTERS * 3000];
    static struct poster q[POSTERS];
    int each = env_count(3000, 100);
    struct shared s;
    pthread_t poster[POSTERS], taker[TAKERS];
    DAT_EP_ATTR attr;

    attr_default(&attr);
    memset(&s, 0, sizeof s);
    s.evd = fx_evd(fx, POSTERS * each, DAT_EVD_DTO_FLAG);
    s.left = POSTERS * each;
    s.seen = seen;
    attr.max_recv_dtos = each;
    for (int i = 0; i < POSTERS; i++) {
        side_make(&q[i].a, fx, NULL);
        side_make(&q[i].b, fx, NULL);
        must_rc(dat_ep_free(q[i].b.ep), DAT_SUCCESS, "dat_ep_free");
        must_rc(dat_ep_create(fx->ia, fx->pz, s.evd, q[i].b.req, q[i].b.conn, &attr, &q[i].b.ep),
                DAT_SUCCESS, "dat_ep_create");
        sides_connect(&q[i].a, &q[i].b);
        region_make(fx, &q[i].r, 128, MEM_LOCAL);
        q[i].first = i * each;
        q[i].n = each;
    }
    for (int i = 0; i < TAKERS; i++)
        must(pthread_create(&taker[i], NULL, take, &s) == 0, "no thread");
    for (int i = 0; i < POSTERS; i++)
        must(pthread_create(&poster[i], NULL, post_all, &q[i]) == 0, "no thread");
    for (int i = 0; i < POSTERS; i++)
        pthread_join(poster[i], NULL);
    {
        uint64_t end = now_ms() + env_ms(SOON_MS);

        while (__atomic_load_n(&s.left, __ATOMIC_SEQ_CST) > 0 && now_ms() < end)
            breathe();
        is_int(s.left, 0, "three endpoints on one EVD, two threads take: every event comes");
        __atomic_store_n(&s.left, 0, __ATOMIC_SEQ_CST);
    }
    for (int i = 0; i < TAKERS; i++)
        pthread_join(taker[i], NULL);
    is_int(s.wrong, 0, "three endpoints on one EVD, two threads take: each event once");
    ok(quiet(fx->async), "three endpoints on one EVD: no overflow");
    for (int i = 0; i < POSTERS; i++) {
        side_free(&q[i].a);
        side_free(&q[i].b);
        region_free(&q[i].r);
    }
    must_rc(dat_evd_free(s.evd), DAT_SUCCESS, "dat_evd_free");
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    data(&fx);
    objects(&fx);
    one_evd(&fx);
    adapters();
    is_success(dat_pz_free(fx.pz), "dat_pz_free: after all threads: nothing is left in the zone");
    fx_close(&fx);
    return done_testing();
}
