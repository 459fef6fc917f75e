/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * delay.c - latency of a write to a target that has just stopped calling, and polls its memory.
 *
 * In each round the target first polls an EVD while writes arrive, so the initiator leaves their execution to the
 * target. Then the target stops calling, reports this, and polls its memory. The next write contains the time of its
 * post. After it, the initiator reaps its completion or, in "delay_silent", makes no call either.
 *
 * "watched" measures eight writes: from before the first post until the target, which makes no call, sees the last
 * word. Until then the initiator sleeps, as in the mark "tcp_watched", because it could take the CPU from the target.
 */
#include "hot.h"

#include <time.h>

/* Writes before the target stops calling. */
enum { BEFORE = 400 };

/* Returns the time of a clock that both processes share, in ns. */
static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t seen(const struct node *n)
{
    return __atomic_load_n((const uint64_t *)(const void *)n->in.base, __ATOMIC_ACQUIRE);
}

static void write_word(struct node *n, uint64_t word)
{
    __atomic_store_n((uint64_t *)(void *)n->out.base, word, __ATOMIC_RELAXED);
    post_write(n, sizeof word);
}

static void initiator(struct node *n, long rounds, int silent)
{
    uint64_t took, worst = 0;
    char word;

    for (long i = 0; i < rounds; i++) {
        for (uint64_t k = 1; k <= BEFORE; k++) {
            write_word(n, k);
            reap(n);
        }
        hear(&word, 1);
        write_word(n, clock_ns());
        if (!silent)
            reap_all(n);
        hear(&took, sizeof took);
        reap_all(n);
        if (i > 0 && took > worst)
            worst = took;
    }
    result("worst", (double)worst, "ns");
    result("limit", silent ? 1e6 : 20e3, "ns");
}

static void target_of(struct node *n, long rounds)
{
    DAT_EVENT event;
    uint64_t posted, took;

    for (long i = 0; i < rounds; i++) {
        while (seen(n) != BEFORE)
            (void)try_fetch(n->recv, &event);
        tell("s", 1);
        while ((posted = seen(n)) == BEFORE)
            continue;
        took = clock_ns() - posted;
        tell(&took, sizeof took);
    }
}

/* ---- Eight writes to a target that makes no call ---- */

enum { PARTS = 8 };

/* Returns the last word of a buffer, which contains the time before the first post. */
static uint64_t *last_word(const struct memory *m)
{
    return (uint64_t *)(void *)(m->base + m->bytes - 8);
}

static void write_parts(struct node *n)
{
    size_t part = n->plan->size / PARTS;
    DAT_LMR_TRIPLET from = segment(&n->out, part);
    DAT_RMR_TRIPLET to = target(n, part);

    for (int i = 0; i < PARTS; i++) {
        n->requests++;
        must("dat_ep_post_rdma_write",
             dat_ep_post_rdma_write(n->ep, 1, &from, no_cookie(), &to, DAT_COMPLETION_DEFAULT_FLAG));
        from.virtual_address += part;
        to.target_address += part;
    }
}

void run_watched(struct plan *plan, void *node)
{
    static struct clock clock;
    struct node *n = node;
    uint64_t posted, took, before = 0;
    double median, seconds;

    meet();
    clock_start(&clock);
    for (long i = 0; i < plan->warmup + plan->iterations; i++) {
        if (i == plan->warmup)
            clock_start(&clock);
        if (n->second) {
            while ((posted = __atomic_load_n(last_word(&n->in), __ATOMIC_ACQUIRE)) == before)
                continue;
            before = posted;
            took = clock_ns() - posted;
            tell(&took, sizeof took);
        } else {
            *last_word(&n->out) = clock_ns();
            write_parts(n);
            hear(&took, sizeof took);
            reap_all(n);
            clock_began(&clock, (double)took * 1e-9);
            clock_step(&clock);
        }
    }
    seconds = clock_end(&clock, &median);
    if (n->second)
        return;
    result("median", median * 1e9, "ns");
    result("overall", seconds / (double)plan->iterations * 1e9, "ns");
}

void run_delay(struct plan *plan, void *node)
{
    struct node *n = node;

    meet();
    if (n->second)
        target_of(n, plan->iterations);
    else
        initiator(n, plan->iterations, plan->what == SILENT);
    meet();
}
