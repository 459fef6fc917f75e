/*
 * handles.c - threads that create and free separate objects do not affect each other.
 *
 * The number of objects is much larger than the number of freed handles that the library keeps before it reuses a
 * handle. So a thread that is preempted during a free can find its handle reused by another thread.
 */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define THREADS 3

enum kind { SRQ, PZ, EVD, TIED, EP, CNO, RMR, KINDS };

static const char *const names[] = { "shared receive queues", "protection zones", "event dispatchers",
                                     "event dispatchers with one notification object", "endpoints",
                                     "notification objects", "remote memory regions" };

struct work {
    struct fx *fx;
    enum kind kind;
    int rounds;
    DAT_EVD_HANDLE transfers, connections;
    DAT_CNO_HANDLE cno;
};

static bool round_of(const struct work *w)
{
    DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 2, .low_watermark = DAT_SRQ_LW_DEFAULT };
    DAT_IA_HANDLE ia = w->fx->ia;
    DAT_HANDLE h = NULL;

    switch (w->kind) {
    case SRQ: return dat_srq_create(ia, w->fx->pz, &attr, &h) == DAT_SUCCESS && dat_srq_free(h) == DAT_SUCCESS;
    case PZ: return dat_pz_create(ia, &h) == DAT_SUCCESS && dat_pz_free(h) == DAT_SUCCESS;
    case EVD:
        return dat_evd_create(ia, 4, NULL, DAT_EVD_DTO_FLAG, &h) == DAT_SUCCESS && dat_evd_free(h) == DAT_SUCCESS;
    case TIED:
        return dat_evd_create(ia, 4, w->cno, DAT_EVD_DTO_FLAG, &h) == DAT_SUCCESS && dat_evd_free(h) == DAT_SUCCESS;
    case EP:
        return dat_ep_create(ia, w->fx->pz, w->transfers, w->transfers, w->connections, NULL, &h) == DAT_SUCCESS &&
               dat_ep_free(h) == DAT_SUCCESS;
    case CNO:
        return dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &h) == DAT_SUCCESS && dat_cno_free(h) == DAT_SUCCESS;
    default: return dat_rmr_create(w->fx->pz, &h) == DAT_SUCCESS && dat_rmr_free(h) == DAT_SUCCESS;
    }
}

static void *make_and_free(void *arg)
{
    const struct work *w = arg;
    uintptr_t bad = 0;

    for (int i = 0; i < w->rounds; i++)
        bad += !round_of(w);
    return (void *)bad;
}

/* Binds all threads to one CPU, so that they are preempted during calls. */
static void use_one_cpu(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct work w = { .fx = &fx };

    env_init(argc, argv, NULL);
    fx_open(&fx);
    use_one_cpu();
    w.rounds = env_count(env_is_shm() ? 50000 : 300, 300);
    must_rc(dat_evd_create(fx.ia, 4, NULL, DAT_EVD_DTO_FLAG, &w.transfers), DAT_SUCCESS, "dat_evd_create");
    must_rc(dat_evd_create(fx.ia, 4, NULL, DAT_EVD_CONNECTION_FLAG, &w.connections), DAT_SUCCESS, "dat_evd_create");
    must_rc(dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &w.cno), DAT_SUCCESS, "dat_cno_create");
    for (w.kind = 0; w.kind < KINDS; w.kind++) {
        pthread_t threads[THREADS];
        uintptr_t bad = 0;

        if (w.kind == RMR && fx.max_rmrs == 0) {
            skip_named(names[RMR], "the adapter has none");
            continue;
        }
        for (int i = 0; i < THREADS; i++)
            must(pthread_create(&threads[i], NULL, make_and_free, &w) == 0, "no thread");
        for (int i = 0; i < THREADS; i++) {
            void *result;

            must(pthread_join(threads[i], &result) == 0, "a thread does not end");
            bad += (uintptr_t)result;
        }
        is_int((long)bad, 0, "%d threads make and free %s of their own: each call succeeds", THREADS, names[w.kind]);
    }
    must_rc(dat_evd_free(w.transfers), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(w.connections), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(w.cno), DAT_SUCCESS, "dat_cno_free");
    fx_close(&fx);
    return done_testing();
}
