/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * delay.c - how late a write comes whose target has just stopped calling, and looks at its memory alone.
 *
 * In each round the target polls a dispatcher while writes arrive, so that these are left to it. Then it makes no call, says
 * so, and spins on its memory. The next write carries the time of its post. After it the initiator reaps its completion,
 * or, in "delay_silent", makes no call either.
 */
#include "hot.h"

#include <time.h>

/* Writes before the target stops. */
enum { BEFORE = 400 };

/* As both processes see it. */
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
