/* crowd.c - the times of dat_lmr_free and dat_rmr_bind do not depend on the number of connections. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 50 };

static int batches;

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us_per_free(struct fx *fx, void *mem)
{
    DAT_REGION_DESCRIPTION region;
    DAT_LMR_HANDLE lmrs[BATCH];
    DAT_LMR_CONTEXT context;
    double best = 1e9;
    int i, k;

    region.for_va = mem;
    for (k = 0; k < batches; k++) {
        double start, each;

        for (i = 0; i < BATCH; i++)
            must_rc(dat_lmr_create(fx->ia, DAT_MEM_TYPE_VIRTUAL, region, 4096, fx->pz,
                                   DAT_MEM_PRIV_ALL_FLAG, &lmrs[i], &context, NULL, NULL, NULL),
                    DAT_SUCCESS, "dat_lmr_create");
        start = now_us();
        for (i = 0; i < BATCH; i++)
            must_rc(dat_lmr_free(lmrs[i]), DAT_SUCCESS, "dat_lmr_free");
        each = (now_us() - start) / BATCH;
        if (each < best)
            best = each;
    }
    return best;
}

static double us_per_rebind(struct fx *fx, struct side *s)
{
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;
    struct region r;
    DAT_EVENT event;
    double best = 1e9;
    int i, k;

    region_make(fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    must_rc(dat_rmr_create(fx->pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
    for (k = 0; k < batches; k++) {
        double spent = 0;

        for (i = 0; i < BATCH; i++) {
            DAT_LMR_TRIPLET part = segment(&r, 0, 64);
            double start = now_us();

            must_rc(bind_to_lmr(rmr, r.lmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, s->ep, cookie(9),
                                DAT_COMPLETION_DEFAULT_FLAG, &context),
                    DAT_SUCCESS, "dat_rmr_bind");
            spent += now_us() - start;
            must(wait_number(s->req, DAT_RMR_BIND_COMPLETION_EVENT, &event), "no completion");
        }
        if (spent / BATCH < best)
            best = spent / BATCH;
    }
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    region_free(&r);
    return best;
}

static int crowd(struct link *up)
{
    struct fx fx;
    struct side *sides;
    int i, count;

    fx_open(&fx);
    while (LINK_RECV(up, count)) {
        sides = calloc((size_t)count, sizeof *sides);
        must(sides != NULL, "memory");
        for (i = 0; i < count; i++) {
            side_make(&sides[i], &fx, NULL);
            side_accept_peer(&sides[i], up);
        }
        free(sides);
    }
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "crowd", crowd }, { NULL, NULL } };
    int many, i, step;
    double one_free = 0, one_bind = 0, many_free, many_bind;
    struct side *sides;
    struct peer p;
    struct fx fx;
    void *mem;

    env_init(argc, argv, roles);
    batches = env_count(200, 5);
    many = env_count(1000, 40);
    if (!env_is_shm())
        skip_all("the device decides what a region costs");
    if (env_valgrind())
        skip_all("times mean nothing under valgrind");
    fx_open(&fx);
    mem = malloc(4096);
    sides = calloc((size_t)many, sizeof *sides);
    must(mem != NULL && sides != NULL, "memory");
    peer_start(&p, "crowd");
    for (i = 0, step = 1; i < many; step = many - 1) {
        int end = i + step;

        must(LINK_SEND(&p.link, step), "the other process is gone");
        for (; i < end; i++) {
            side_make(&sides[i], &fx, NULL);
            side_connect_peer(&sides[i], &p.link);
        }
        if (i == 1) {
            one_free = us_per_free(&fx, mem);
            one_bind = us_per_rebind(&fx, &sides[0]);
        }
    }
    many_free = us_per_free(&fx, mem);
    many_bind = us_per_rebind(&fx, &sides[0]);
    ok(many_free < 3 * one_free + 0.3,
       "dat_lmr_free: %d connections instead of one: as long (%.2f us, %.2f us)", many, many_free,
       one_free);
    ok(many_bind < 3 * one_bind + 0.3,
       "dat_rmr_bind: %d connections instead of one: as long (%.2f us, %.2f us)", many, many_bind,
       one_bind);
    close(p.link.out);
    p.link.out = -1;
    peer_ok(&p, "the other process ends well");
    fx_close(&fx);
    free(sides);
    free(mem);
    return done_testing();
}
