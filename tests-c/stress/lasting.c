/*
 * lasting.c - a process that makes and frees objects without end works as at its start: a message costs the same, and
 * memory, descriptors and threads do not grow.
 *
 *   DAT_TEST_SECONDS=N   duration, default 4
 *
 * Each turn makes and frees objects of every kind, a connection among them, and then measures rounds of a message on a
 * connection that exists from the start and on one that is new. The cost of a round is the lowest of many turns, so that
 * other load does not count; the last measurement continues until it is as low as the first one, or until a deadline.
 * Without other load the costs differ by a few percent; the test permits half.
 */
#include "common/fixture.h"
#include "common/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Objects of each kind in a turn, and rounds of a measurement. */
enum { OBJECTS = 40, ROUNDS = 200 };

/* Memory that allocators and the tables of the library may keep after the first turns, in KiB. */
#define SPARE_KIB 6144

struct cost {
    double old, new; /* of a round on the connection from the start, and on a new one, in nanoseconds */
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns the time of a round in nanoseconds, or ends the program. */
static double rounds(struct pair *p, struct region *r)
{
    double began = seconds();

    for (int i = 0; i < ROUNDS; i++) {
        DAT_EVENT event;

        must_rc(post_recv(&p->b, r, 64, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p->a, r, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_event(p->b.recv, &event) && wait_event(p->a.req, &event), "no completion");
    }
    return (seconds() - began) * 1e9 / ROUNDS;
}

static void lower(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

static void make_and_free(struct fx *fx)
{
    DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 2, .low_watermark = DAT_SRQ_LW_DEFAULT };
    DAT_PZ_HANDLE pz[OBJECTS];
    DAT_EVD_HANDLE evd[OBJECTS];
    DAT_SRQ_HANDLE srq[OBJECTS];
    struct region region[OBJECTS];

    for (int i = 0; i < OBJECTS; i++) {
        must_rc(dat_pz_create(fx->ia, &pz[i]), DAT_SUCCESS, "dat_pz_create");
        evd[i] = fx_evd(fx, 4, DAT_EVD_DTO_FLAG);
        must_rc(dat_srq_create(fx->ia, pz[i], &attr, &srq[i]), DAT_SUCCESS, "dat_srq_create");
        region_make_in(fx, pz[i], &region[i], 256, DAT_MEM_PRIV_ALL_FLAG);
    }
    for (int i = 0; i < OBJECTS; i++) {
        region_free(&region[i]);
        must_rc(dat_srq_free(srq[i]), DAT_SUCCESS, "dat_srq_free");
        must_rc(dat_evd_free(evd[i]), DAT_SUCCESS, "dat_evd_free");
        must_rc(dat_pz_free(pz[i]), DAT_SUCCESS, "dat_pz_free");
    }
}

static void turn(struct fx *fx, struct pair *old, struct region *r, struct cost *least)
{
    struct pair new;

    make_and_free(fx);
    pair_open(&new, fx, NULL);
    lower(&least->old, rounds(old, r));
    lower(&least->new, rounds(&new, r));
    pair_close(&new);
}

/* Takes turns for some seconds, and returns the lowest costs. */
static struct cost turns(struct fx *fx, struct pair *old, struct region *r, double duration)
{
    struct cost least = { 0, 0 };
    double end = seconds() + duration;

    do
        turn(fx, old, r, &least);
    while (seconds() < end);
    return least;
}

static bool as_low(struct cost cost, struct cost first)
{
    return cost.old < 1.5 * first.old && cost.new < 1.5 * first.new;
}

int main(int argc, char **argv)
{
    const char *given = getenv("DAT_TEST_SECONDS");
    struct fx fx;
    struct pair old;
    struct region r;
    struct cost first, last;
    uint64_t deadline;
    double duration;
    long memory;
    int descriptors, alive;

    env_init(argc, argv, NULL);
    duration = given != NULL && atof(given) > 0 ? atof(given) : env_count(4, 2);
    fx_open(&fx);
    pair_open(&old, &fx, NULL);
    region_make(&fx, &r, 256, DAT_MEM_PRIV_ALL_FLAG);
    first = turns(&fx, &old, &r, duration / 8);
    /* After this, caches of freed objects are full. */
    turns(&fx, &old, &r, duration / 4);
    memory = resident_kib();
    descriptors = entries("/proc/self/fd");
    alive = threads();
    turns(&fx, &old, &r, duration / 2);
    last = turns(&fx, &old, &r, duration / 8);
    for (deadline = now_ms() + env_ms(SOON_MS); !as_low(last, first) && now_ms() < deadline;)
        turn(&fx, &old, &r, &last);
    diag("a round took %.0f ns on the old connection and %.0f ns on a new one, at the end %.0f and %.0f ns",
         first.old, first.new, last.old, last.new);
    diag("memory grew by %ld KiB", resident_kib() - memory);
    ok(last.old < 1.5 * first.old, "a round on a connection from the start costs as much as at the start");
    ok(last.new < 1.5 * first.new, "a round on a new connection costs as much as at the start");
    if (env_valgrind())
        skip_named("memory does not grow", "valgrind has memory of its own");
    else
        ok(resident_kib() - memory < SPARE_KIB, "memory does not grow");
    ok(wait_until(descriptors_at_most, &descriptors, SOON_MS), "no descriptor is left");
    ok(wait_until(threads_at_most, &alive, SOON_MS), "no thread is left");
    pair_close(&old);
    fx_close(&fx);
    return done_testing();
}
